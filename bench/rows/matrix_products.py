# SPDX-License-Identifier: Apache-2.0
"""acl.blas.gemm_ex in four types and two sizes against onnxruntime, in float against numpy too.
onnxruntime has no product of bfloat16: it stands against our own float."""

import functools
import os
import time

THREADS = len(os.sched_getaffinity(0))
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["ANYNPU_THREADS"] = str(THREADS)

import numpy as np  # noqa: E402
from harness import has_amx, number, ratio_of  # noqa: E402
from peers import REST, missing  # noqa: E402

import acl  # noqa: E402

FLOAT, HALF, INT8, INT32, BF16 = 0, 1, 2, 3, 27
MIDDLE, LARGE = 1024, 4096
PAIRS_OF = {MIDDLE: 31, LARGE: 21}


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
        time.sleep(REST)  # the helpers of the other side have given up their core
        begin = clock()
        body()
        return clock() - begin

    return run


class Peer:
    """The same product in onnxruntime, by its MatMul or MatMulInteger."""

    # The operator, and TensorProto's numbers of the types of inputs and output.
    ONNX = {"float": ("MatMul", 1, 1), "float16": ("MatMul", 10, 10),
            "int8": ("MatMulInteger", 3, 6)}

    def __init__(self, name, a, b):
        import onnxruntime
        from onnx import helper
        op, kind, out = self.ONNX[name]
        tensors = [helper.make_tensor_value_info(x, t, list(a.shape))
                   for x, t in (("a", kind), ("b", kind), ("c", out))]
        graph = helper.make_graph([helper.make_node(op, ["a", "b"], ["c"])], "product",
                                  tensors[:2], tensors[2:])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = THREADS
        # Its threads must not keep the cores while the other side of a pair runs.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self.session = onnxruntime.InferenceSession(model.SerializeToString(), options,
                                                    providers=["CPUExecutionProvider"])
        self.inputs = {"a": a, "b": b}

    def __call__(self):
        self.session.run(None, self.inputs)


def operands(name, n, random):
    """Two square matrices, and the factor 1, of a type."""
    if name == "int8":
        return (*(random.integers(-128, 128, (n, n), np.int8) for _ in range(2)),
                np.ones(1, np.int32))
    wide = [random.standard_normal((n, n), dtype=np.float32) for _ in range(2)]
    wide.append(np.ones(1, np.float32))
    if name == "float16":
        return tuple(x.astype(np.float16) for x in wide)
    return tuple(map(as_bf16, wide)) if name == "bfloat16" else tuple(wide)


KINDS = {"float": (FLOAT, FLOAT), "float16": (HALF, HALF), "bfloat16": (BF16, BF16),
         "int8": (INT8, INT32)}
# What the tile units of a processor that has them are expected to bring.
BF16_LIMITS = {MIDDLE: 1 / 3, LARGE: 1 / 3}


def rate(n, taken):
    """GFLOP/s of a product that takes so many seconds."""
    return 2e-9 * n ** 3 / taken


def compare(report, what, limit, ours, theirs, n):
    taken = []

    def timed():
        taken.append(seconds(ours)())
        return taken[-1]

    ratio = ratio_of(timed, seconds(theirs), PAIRS_OF[n])
    best = sorted(taken)[len(taken) // 2]
    report.add(what, limit, "x", ratio, f"{THREADS} threads; ours {number(rate(n, best))} GFLOP/s")


def rows_of_size(report, n, random):
    floats = None
    for name, kinds in KINDS.items():
        a, b, one = operands(name, n, random)
        ours = Product(a, b, *kinds, one)
        what = f"gemm_ex, {n} x {n} x {n}, {name}: time against"
        if name in Peer.ONNX:
            if missing("onnxruntime"):
                report.skip(f"{what} onnxruntime", "it is not installed (requirements-bench.txt)")
            else:
                compare(report, f"{what} onnxruntime", 1.0, ours, Peer(name, a, b), n)
        if name == "float":
            floats, theirs = ours, functools.partial(np.matmul, a, b, out=np.empty_like(a))
            compare(report, f"{what} numpy", 1.0, ours, theirs, n)
            clock = time.process_time
            report.add(f"{what.replace('time', 'processor time')} numpy", None, "x",
                       ratio_of(seconds(ours, clock), seconds(theirs, clock), PAIRS_OF[n]))
            continue
        if name == "bfloat16":
            limit = BF16_LIMITS[n] if has_amx() else None
            compare(report, f"{what} our float", limit, ours, floats, n)
        ours.free()
    floats.free()


def rows(report):
    check(acl.init())
    check(acl.rt.set_device(0))
    random = np.random.default_rng(3)
    for n in PAIRS_OF:
        rows_of_size(report, n, random)
