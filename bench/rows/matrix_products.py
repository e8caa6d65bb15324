# SPDX-License-Identifier: Apache-2.0
"""acl.blas.gemm_ex: float against numpy, int8 against float, and the rates of large products."""

import os
import time

THREADS = len(os.sched_getaffinity(0))
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["ANYNPU_THREADS"] = str(THREADS)

import numpy as np  # noqa: E402
from harness import Estimate, number, ratio_of, value_of  # noqa: E402

import acl  # noqa: E402

FLOAT, INT8, INT32, BF16 = 0, 2, 3, 27
MIDDLE, LARGE = 1024, 4096
SAMPLES = 5  # of products that take a second


def check(ret):
    assert ret == 0, acl.get_recent_err_msg()


def on_device(array):
    raw = array.tobytes()
    memory, ret = acl.rt.malloc(len(raw), 0)
    check(ret)
    check(acl.rt.memcpy(memory, len(raw), acl.util.bytes_to_ptr(raw), len(raw), 1))
    return memory


def as_bf16(array):
    return (array.view(np.uint32) >> 16).astype(np.uint16)


class Product:
    """One product of square matrices on stream 0; call() runs it and waits."""

    def __init__(self, a, b, kind, out, factor):
        self.n, self.kinds = len(a), (kind, out)
        empty = np.zeros((self.n, self.n), np.uint16 if out == BF16 else np.uint32)
        self.memory = [on_device(x) for x in (a, b, empty, factor, np.zeros_like(factor))]

    def __call__(self):
        a, b, c, one, zero = self.memory
        n, (kind, out) = self.n, self.kinds
        check(acl.blas.gemm_ex(0, 0, 0, n, n, n, one, a, -1, kind, b, -1, kind, zero, c, -1, out,
                               0, 0))
        check(acl.rt.synchronize_stream(0))

    def free(self):
        for memory in self.memory:
            acl.rt.free(memory)


def seconds(body, clock=time.perf_counter):
    def run():
        begin = clock()
        body()
        return clock() - begin

    return run


def rate(n, taken):
    """GFLOP/s of a product that takes an estimate of seconds."""
    work = 2e-9 * n ** 3
    return Estimate(work / taken.median, work / taken.high, work / taken.low)


def rows(report):
    check(acl.init())
    check(acl.rt.set_device(0))
    random = np.random.default_rng(3)
    one = np.ones(1, np.float32)

    def real(n):
        return random.standard_normal((n, n), dtype=np.float32)

    a, b = real(MIDDLE), real(MIDDLE)
    ours, out = Product(a, b, FLOAT, FLOAT, one), np.empty_like(a)

    def numpy_product():
        np.matmul(a, b, out=out)

    what = f"gemm_ex, {MIDDLE} x {MIDDLE} x {MIDDLE}"
    report.add(f"{what}, float: time against numpy", 1.0, "x",
               ratio_of(seconds(ours), seconds(numpy_product)), f"{THREADS} threads")
    cpu = time.process_time
    report.add(f"{what}, float: processor time against numpy", None, "x",
               ratio_of(seconds(ours, cpu), seconds(numpy_product, cpu)))
    bytes_ = [random.integers(-128, 128, (MIDDLE, MIDDLE), np.int8) for _ in range(2)]
    whole = Product(*bytes_, INT8, INT32, np.ones(1, np.int32))
    report.add(f"{what}, int8: time against our float", 0.5, "x",
               ratio_of(seconds(whole), seconds(ours)))
    ours.free(), whole.free()

    a, b = real(LARGE), real(LARGE)
    out = np.empty_like(a)
    theirs = rate(LARGE, value_of(seconds(numpy_product), SAMPLES)).median
    what = f"gemm_ex, {LARGE} x {LARGE} x {LARGE}"
    short = [as_bf16(x) for x in (a, b, one)]
    for name, product in (("float", Product(a, b, FLOAT, FLOAT, one)),
                          ("bfloat16", Product(*short[:2], BF16, BF16, short[2]))):
        taken = value_of(seconds(product), SAMPLES)
        report.add(f"{what}, {name}: rate", None, "GFLOP/s", rate(LARGE, taken),
                   f"{THREADS} threads; numpy {number(theirs)} in float")
        product.free()
