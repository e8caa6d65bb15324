# SPDX-License-Identifier: Apache-2.0
"""Writes ResNet-50 v1 as ONNX with seeded random weights: python make_resnet50.py resnet50.onnx

Input actual_input_1, 1x3x224x224; output 1000 classes.
"""

import numpy as np
from builder import Builder, save_from_command_line
from onnx import helper

STAGES = [(64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)]  # width, blocks, first stride
EXPANSION = 4


def conv_bn(net, name, x, c_in, c_out, kernel, stride=1, relu=True):
    y = net.conv(name + ".conv", x, c_in, c_out, kernel, stride)
    y = net.batch_norm(name + ".bn", y, c_out)
    return net.node("Relu", name + ".relu", [y]) if relu else y


def bottleneck(net, name, x, c_in, width, stride):
    c_out = width * EXPANSION
    y = conv_bn(net, name + ".1", x, c_in, width, 1)
    y = conv_bn(net, name + ".2", y, width, width, 3, stride)
    y = conv_bn(net, name + ".3", y, width, c_out, 1, relu=False)
    if stride != 1 or c_in != c_out:
        x = conv_bn(net, name + ".down", x, c_in, c_out, 1, stride, relu=False)
    y = net.node("Add", name + ".add", [y, x])
    return net.node("Relu", name + ".relu", [y])


def make_resnet50(batch=1, seed=0, size=224, classes=1000):
    """The model as a ModelProto."""
    net = Builder(seed)
    x = conv_bn(net, "stem", "actual_input_1", 3, 64, 7, 2)
    x = net.node("MaxPool", "stem.pool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    channels = 64
    for stage, (width, blocks, stride) in enumerate(STAGES, 1):
        for block in range(blocks):
            x = bottleneck(net, f"layer{stage}.{block}", x, channels, width,
                           stride if block == 0 else 1)
            channels = width * EXPANSION
    x = net.node("GlobalAveragePool", "pool", [x])
    x = net.node("Flatten", "flat", [x], axis=1)
    weight = net.random.standard_normal((classes, channels)) * 0.01
    bias = np.zeros(classes)
    net.nodes.append(helper.make_node(
        "Gemm", [x, net.weight("fc.weight", weight), net.weight("fc.bias", bias)], ["output1"],
        name="fc", transB=1))
    return net.model("resnet50", {"actual_input_1": ("float", [batch, 3, size, size])},
                     {"output1": ("float", [batch, classes])})


if __name__ == "__main__":
    save_from_command_line(make_resnet50, __doc__.splitlines()[0])
