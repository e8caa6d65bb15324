# SPDX-License-Identifier: Apache-2.0
"""ONNX models whose inputs have open extents, for tests of gears and of shape ranges."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from onnx_models import network


def net(shape=("N", 3, "H", "W")):
    """Conv, Relu, pool over the whole image, Gemm: any batch and any image size."""
    rng = np.random.default_rng(3)

    def weight(name, *extents):
        return numpy_helper.from_array(rng.uniform(-0.5, 0.5, extents).astype(np.float32), name)

    node = helper.make_node
    nodes = [
        node("Conv", ["image", "w"], ["c"], name="conv", pads=[1] * 4),
        node("Relu", ["c"], ["r"], name="relu"),
        node("GlobalAveragePool", ["r"], ["g"], name="pool"),
        node("Flatten", ["g"], ["f"], name="flat"),
        node("Gemm", ["f", "fc"], ["logits"], name="fc", transB=1),
    ]
    return network(nodes, [("image", TensorProto.FLOAT, shape)],
                   [("logits", TensorProto.FLOAT, ["N", 5]), ("r", TensorProto.FLOAT, None)],
                   [weight("w", 4, 3, 3, 3), weight("fc", 5, 4)], opset=15)


def product():
    """Two inputs: a matrix and one that is added to it."""
    return network([helper.make_node("Add", ["a", "b"], ["y"], name="add")],
                   [("a", TensorProto.FLOAT, ["M", "K"]), ("b", TensorProto.FLOAT, ["K"])],
                   [("y", TensorProto.FLOAT, ["M", "K"])], opset=15)


def image(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def windows():
    """Rows of any number, in windows of 6: few numbers of rows fit."""
    return network([helper.make_node("Reshape", ["x", "shape"], ["w"], name="windows"),
                    helper.make_node("Softmax", ["w"], ["y"], name="softmax", axis=2)],
                   [("x", TensorProto.FLOAT, ["N", "T", 4])], [("y", TensorProto.FLOAT, None)],
                   [numpy_helper.from_array(np.array([0, -1, 6, 4]), "shape")], opset=15)
