# SPDX-License-Identifier: Apache-2.0
"""Writes EfficientNet-B0 as ONNX with seeded random weights: make_efficientnet.py out.onnx

Input `input`, 1x3x224x224; output `output`, 1000 classes. Swish is Sigmoid and Mul.
"""

import numpy as np
from builder import Builder, save_from_command_line
from onnx import helper

# expansion, output channels, blocks, first stride, kernel
STAGES = [(1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3),
          (6, 112, 3, 1, 5), (6, 192, 4, 2, 5), (6, 320, 1, 1, 3)]


def swish(net, name, x):
    return net.node("Mul", name, [x, net.node("Sigmoid", name + ".sigmoid", [x])])


def conv_bn(net, name, x, c_in, c_out, kernel, stride=1, group=1, activated=True):
    y = net.conv(name + ".conv", x, c_in, c_out, kernel, stride, group)
    y = net.batch_norm(name + ".bn", y, c_out)
    return swish(net, name + ".swish", y) if activated else y


def squeeze_excite(net, name, x, channels, reduced):
    y = net.node("GlobalAveragePool", name + ".pool", [x])
    y = swish(net, name + ".swish", net.conv(name + ".reduce", y, channels, reduced, 1, bias=True))
    y = net.conv(name + ".expand", y, reduced, channels, 1, bias=True)
    return net.node("Mul", name, [x, net.node("Sigmoid", name + ".sigmoid", [y])])


def block(net, name, x, c_in, c_out, expansion, stride, kernel):
    width, y = c_in * expansion, x
    if expansion != 1:
        y = conv_bn(net, name + ".expand", y, c_in, width, 1)
    y = conv_bn(net, name + ".depthwise", y, width, width, kernel, stride, group=width)
    y = squeeze_excite(net, name + ".se", y, width, max(1, c_in // 4))
    y = conv_bn(net, name + ".project", y, width, c_out, 1, activated=False)
    return net.node("Add", name + ".add", [x, y]) if stride == 1 and c_in == c_out else y


def make_efficientnet(batch=1, seed=0, size=224, classes=1000):
    """The model as a ModelProto."""
    net = Builder(seed)
    x = conv_bn(net, "stem", "input", 3, 32, 3, 2)
    channels = 32
    for stage, (expansion, c_out, blocks, stride, kernel) in enumerate(STAGES, 1):
        for i in range(blocks):
            x = block(net, f"block{stage}.{i}", x, channels, c_out, expansion,
                      stride if i == 0 else 1, kernel)
            channels = c_out
    x = conv_bn(net, "head", x, channels, 1280, 1)
    x = net.node("GlobalAveragePool", "pool", [x])
    x = net.node("Flatten", "flat", [x], axis=1)
    weight = net.weight("fc.weight", net.normal(classes, 1280, scale=0.02))
    bias = net.weight("fc.bias", np.zeros(classes))
    net.nodes.append(helper.make_node("Gemm", [x, weight, bias], ["output"], name="fc", transB=1))
    return net.model("efficientnet_b0", {"input": ("float", [batch, 3, size, size])},
                     {"output": ("float", [batch, classes])})


if __name__ == "__main__":
    save_from_command_line(make_efficientnet, __doc__.splitlines()[0])
