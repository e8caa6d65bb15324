# SPDX-License-Identifier: Apache-2.0
"""--device 0,1: a process for each entry, started together; their summaries and the sum."""
import copy
import os
import time

from aclruntime.output_files import make_folder
from ais_bench.infer import outputs
from ais_bench.infer.logger import logger
from ais_bench.infer.worker_process import Worker

BARRIER_SECONDS = 10


def run_device(args, folder, position, count, barrier):
    """In the worker: the whole run of one device; (throughput, start, end)."""
    from ais_bench.infer.benchmark import benchmark
    from ais_bench.infer.infer_session import InferSession
    made = benchmark(args, folder, position=position, count=count)
    begin = [0.0]

    def start():
        barrier()
        begin[0] = time.time()

    throughput = made.run(start)
    end = time.time()
    made.close()
    InferSession.finalize()
    return throughput, begin[0], end


def _start(args, folder, position):
    one = copy.copy(args)
    one.device = args.device[position]
    place = None
    if folder is not None:
        place = make_folder(os.path.join(folder, f"device{one.device}_{position}"))
    worker = Worker(f"device {one.device} ({position})")
    worker.send("run_device", (one, place, position, len(args.device)))
    return worker


def _wait_ready(workers):
    """Waits until every model is warm, a process has failed, or the time is up."""
    deadline = time.monotonic() + BARRIER_SECONDS
    for worker in workers:
        worker.poll(max(0.0, deadline - time.monotonic()))


def run_devices(args):
    logger.info("multidevice:%s run begin", args.device)
    folder = outputs.output_folder(args)
    workers = []
    results = {}
    try:
        for position in range(len(args.device)):
            workers.append(_start(args, folder, position))
        _wait_ready(workers)
        for worker in workers:
            worker.go()
        for position, worker in enumerate(workers):
            try:
                results[position] = worker.answer()
            except RuntimeError as error:
                logger.error("%s", error)
    finally:
        for worker in workers:
            worker.close()
    failed = int(len(results) != len(args.device))
    logger.info("multidevice run end qsize:%d result:%d", len(results), failed)
    for position, (throughput, begin, end) in sorted(results.items()):
        logger.info("i:%d device_%d throughput:%s     start_time:%s end_time:%s", position,
                    args.device[position], throughput, begin, end)
    logger.info("summary throughput:%s", sum(row[0] for row in results.values()))
    return failed
