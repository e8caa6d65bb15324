# SPDX-License-Identifier: Apache-2.0
"""Writes MobileNetV2 (width 1.0) as ONNX with seeded random weights: make_mobilenetv2.py out.onnx

Input `input`, 1x3x224x224; output `output`, 1000 classes.
"""

import numpy as np
from builder import Builder, save_from_command_line
from onnx import helper

# expansion, output channels, blocks, first stride
STAGES = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
          (6, 160, 3, 2), (6, 320, 1, 1)]


def conv_bn(net, name, x, c_in, c_out, kernel, stride=1, group=1, clip=True):
    y = net.conv(name + ".conv", x, c_in, c_out, kernel, stride, group)
    y = net.batch_norm(name + ".bn", y, c_out)
    if not clip:
        return y
    return net.node("Clip", name + ".relu6", [y, net.constant(0.0), net.constant(6.0)])


def inverted_residual(net, name, x, c_in, c_out, expansion, stride):
    width, y = c_in * expansion, x
    if expansion != 1:
        y = conv_bn(net, name + ".expand", y, c_in, width, 1)
    y = conv_bn(net, name + ".depthwise", y, width, width, 3, stride, group=width)
    y = conv_bn(net, name + ".project", y, width, c_out, 1, clip=False)
    return net.node("Add", name + ".add", [x, y]) if stride == 1 and c_in == c_out else y


def make_mobilenetv2(batch=1, seed=0, size=224, classes=1000):
    """The model as a ModelProto."""
    net = Builder(seed)
    x = conv_bn(net, "stem", "input", 3, 32, 3, 2)
    channels = 32
    for stage, (expansion, c_out, blocks, stride) in enumerate(STAGES, 1):
        for block in range(blocks):
            x = inverted_residual(net, f"block{stage}.{block}", x, channels, c_out, expansion,
                                  stride if block == 0 else 1)
            channels = c_out
    x = conv_bn(net, "head", x, channels, 1280, 1)
    x = net.node("GlobalAveragePool", "pool", [x])
    x = net.node("Flatten", "flat", [x], axis=1)
    weight = net.weight("fc.weight", net.normal(classes, 1280, scale=0.02))
    bias = net.weight("fc.bias", np.zeros(classes))
    net.nodes.append(helper.make_node("Gemm", [x, weight, bias], ["output"], name="fc", transB=1))
    return net.model("mobilenetv2", {"input": ("float", [batch, 3, size, size])},
                     {"output": ("float", [batch, classes])})


if __name__ == "__main__":
    save_from_command_line(make_mobilenetv2, __doc__.splitlines()[0])
