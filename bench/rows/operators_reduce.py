# SPDX-License-Identifier: Apache-2.0
"""Reductions of 1,048,576 floats to one number by a handle of acl.op against numpy, one thread
each, by processor time: numpy sums in float32, ours in double."""

import os

os.environ["ANYNPU_THREADS"] = "1"  # read when the library is loaded

import time  # noqa: E402

import numpy as np  # noqa: E402
from harness import ratio_of  # noqa: E402

import acl  # noqa: E402

COUNT, TIMES = 1 << 20, 20


def check(code):
    assert code == 0, f"{code}: {acl.get_recent_err_msg()}"


class Reduction:
    """One operator over all elements of x; call() runs it and waits."""

    def __init__(self, name, x):
        self.memory = [acl.rt.malloc(size, 0)[0] for size in (x.nbytes, 4)]
        check(acl.rt.memcpy(self.memory[0], x.nbytes, acl.util.numpy_to_ptr(x), x.nbytes, 1))
        descs = [acl.create_tensor_desc(0, list(x.shape), 2)], [acl.create_tensor_desc(0, [], 2)]
        attr = acl.op.create_attr()
        check(acl.op.set_attr_list_int(attr, "axes", [0]))
        check(acl.op.compile(name, *descs, attr, 0, 0, ""))
        self.handle, ret = acl.op.create_handle(name, *descs, attr)
        check(ret)
        self.buffers = [[acl.create_data_buffer(address, size)]
                        for address, size in zip(self.memory, (x.nbytes, 4))]

    def __call__(self):
        check(acl.op.execute_with_handle(self.handle, *self.buffers, 0))
        check(acl.rt.synchronize_stream(0))

    def result(self):
        out = np.zeros((), np.float32)
        check(acl.rt.memcpy(acl.util.numpy_to_ptr(out), 4, self.memory[1], 4, 2))
        return out


def cpu_seconds(body):
    begin = time.process_time()
    for _ in range(TIMES):
        body()
    return time.process_time() - begin


def rows(report):
    check(acl.init())
    check(acl.rt.set_device(0))
    x = np.random.default_rng(1).random(COUNT, np.float32)
    for name, theirs in (("ReduceSumD", np.sum), ("ReduceMeanD", np.mean), ("ReduceMaxD", np.max)):
        ours = Reduction(name, x)
        ours()
        np.testing.assert_allclose(ours.result(), theirs(x.astype(np.float64)), rtol=1e-6)
        taken = []

        def mine(run=ours, taken=taken):
            taken.append(cpu_seconds(run))
            return taken[-1]

        ratio = ratio_of(mine, lambda f=theirs: cpu_seconds(lambda: f(x)))
        note = f"{sorted(taken)[len(taken) // 2] / TIMES * 1e6:.0f} us"
        report.add(f"{name} of 1,048,576 floats: processor time over numpy", 1.0, "x", ratio, note)
    check(acl.rt.reset_device(0))
    check(acl.finalize())
