# SPDX-License-Identifier: Apache-2.0
"""Writes a U-Net (width 32, four levels) as ONNX with seeded random weights: make_unet.py out.onnx

Input `input`, 1x3x256x256; output `output`, 2 classes for each pixel. Goes up by ConvTranspose.
"""

from builder import Builder, save_from_command_line


def double_conv(net, name, x, c_in, c_out):
    for part, channels in (("a", c_in), ("b", c_out)):
        x = net.conv(f"{name}.{part}.conv", x, channels, c_out, 3)
        x = net.batch_norm(f"{name}.{part}.bn", x, c_out)
        x = net.node("Relu", f"{name}.{part}.relu", [x])
    return x


def up(net, name, x, c_in, c_out):
    weight = net.weight(name + ".weight", net.normal(c_in, c_out, 2, 2, scale=c_in**-0.5))
    bias = net.weight(name + ".bias", net.random.uniform(-0.1, 0.1, c_out))
    return net.node("ConvTranspose", name, [x, weight, bias], kernel_shape=[2, 2], strides=[2, 2])


def make_unet(batch=1, seed=0, size=256, width=32, levels=4, classes=2):
    """The model as a ModelProto."""
    net = Builder(seed)
    x, channels, skips = "input", 3, []
    for level in range(levels):
        wide = width << level
        x = double_conv(net, f"down{level}", x, channels, wide)
        skips.append((x, wide))
        x = net.node("MaxPool", f"down{level}.pool", [x], kernel_shape=[2, 2], strides=[2, 2])
        channels = wide
    x = double_conv(net, "bottom", x, channels, width << levels)
    channels = width << levels
    for level in reversed(range(levels)):
        skip, wide = skips[level]
        x = up(net, f"up{level}.grow", x, channels, wide)
        x = net.node("Concat", f"up{level}.concat", [skip, x], axis=1)
        x = double_conv(net, f"up{level}", x, 2 * wide, wide)
        channels = wide
    x = net.conv("head", x, channels, classes, 1, bias=True)
    net.node("Softmax", "output", [x], axis=1)
    return net.model("unet", {"input": ("float", [batch, 3, size, size])},
                     {"output": ("float", [batch, classes, size, size])})


if __name__ == "__main__":
    save_from_command_line(make_unet, __doc__.splitlines()[0])
