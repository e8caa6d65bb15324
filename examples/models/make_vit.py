# SPDX-License-Identifier: Apache-2.0
"""Writes ViT-B/16 as ONNX with seeded random weights: make_vit.py out.onnx

Input `input`, 1x3x224x224; output `output`, 1000 classes. Patches by a convolution, a class token
in front, layer normalisation before each part.
"""

from builder import Builder, save_from_command_line
from make_bert import Bert


class Vit(Bert):
    """BERT's attention without a mask, normalised in front."""

    def layer(self, name, x, mask=None):
        net = self.net
        y = net.layer_norm(name + ".norm1", x, self.width, 1e-6)
        y = self.attention(name + ".attention", y, net.constant(0.0))
        x = net.node("Add", name + ".add1", [x, y])
        y = net.layer_norm(name + ".norm2", x, self.width, 1e-6)
        y = net.gelu(name + ".gelu", net.linear(name + ".up", y, self.width, 4 * self.width))
        y = net.linear(name + ".down", y, 4 * self.width, self.width)
        return net.node("Add", name + ".add2", [x, y])


def make_vit(batch=1, seed=0, size=224, patch=16, layers=12, width=768, heads=12, classes=1000):
    """The model as a ModelProto."""
    net = Builder(seed)
    patches = (size // patch) ** 2
    weight = net.weight("patches.weight", net.normal(width, 3, patch, patch, scale=0.02))
    bias = net.weight("patches.bias", net.random.uniform(-0.1, 0.1, width))
    x = net.node("Conv", "patches", ["input", weight, bias], kernel_shape=[patch, patch],
                 strides=[patch, patch])
    x = net.node("Reshape", "patches.flat", [x, net.ints(batch, width, patches)])
    x = net.node("Transpose", "patches.transpose", [x], perm=[0, 2, 1])
    token = net.weight("token.weight", net.normal(1, 1, width, scale=0.02))
    token = net.node("Expand", "token", [token, net.ints(batch, 1, width)])
    x = net.node("Concat", "tokens", [token, x], axis=1)
    position = net.weight("position.weight", net.normal(1, patches + 1, width, scale=0.02))
    x = net.node("Add", "position", [x, position])
    vit = Vit(net, batch, patches + 1, width, heads)
    for i in range(layers):
        x = vit.layer(f"layer{i}", x)
    x = net.layer_norm("norm", x, width, 1e-6)
    x = net.node("Gather", "first", [x, net.constant(0, "int64")], axis=1)
    weight = net.weight("head.weight", net.normal(classes, width, scale=0.02))
    bias = net.weight("head.bias", net.random.uniform(-0.1, 0.1, classes))
    net.node("Gemm", "output", [x, weight, bias], transB=1)
    return net.model("vit_b16", {"input": ("float", [batch, 3, size, size])},
                     {"output": ("float", [batch, classes])})


if __name__ == "__main__":
    save_from_command_line(make_vit, __doc__.splitlines()[0])
