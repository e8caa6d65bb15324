# SPDX-License-Identifier: Apache-2.0
"""Writes ResNet-50 v1 as ONNX with seeded random weights: python make_resnet50.py resnet50.onnx

The shape of the network is the published one (input actual_input_1, 1x3x224x224; output 1000
classes); the weights are drawn, so its answers mean nothing and its time per image is the point.
"""
import argparse

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

STAGES = [(64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)]  # width, blocks, first stride
EXPANSION = 4


class Builder:
    """Collects nodes and weights; every layer method returns the name of its output."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.nodes = []
        self.weights = []

    def weight(self, name, array):
        self.weights.append(numpy_helper.from_array(array.astype(np.float32), name))
        return name

    def node(self, op, name, inputs, **attrs):
        self.nodes.append(helper.make_node(op, inputs, [name], name=name, **attrs))
        return name

    def conv(self, name, x, c_in, c_out, kernel, stride=1):
        scale = np.sqrt(2.0 / (c_in * kernel * kernel))
        w = self.random.standard_normal((c_out, c_in, kernel, kernel)) * scale
        pad = kernel // 2
        return self.node("Conv", name, [x, self.weight(name + ".weight", w)],
                         kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4)

    def batch_norm(self, name, x, channels):
        draw = self.random.uniform
        parts = {"scale": draw(0.5, 1.0, channels), "bias": draw(-0.1, 0.1, channels),
                 "mean": draw(-0.1, 0.1, channels), "var": draw(0.5, 1.5, channels)}
        names = [self.weight(f"{name}.{key}", value) for key, value in parts.items()]
        return self.node("BatchNormalization", name, [x, *names], epsilon=1e-5)

    def conv_bn(self, name, x, c_in, c_out, kernel, stride=1, relu=True):
        y = self.conv(name + ".conv", x, c_in, c_out, kernel, stride)
        y = self.batch_norm(name + ".bn", y, c_out)
        return self.node("Relu", name + ".relu", [y]) if relu else y

    def bottleneck(self, name, x, c_in, width, stride):
        c_out = width * EXPANSION
        y = self.conv_bn(name + ".1", x, c_in, width, 1)
        y = self.conv_bn(name + ".2", y, width, width, 3, stride)
        y = self.conv_bn(name + ".3", y, width, c_out, 1, relu=False)
        if stride != 1 or c_in != c_out:
            x = self.conv_bn(name + ".down", x, c_in, c_out, 1, stride, relu=False)
        y = self.node("Add", name + ".add", [y, x])
        return self.node("Relu", name + ".relu", [y])


def make_resnet50(batch=1, seed=0, classes=1000):
    """The model as a ModelProto."""
    net = Builder(seed)
    x = net.conv_bn("stem", "actual_input_1", 3, 64, 7, 2)
    x = net.node("MaxPool", "stem.pool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    channels = 64
    for stage, (width, blocks, stride) in enumerate(STAGES, 1):
        for block in range(blocks):
            x = net.bottleneck(f"layer{stage}.{block}", x, channels, width,
                               stride if block == 0 else 1)
            channels = width * EXPANSION
    x = net.node("GlobalAveragePool", "pool", [x])
    x = net.node("Flatten", "flat", [x], axis=1)
    weight = net.random.standard_normal((classes, channels)) * 0.01
    bias = np.zeros(classes)
    net.nodes.append(helper.make_node(
        "Gemm", [x, net.weight("fc.weight", weight), net.weight("fc.bias", bias)], ["output1"],
        name="fc", transB=1))
    graph = helper.make_graph(
        net.nodes, "resnet50",
        [helper.make_tensor_value_info("actual_input_1", TensorProto.FLOAT, [batch, 3, 224, 224])],
        [helper.make_tensor_value_info("output1", TensorProto.FLOAT, [batch, classes])],
        net.weights)
    model = helper.make_model(graph, producer_name="anynpu-examples",
                              opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    return model


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output", help="the .onnx file to write")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    onnx.save(make_resnet50(args.batch, args.seed), args.output)


if __name__ == "__main__":
    main()
