# SPDX-License-Identifier: Apache-2.0
"""Times a model through pyACL: python time_model.py MODEL.om [RUNS]

Inputs are seeded random numbers. Every run is one synchronous acl.mdl.execute on device 0; the
printed time is the median.
"""
import sys
import time

import numpy as np

import acl

ACL_MEM_MALLOC_HUGE_FIRST = 0
ACL_MEMCPY_HOST_TO_DEVICE = 1


def check(ret, what):
    if ret != 0:
        sys.exit(f"{what} returned {ret}: {acl.get_recent_err_msg()}")


def dataset_of(count, size_of, fill):
    dataset = acl.mdl.create_dataset()
    for index in range(count):
        size = size_of(index)
        device, ret = acl.rt.malloc(size, ACL_MEM_MALLOC_HUGE_FIRST)
        check(ret, "acl.rt.malloc")
        if fill is not None:
            values = fill.standard_normal(size // 4, dtype=np.float32).tobytes()
            check(acl.rt.memcpy(device, size, acl.util.bytes_to_ptr(values), len(values),
                                ACL_MEMCPY_HOST_TO_DEVICE), "acl.rt.memcpy")
        _, ret = acl.mdl.add_dataset_buffer(dataset, acl.create_data_buffer(device, size))
        check(ret, "acl.mdl.add_dataset_buffer")
    return dataset


def free_dataset(dataset):
    for index in range(acl.mdl.get_dataset_num_buffers(dataset)):
        buffer = acl.mdl.get_dataset_buffer(dataset, index)
        check(acl.rt.free(acl.get_data_buffer_addr(buffer)), "acl.rt.free")
        check(acl.destroy_data_buffer(buffer), "acl.destroy_data_buffer")
    check(acl.mdl.destroy_dataset(dataset), "acl.mdl.destroy_dataset")


def main(path, runs):
    check(acl.init(), "acl.init")
    check(acl.rt.set_device(0), "acl.rt.set_device")
    start = time.perf_counter()
    model, ret = acl.mdl.load_from_file(path)
    check(ret, "acl.mdl.load_from_file")
    loaded = time.perf_counter() - start
    desc = acl.mdl.create_desc()
    check(acl.mdl.get_desc(desc, model), "acl.mdl.get_desc")
    inputs = dataset_of(acl.mdl.get_num_inputs(desc),
                        lambda i: acl.mdl.get_input_size_by_index(desc, i),
                        np.random.default_rng(0))
    outputs = dataset_of(acl.mdl.get_num_outputs(desc),
                         lambda i: acl.mdl.get_output_size_by_index(desc, i), None)
    times = []
    for _ in range(runs + 3):
        start = time.perf_counter()
        check(acl.mdl.execute(model, inputs, outputs), "acl.mdl.execute")
        times.append(time.perf_counter() - start)
    median = float(np.median(times[3:]))
    print(f"load {loaded * 1e3:.0f} ms, one image {median * 1e3:.2f} ms "
          f"({1 / median:.1f} images/s, median of {runs})")
    free_dataset(inputs)
    free_dataset(outputs)
    check(acl.mdl.unload(model), "acl.mdl.unload")
    check(acl.mdl.destroy_desc(desc), "acl.mdl.destroy_desc")
    check(acl.rt.reset_device(0), "acl.rt.reset_device")
    check(acl.finalize(), "acl.finalize")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: python time_model.py MODEL.om [RUNS]")
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) == 3 else 20)
