# SPDX-License-Identifier: Apache-2.0
"""Writes a trained Network as ONNX, BatchNormalization kept as nodes (the compiler folds it)."""
import numpy as np
import onnx
from net import BatchNorm, Conv, Head, MaxPool, Relu, Residual
from onnx import TensorProto, helper, numpy_helper

# The input carries the name that the guide's atc command line gives it.
INPUT = "actual_input_1"


class Writer:
    def __init__(self):
        self.nodes, self.weights, self.count = [], [], 0

    def weight(self, name, value):
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def node(self, kind, inputs, **attributes):
        self.count += 1
        name = f"{kind.lower()}_{self.count}"
        self.nodes.append(helper.make_node(kind, inputs, [name], name=name, **attributes))
        return name

    def layer(self, layer, x):
        prefix = f"layer{self.count + 1}"
        if isinstance(layer, Conv):
            rows, cout = layer.params["w"].shape
            kernel = layer.params["w"].reshape(3, 3, rows // 9, cout).transpose(3, 2, 0, 1)
            return self.node("Conv", [x, self.weight(prefix + ".weight", kernel)],
                             kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[1, 1])
        if isinstance(layer, BatchNorm):
            values = {"scale": layer.params["scale"], "bias": layer.params["bias"],
                      "mean": layer.mean, "var": layer.var}
            names = [self.weight(f"{prefix}.{key}", value) for key, value in values.items()]
            return self.node("BatchNormalization", [x, *names], epsilon=layer.epsilon)
        if isinstance(layer, Relu):
            return self.node("Relu", [x])
        if isinstance(layer, MaxPool):
            return self.node("MaxPool", [x], kernel_shape=[2, 2], strides=[2, 2])
        if isinstance(layer, Residual):
            y = x
            for inner in layer.layers:
                y = self.layer(inner, y)
            return self.node("Relu", [self.node("Add", [x, y])])
        assert isinstance(layer, Head), layer
        flat = self.node("Flatten", [self.node("GlobalAveragePool", [x])], axis=1)
        return self.node("Gemm", [flat, self.weight(prefix + ".weight", layer.params["w"].T),
                                  self.weight(prefix + ".bias", layer.params["b"])], transB=1)


def export(network, path):
    writer = Writer()
    x = writer.node("AveragePool", [INPUT], kernel_shape=[4, 4], strides=[4, 4])
    for layer in network.layers:
        x = writer.layer(layer, x)
    writer.nodes[-1].output[0] = "logits"
    graph = helper.make_graph(
        writer.nodes, "shapes",
        [helper.make_tensor_value_info(INPUT, TensorProto.FLOAT, ["batch", 3, 224, 224])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 10])],
        initializer=writer.weights)
    model = helper.make_model(graph, producer_name="train_shapes",
                              opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)
