# SPDX-License-Identifier: Apache-2.0
"""MultiDeviceSession: several devices at once, a worker process for each entry."""
import os
import time

import numpy as np

import aclruntime
from ais_bench.infer import checks
from ais_bench.infer.infer_session import InferSession
from ais_bench.infer.logger import logger
from ais_bench.infer.worker_process import Worker, WorkerDied, WorkerError

MOST_DEVICES, MOST_ENTRIES, MOST_WORKERS = 32, 32, 64


class DeviceTimes(dict):
    """{device: [milliseconds of each entry]}, also when it is called."""

    def __call__(self):
        return self


def plain(feeds):
    """Feeds in a form that can be sent: tensors become arrays."""
    if isinstance(feeds, (list, tuple)):
        return [plain(feed) for feed in feeds]
    if isinstance(feeds, aclruntime.Tensor):
        return np.array(feeds)
    if callable(getattr(feeds, "type", None)):  # torch
        from ais_bench.infer.feeds import convert
        array, shape = convert(feeds)
        return array.reshape(shape)
    return np.ascontiguousarray(feeds) if isinstance(feeds, np.ndarray) else feeds


def described(value):
    """A value of a wrong type in a few words: arrays and lists are not printed."""
    kind = type(value).__name__
    if hasattr(value, "shape"):
        return f"{kind} of shape {tuple(value.shape)}"
    if isinstance(value, (list, tuple, dict, set)):
        return f"{kind} of {len(value)} entries" if value else f"an empty {kind}"
    return f"{kind} ({value!r:.60})"


def check_feeds(device_feeds, check_device):
    if not isinstance(device_feeds, dict) or not device_feeds:
        raise checks.BadValue("device_feeds is a dict {device: [feeds, ...]}, not "
                              f"{described(device_feeds)}")
    for device, entries in device_feeds.items():
        check_device(device)
        if not isinstance(entries, (list, tuple)) or not entries:
            raise checks.BadValue(f"device {device} has {described(entries)}; a list of feeds is "
                                  "needed")


def check_processes(device_feeds):
    counts = [len(entries) for entries in device_feeds.values()]
    if len(counts) > MOST_DEVICES or max(counts) > MOST_ENTRIES or sum(counts) > MOST_WORKERS:
        raise checks.BadValue(
            f"{len(counts)} devices with {counts} feeds; every feeds has a process of its own: at "
            f"most {MOST_DEVICES} devices, {MOST_ENTRIES} on one, {MOST_WORKERS} in all")


def timed(session, method, arguments):
    """One entry on its session: (result, milliseconds)."""
    begin = time.perf_counter()
    result = getattr(session, method)(*arguments)
    return result, (time.perf_counter() - begin) * 1e3


