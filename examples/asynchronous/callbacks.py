# SPDX-License-Identifier: Apache-2.0
"""Queues runs of a model and goes on; callbacks in a thread of their own take the results.

    python callbacks.py model.om [requests]
"""
import sys
import threading

import numpy as np

import acl

HOST_TO_DEVICE, DEVICE_TO_HOST, BLOCKING = 1, 2, 1
TIMED_OUT = 507012  # no callback within the time: look again


def check(ret, what):
    if ret != 0:
        raise SystemExit(f"{what} failed with {ret}: {acl.get_recent_err_msg()}")


def checked(result, what):
    check(result[-1], what)
    return result[0]


class Request:
    """Memory for one run: a dataset with one buffer for the input, one for the output."""

    def __init__(self, desc):
        self.memory, self.datasets = [], []
        for size in (acl.mdl.get_input_size_by_index(desc, 0),
                     acl.mdl.get_output_size_by_index(desc, 0)):
            self.memory.append(checked(acl.rt.malloc(size, 0), "malloc"))
            dataset = acl.mdl.create_dataset()
            checked(acl.mdl.add_dataset_buffer(
                dataset, acl.create_data_buffer(self.memory[-1], size)), "add_dataset_buffer")
            self.datasets.append(dataset)
            self.size = size

    def free(self):
        for dataset, address in zip(self.datasets, self.memory):
            check(acl.destroy_data_buffer(acl.mdl.get_dataset_buffer(dataset, 0)), "destroy buffer")
            check(acl.mdl.destroy_dataset(dataset), "destroy_dataset")
            check(acl.rt.free(address), "free")


class Reports:
    """The thread in which callbacks run."""

    def __init__(self, context):
        self.running, self.ready = True, threading.Event()
        self.thread = threading.Thread(target=self.run, args=(context,))
        self.thread.start()
        self.ready.wait()

    def run(self, context):
        check(acl.rt.set_context(context), "set_context")
        self.id = threading.get_ident()
        self.ready.set()
        while self.running:
            ret = acl.rt.process_report(50)
            if ret not in (0, TIMED_OUT) and self.running:
                check(ret, "process_report")

    def stop(self):
        self.running = False
        self.thread.join()


def main():
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 8
    check(acl.init(), "init")
    check(acl.rt.set_device(0), "set_device")
    context = checked(acl.rt.get_context(), "get_context")
    stream = checked(acl.rt.create_stream(), "create_stream")
    model = checked(acl.mdl.load_from_file(sys.argv[1]), "load_from_file")
    desc = acl.mdl.create_desc()
    check(acl.mdl.get_desc(desc, model), "get_desc")
    reports = Reports(context)
    check(acl.rt.subscribe_report(reports.id, stream), "subscribe_report")

    results, requests = {}, [Request(desc) for _ in range(count)]

    def done(index):
        """Runs when everything queued before it is finished."""
        out = np.zeros(requests[index].size // 4, np.float32)
        check(acl.rt.memcpy(acl.util.numpy_to_ptr(out), out.nbytes, requests[index].memory[1],
                            out.nbytes, DEVICE_TO_HOST), "memcpy")
        results[index] = int(out.argmax())

    random = np.random.default_rng(0)
    size = acl.mdl.get_input_size_by_index(desc, 0)
    for index, request in enumerate(requests):
        feed = random.random(size // 4, dtype=np.float32)
        check(acl.rt.memcpy(request.memory[0], size, acl.util.numpy_to_ptr(feed), size,
                            HOST_TO_DEVICE), "memcpy")
        check(acl.mdl.execute_async(model, *request.datasets, stream), "execute_async")
        check(acl.rt.launch_callback(done, index, BLOCKING, stream), "launch_callback")
    print(f"{count} requests queued, {len(results)} answered so far")
    check(acl.rt.synchronize_stream(stream), "synchronize_stream")
    print(f"all answered in order: {list(results) == list(range(count))}")

    check(acl.rt.unsubscribe_report(reports.id, stream), "unsubscribe_report")
    reports.stop()
    for request in requests:
        request.free()
    check(acl.mdl.destroy_desc(desc), "destroy_desc")
    check(acl.mdl.unload(model), "unload")
    check(acl.rt.destroy_stream(stream), "destroy_stream")
    check(acl.rt.reset_device(0), "reset_device")
    check(acl.finalize(), "finalize")


if __name__ == "__main__":
    main()
