# SPDX-License-Identifier: Apache-2.0
"""Equal values stay equal, and of equal values TopK takes the lower index first, as ONNX and torch
have it: also behind products, convolutions and normalisations, whose sums are fused or reordered.
Detectors (RT-DETR) choose their queries so, among thousands of masked places that are all alike."""

import numpy as np
import onnxruntime
import pytest
from model_datasets import Model, convert
from onnx import TensorProto, helper, numpy_helper
from onnx_models import network

pytestmark = pytest.mark.usefixtures("runtime")

FLOAT = TensorProto.FLOAT


def weight(name, *shape, seed=0):
    values = np.random.default_rng(seed + len(name)).normal(0, 0.3, shape)
    return numpy_helper.from_array(values.astype(np.float32), name)


def constant(name, values, kind=np.int64):
    return numpy_helper.from_array(np.array(values, kind), name)


def run(folder, net, feeds, shapes):
    model = Model(convert(folder, "net", net))
    model.run(*feeds)
    got = [model.read(i, *shape) for i, shape in enumerate(shapes)]
    model.close()
    return got


@pytest.mark.parametrize("k", [1, 5, 32, 33, 100])
@pytest.mark.parametrize("largest", [0, 1])
@pytest.mark.parametrize("kind", [np.float32, np.float16, np.int64, np.int32])
def test_of_equal_values_the_lower_index_comes_first(tmp_path, k, largest, kind):
    x = np.random.default_rng(1).integers(-2, 3, (3, 200)).astype(kind)
    order = np.argsort(-x if largest else x, axis=1, kind="stable")[:, :k].astype(np.int64)
    node = helper.make_node("TopK", ["x", "k"], ["v", "i"], axis=1, largest=largest)
    elements = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
    net = network([node], [("x", elements, x.shape)],
                  [("v", elements, order.shape), ("i", TensorProto.INT64, order.shape)],
                  [constant("k", [k])])
    values, indices = run(tmp_path, net, [x], [(order.shape, kind), (order.shape, np.int64)])
    np.testing.assert_array_equal(indices, order)
    np.testing.assert_array_equal(values, np.take_along_axis(x, order, 1))


def test_zeros_of_both_signs_are_equal(tmp_path):
    x = np.array([-0.0, 0.0, -0.0, 0.0, -1], np.float32)
    node = helper.make_node("TopK", ["x", "k"], ["v", "i"])
    net = network([node], [("x", FLOAT, [5])], [("v", FLOAT, [4]), ("i", TensorProto.INT64, [4])],
                  [constant("k", [4])])
    _, indices = run(tmp_path, net, [x], [((4,), np.float32), ((4,), np.int64)])
    assert indices.tolist() == [0, 1, 2, 3]


def layer_norm(x, y, prefix, weights, width):
    """As exporters of older opsets write it."""
    weights += [constant(prefix + "two", 2, np.float32), constant(prefix + "eps", 1e-5, np.float32),
                weight(prefix + "scale", width), weight(prefix + "bias", width)]
    node = helper.make_node
    n = [prefix + str(i) for i in range(8)]
    return [node("ReduceMean", [x], [n[0]], axes=[-1]), node("Sub", [x, n[0]], [n[1]]),
            node("Pow", [n[1], prefix + "two"], [n[2]]),
            node("ReduceMean", [n[2]], [n[3]], axes=[-1]),
            node("Add", [n[3], prefix + "eps"], [n[4]]), node("Sqrt", [n[4]], [n[5]]),
            node("Div", [n[1], n[5]], [n[6]]), node("Mul", [n[6], prefix + "scale"], [n[7]]),
            node("Add", [n[7], prefix + "bias"], [y])]


@pytest.mark.parametrize("rows,width,classes", [(1000, 64, 80), (333, 96, 7), (525, 256, 80)])
def test_rows_that_are_alike_score_alike_and_are_taken_in_order(tmp_path, rows, width, classes):
    """Linear, LayerNorm, linear, the best class, TopK: the choice of queries."""
    node, weights = helper.make_node, []
    weights += [weight("w1", width, width), weight("b1", width), weight("w2", width, classes),
                weight("b2", classes), constant("k", [rows // 2])]
    nodes = [node("MatMul", ["x", "w1"], ["h"]), node("Add", ["h", "b1"], ["g"]),
             *layer_norm("g", "n", "norm", weights, width),
             node("MatMul", ["n", "w2"], ["s"]), node("Add", ["s", "b2"], ["scores"]),
             node("ReduceMax", ["scores"], ["best"], axes=[-1], keepdims=0),
             node("TopK", ["best", "k"], ["v", "i"], axis=1)]
    net = network(nodes, [("x", FLOAT, [1, rows, width])],
                  [("best", FLOAT, [1, rows]), ("i", TensorProto.INT64, [1, rows // 2])], weights)
    x = np.random.default_rng(3).normal(0, 1, (1, rows, width)).astype(np.float32)
    masked = np.random.default_rng(4).random(rows) < 0.4
    x[0, masked] = 0
    best, indices = run(tmp_path, net, [x], [((1, rows), np.float32),
                                             ((1, rows // 2), np.int64)])
    assert len(set(best[0, masked].tolist())) == 1, "rows that are alike"
    net.ir_version = 10  # the peer knows no later one
    session = onnxruntime.InferenceSession(net.SerializeToString(),
                                           providers=["CPUExecutionProvider"])
    theirs, chosen = session.run(None, {"x": x})
    np.testing.assert_allclose(best, theirs, rtol=1e-4, atol=1e-4)
    ours = [i for i in indices[0] if masked[i]]
    assert ours == [i for i in chosen[0] if masked[i]][:len(ours)], "the lower first"
    assert ours == sorted(ours)


@pytest.mark.parametrize("kernel,channels", [(1, 64), (3, 16), (3, 64), (5, 8)])
def test_places_of_a_picture_that_are_alike_stay_alike(tmp_path, kernel, channels):
    """A convolution over a constant: every place away from the border sees the same."""
    weights = [weight("w", 24, channels, kernel, kernel), weight("b", 24)]
    pad = kernel // 2
    net = network([helper.make_node("Conv", ["x", "w", "b"], ["c"], pads=[pad] * 4),
                   helper.make_node("Relu", ["c"], ["y"])],
                  [("x", FLOAT, [1, channels, 37, 41])], [("y", FLOAT, [1, 24, 37, 41])], weights)
    x = np.broadcast_to(np.random.default_rng(2).normal(0, 1, (1, channels, 1, 1)),
                        (1, channels, 37, 41)).astype(np.float32)
    (y,) = run(tmp_path, net, [np.ascontiguousarray(x)], [((1, 24, 37, 41), np.float32)])
    inner = y[0, :, pad:37 - pad, pad:41 - pad].reshape(24, -1)
    assert all(len(set(row.tolist())) == 1 for row in inner)
