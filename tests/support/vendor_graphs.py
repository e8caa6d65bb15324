# SPDX-License-Identifier: Apache-2.0
"""Small graphs of the vendor's operators that use every part of its files: seeds of the fuzzers."""
import ge_files
import numpy as np
from ge_files import Graph, desc

F32 = np.float32


def picture_net():
    graph = Graph()
    x = graph.data("x", F32, (1, 3, 6, 6), "NCHW")
    w = graph.const("w", np.ones((2, 3, 3, 3), F32), "NCHW")
    conv = graph.op("Conv2D", "conv", [x, w],
                    {"strides": [1, 1, 1, 1], "pads": [1, 1, 1, 1], "dilations": [1, 1, 1, 1],
                     "groups": 1, "data_format": "NCHW"},
                    ins=[desc(F32, (1, 3, 6, 6), "NCHW"), desc(F32, (2, 3, 3, 3), "NCHW")],
                    outs=[desc(F32, (1, 2, 6, 6), "NCHW")])
    pool = graph.op("MaxPool", "pool", [conv],
                    {"ksize": [1, 1, 2, 2], "strides": [1, 1, 2, 2], "padding": "VALID",
                     "data_format": "NCHW"}, ins=[desc(F32, (1, 2, 6, 6), "NCHW")],
                    outs=[desc(F32, (1, 2, 3, 3), "NCHW")])
    flat = graph.op("Flatten", "flat", [pool], outs=[desc(F32, (1, 18))])
    m = graph.const("m", np.ones((18, 4), F32))
    product = graph.op("MatMulV2", "product", [flat, m],
                       {"transpose_x1": False, "transpose_x2": False}, outs=[desc(F32, (1, 4))])
    graph.output(graph.op("SoftmaxV2", "softmax", [product], {"axes": [-1]},
                          outs=[desc(F32, (1, 4))]))
    return [graph]


def attributes():
    graph = Graph()
    x = graph.data("x", F32, (2, 6))
    graph.op("SplitD", "split", [x], {"split_dim": 1, "num_split": 2, "_note": b"\1", "_f": 1.5,
                                      "_fs": [1.5], "_bs": [True], "_ls": [[1], [2, 3]],
                                      "_ss": ["a", "b"]}, outs=[desc(F32, (2, 3))] * 2)
    cast = graph.op("Cast", "cast", ["split:1"], {"dst_type": 1}, outs=[desc(np.float16, (2, 3))])
    pads = graph.const("pads", np.array([[0, 1], [1, 0]], np.int32))
    pad = graph.op("Pad", "pad", ["split:0", pads], outs=[desc(F32, (3, 4))])
    graph.output(cast, pad, "split:-1")
    return [graph]


def calls():
    outer, inner = Graph("outer"), Graph("inner")
    x = outer.data("x", F32, (2, 3))
    call = outer.op("PartitionedCall", "call", [x], subgraphs=["inner"], outs=[desc(F32, (2, 3))])
    outer.output(outer.op("Square", "square", [call], outs=[desc(F32, (2, 3))]))
    inner.output(inner.op("Relu", "relu", [inner.data("arg", F32, (2, 3))]))
    return [outer, inner]


def blocks():
    """The chip's formats, with constants in the description and in the part of weights."""
    filters = ge_files.fractal_z(np.ones((2, 3, 1, 1), F32))
    matrix = ge_files.fractal_nz(np.ones((4, 5), F32))
    plain, blocked = (1, 3, 2, 2), (1, 1, 2, 2, 16)
    five = desc(F32, blocked, "NC1HWC0", origin=(plain, "NCHW"))
    made = desc(F32, blocked, "NC1HWC0", origin=((1, 2, 2, 2), "NCHW"))
    graph = Graph()
    x = graph.data("x", F32, plain, "NCHW")
    first = graph.op("TransData", "in", [x], {"src_format": "NCHW", "dst_format": "NC1HWC0"},
                     ins=[desc(F32, plain, "NCHW")], outs=[five])
    w = graph.const("w", filters, "FRACTAL_Z", origin=((2, 3, 1, 1), "NCHW"), place=0)
    conv = graph.op("Conv2D", "conv", [first, w],
                    {"strides": [1, 1, 1, 1], "pads": [0, 0, 0, 0], "dilations": [1, 1, 1, 1],
                     "data_format": "NCHW"},
                    ins=[five, desc(F32, filters.shape, "FRACTAL_Z",
                                    origin=((2, 3, 1, 1), "NCHW"))], outs=[made])
    out = desc(F32, (1, 2, 2, 2), "NCHW")
    last = graph.op("TransData", "out", [conv], {"src_format": "NC1HWC0", "dst_format": "NCHW"},
                    ins=[made], outs=[out])
    shape = graph.const("shape", np.array([2, 4], np.int64))
    flat = graph.op("Reshape", "flat", [last, shape], outs=[desc(F32, (2, 4))])
    m = graph.const("m", matrix, "FRACTAL_NZ", origin=((4, 5), "ND"))
    graph.output(graph.op("MatMulV2", "product", [flat, m], outs=[desc(F32, (2, 5))]))
    return [graph], filters.tobytes()


ATTRIBUTES = {"soc_version": "Ascend310P3", "atc_version": "8.0",
              "atc_cmdline": "atc --model=a.onnx --framework=5"}


def air_files():
    for make in (picture_net, attributes, calls):
        yield make.__name__, ge_files.model_def(make(), attrs=ATTRIBUTES)


def om_files():
    graphs, weights = blocks()
    yield "blocks", ge_files.om_file([(0, ge_files.model_def(graphs, "net", ATTRIBUTES)),
                                      (1, weights), (2, b"tasks"), (3, b"kernels")])
    for name, description in air_files():
        yield name, ge_files.om_file([(0, description)])
