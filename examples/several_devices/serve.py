# SPDX-License-Identifier: Apache-2.0
"""Two models on two devices answer requests from one queue: a thread for each device, which has its
own context, models and memory.

    python serve.py first.om second.om [requests]
"""
import queue
import sys
import threading

import numpy as np

import acl

HOST_TO_DEVICE, DEVICE_TO_HOST = 1, 2


def check(ret, what):
    if ret != 0:
        raise RuntimeError(f"{what} failed with {ret}: {acl.get_recent_err_msg()}")


def checked(result, what):
    check(result[-1], what)
    return result[0]


class Model:
    """A model of the calling thread's device, with one input and one output."""

    def __init__(self, path):
        self.id = checked(acl.mdl.load_from_file(path), "load_from_file")
        self.desc = acl.mdl.create_desc()
        check(acl.mdl.get_desc(self.desc, self.id), "get_desc")
        self.sizes = (acl.mdl.get_input_size_by_index(self.desc, 0),
                      acl.mdl.get_output_size_by_index(self.desc, 0))
        self.memory = [checked(acl.rt.malloc(size, 0), "malloc") for size in self.sizes]
        self.datasets = []
        for address, size in zip(self.memory, self.sizes):
            self.datasets.append(acl.mdl.create_dataset())
            checked(acl.mdl.add_dataset_buffer(self.datasets[-1],
                                               acl.create_data_buffer(address, size)),
                    "add_dataset_buffer")

    def run(self, feed):
        out = np.zeros(self.sizes[1] // 4, np.float32)
        check(acl.rt.memcpy(self.memory[0], self.sizes[0], acl.util.numpy_to_ptr(feed), feed.nbytes,
                            HOST_TO_DEVICE), "memcpy")
        check(acl.mdl.execute(self.id, *self.datasets), "execute")
        check(acl.rt.memcpy(acl.util.numpy_to_ptr(out), out.nbytes, self.memory[1], self.sizes[1],
                            DEVICE_TO_HOST), "memcpy")
        return out

    def release(self):
        for dataset, address in zip(self.datasets, self.memory):
            check(acl.destroy_data_buffer(acl.mdl.get_dataset_buffer(dataset, 0)), "destroy buffer")
            check(acl.mdl.destroy_dataset(dataset), "destroy_dataset")
            check(acl.rt.free(address), "free")
        check(acl.mdl.destroy_desc(self.desc), "destroy_desc")
        check(acl.mdl.unload(self.id), "unload")


def work(device, paths, requests, answers):
    check(acl.rt.set_device(device), "set_device")  # the thread's own device from here on
    models = [Model(path) for path in paths]
    while True:
        request = requests.get()
        if request is None:
            break
        number, which, feed = request
        answers.put((number, device, models[which].run(feed)))
    for model in models:
        model.release()
    check(acl.rt.reset_device(device), "reset_device")


def main():
    paths, count = sys.argv[1:3], int(sys.argv[3]) if len(sys.argv) > 3 else 12
    check(acl.init(), "init")
    devices = range(min(2, checked(acl.rt.get_device_count(), "get_device_count")))
    requests, answers = queue.Queue(), queue.Queue()
    threads = [threading.Thread(target=work, args=(d, paths, requests, answers)) for d in devices]
    for thread in threads:
        thread.start()
    feed = np.random.default_rng(0).random(3 * 224 * 224, dtype=np.float32)
    for number in range(count):
        requests.put((number, number % 2, feed))
    for _ in threads:
        requests.put(None)
    found = {number: (device, out) for number, device, out in (answers.get() for _ in range(count))}
    for thread in threads:
        thread.join()
    same = all(np.array_equal(found[n][1], found[n % 2][1]) for n in found)
    print(f"{count} answers from devices {sorted({d for d, _ in found.values()})}, "
          f"the same bytes on each: {same}")
    check(acl.finalize(), "finalize")


if __name__ == "__main__":
    main()