class MultiDeviceSession:
    """Nothing is loaded until a call names the devices; their workers then stay ready.

    cluster="ray", or RAY_ADDRESS in the environment: devices of a Ray cluster, named
    "node:device"."""

    def __new__(cls, model_path, acl_json_path=None, debug=False, loop=1, cluster=None):
        if cluster not in (None, "ray"):
            raise checks.BadValue(f"cluster is {cluster!r}; None and 'ray' are known")
        if cls is MultiDeviceSession and (cluster or os.environ.get("RAY_ADDRESS")):
            from ais_bench.infer.ray_cluster import RaySession
            cls = RaySession
        return super().__new__(cls)

    def __init__(self, model_path, acl_json_path=None, debug=False, loop=1, cluster=None):
        self.model_path = checks.model_path(model_path)
        self.acl_json_path = checks.acl_json_path(acl_json_path)
        self.debug = debug
        self.loop = checks.loop(loop)
        self.summary = DeviceTimes()
        self._cluster = cluster
        self._workers = {}

    def __reduce__(self):  # in another process: the same model, workers of its own
        return MultiDeviceSession, (self.model_path, self.acl_json_path, self.debug, self.loop,
                                    self._cluster)

    def infer(self, device_feeds, mode="static", custom_sizes=100000):
        """{device: [feeds, ...]} -> {device: [outputs, ...]}, in the order asked for."""
        return self._run("infer", device_feeds, (mode, custom_sizes))

    def infer_pipeline(self, device_feeds_list, mode="static", custom_sizes=100000):
        """{device: [[feeds, ...], ...]} -> {device: [[outputs, ...], ...]}"""
        return self._run("infer_pipeline", device_feeds_list, (mode, custom_sizes))

    def infer_iteration(self, device_feeds, in_out_list=None, iteration_times=1, mode="static",
                        custom_sizes=100000, mem_copy=True):
        return self._run("infer_iteration", device_feeds,
                         (in_out_list, iteration_times, mode, custom_sizes, mem_copy))

    def reset_summaryinfo(self):
        self.summary.clear()

    def close(self):
        """Ends the worker processes; the next call starts new ones."""
        for worker in self._workers.values():
            worker.close()
        self._workers.clear()

    def __del__(self):
        if getattr(self, "_workers", None):
            self.close()

    @classmethod
    def print_subprocess_run_error(cls, value):
        logger.error("subprocess run failed: %s", value)

    # One entry in the calling process, for scripts that start processes themselves: puts
    # [device, outputs, milliseconds] into the queue.

    def subprocess_infer(self, outputs_queue, device_id, feeds, mode="static",
                         custom_sizes=100000):
        self._run_here(outputs_queue, device_id, "infer", (feeds, mode, custom_sizes))

    def subprocess_infer_pipeline(self, outputs_queue, device_id, feeds_list, mode="static",
                                  custom_sizes=100000):
        self._run_here(outputs_queue, device_id, "infer_pipeline",
                       (feeds_list, mode, custom_sizes))

    def subprocess_infer_iteration(self, outputs_queue, device_id, feeds, in_out_list=None,
                                   iteration_times=1, mode="static", custom_sizes=100000,
                                   mem_copy=True):
        self._run_here(outputs_queue, device_id, "infer_iteration",
                       (feeds, in_out_list, iteration_times, mode, custom_sizes, mem_copy))

    def _run_here(self, outputs_queue, device_id, method, arguments):
        session = InferSession(**self._options(device_id))
        try:
            outputs_queue.put([device_id, *timed(session, method, arguments)])
        finally:
            session.free_resource()

    # --------------------------------------------------------------------------------------------

    def _options(self, device):
        return {"device_id": device, "model_path": os.path.abspath(self.model_path),
                "acl_json_path": self.acl_json_path and os.path.abspath(self.acl_json_path),
                "debug": self.debug, "loop": self.loop}

    def _worker(self, device, position):
        worker = self._workers.get((device, position))
        if worker is None or not worker.alive():
            worker = Worker(f"device {device}, feeds {position}")
            self._workers[device, position] = worker
        return worker

    def _run(self, method, device_feeds, arguments):
        check_feeds(device_feeds, checks.device_id)
        check_processes(device_feeds)
        self.summary.clear()
        jobs = [(device, position, feeds) for device, entries in device_feeds.items()
                for position, feeds in enumerate(entries)]
        try:
            workers = [self._worker(device, position) for device, position, _ in jobs]
            failure = self._send(method, workers, jobs, arguments)
            results = {device: [] for device in device_feeds}
            for worker, (device, position, _) in zip(workers, jobs):
                try:
                    result, taken = worker.answer()
                    results[device].append(result)
                    self.summary.setdefault(device, []).append(taken)
                except WorkerError as error:
                    failure = failure or error
                    if isinstance(error, WorkerDied):
                        self._workers.pop((device, position)).close()
        except BaseException:  # Ctrl-C, feeds that cannot be sent: answers are still on their way
            self.close()
            raise
        if failure is not None:  # after every answer is read, so that the next call starts clean
            raise failure
        return results

    def _send(self, method, workers, jobs, arguments):
        """Sends every worker its feeds. A dead worker is reported when its answer is read."""
        failure = None
        for worker, (device, _, feeds) in zip(workers, jobs):
            try:
                worker.send("session", (method, self._options(device), (plain(feeds), *arguments)))
            except WorkerDied as error:
                failure = failure or error
        return failure
