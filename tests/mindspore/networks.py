# SPDX-License-Identifier: Apache-2.0
"""The networks that are trained on both back ends: `NETS` maps a name to a function that returns
the network with seeded weights, its inputs and the labels of a cross entropy."""
import math
import os
import sys

import numpy as np
from mindspore import Parameter, Tensor, nn, ops
from mindspore import dtype as mstype

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "frameworks", "mindspore"))
import nets  # noqa: E402


class Bert(nn.Cell):
    """Embeddings of tokens, positions and segments, MindSpore's own encoder, a pooled class."""

    def __init__(self, tokens, width, heads, layers, length, classes):
        super().__init__()
        self.word = nn.Embedding(tokens, width)
        self.segment = nn.Embedding(2, width)
        self.position = Parameter(Tensor(np.zeros((1, length, width), np.float32)), name="position")
        self.norm = nn.LayerNorm((width,))
        layer = nn.TransformerEncoderLayer(width, heads, width * 4, dropout=0.0, activation="gelu",
                                           batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers)
        self.pooler = nn.Dense(width, width, activation="tanh")
        self.head = nn.Dense(width, classes)

    def construct(self, ids, segments):
        x = self.norm(self.word(ids) + self.segment(segments) + self.position)
        return self.head(self.pooler(self.encoder(x)[:, 0]))


class RmsNorm(nn.Cell):
    def __init__(self, width):
        super().__init__()
        self.weight = Parameter(Tensor(np.ones(width, np.float32)), name="gamma")

    def construct(self, x):
        return x * ops.rsqrt(ops.mean(x * x, -1, keep_dims=True) + 1e-5) * self.weight


def rotary(length, size):
    angles = np.outer(np.arange(length), 10000 ** (-np.arange(0, size, 2) / size))
    return (Tensor(np.cos(angles).repeat(2, -1).astype(np.float32)),
            Tensor(np.sin(angles).repeat(2, -1).astype(np.float32)))


class LlamaLayer(nn.Cell):
    def __init__(self, width, heads, length):
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.first, self.second = RmsNorm(width), RmsNorm(width)
        self.q, self.k, self.v, self.o = (nn.Dense(width, width, has_bias=False) for _ in range(4))
        self.gate, self.up = (nn.Dense(width, width * 2, has_bias=False) for _ in range(2))
        self.down = nn.Dense(width * 2, width, has_bias=False)
        self.cos, self.sin = rotary(length, self.size)
        self.mask = Tensor(np.triu(np.full((length, length), -1e4, np.float32), 1))

    def turn(self, x):
        pairs = x.reshape(x.shape[:-1] + (self.size // 2, 2))
        turned = ops.stack((-pairs[..., 1], pairs[..., 0]), -1).reshape(x.shape)
        return x * self.cos + turned * self.sin

    def split(self, x):
        return x.reshape(x.shape[:2] + (self.heads, self.size)).transpose(0, 2, 1, 3)

    def construct(self, x):
        y = self.first(x)
        q, k = self.turn(self.split(self.q(y))), self.turn(self.split(self.k(y)))
        v = self.split(self.v(y))
        scores = ops.matmul(q, k.swapaxes(-1, -2)) / math.sqrt(self.size) + self.mask
        y = ops.matmul(ops.softmax(scores, -1), v).transpose(0, 2, 1, 3).reshape(x.shape)
        x = x + self.o(y)
        y = self.second(x)
        return x + self.down(ops.silu(self.gate(y)) * self.up(y))


class Llama(nn.Cell):
    def __init__(self, tokens, width, heads, layers, length):
        super().__init__()
        self.embedding = nn.Embedding(tokens, width)
        self.layers = nn.SequentialCell([LlamaLayer(width, heads, length) for _ in range(layers)])
        self.norm = RmsNorm(width)
        self.head = nn.Dense(width, tokens, has_bias=False)

    def construct(self, ids):
        return self.head(self.norm(self.layers(self.embedding(ids)))).reshape((-1, 50))


class Lstm(nn.Cell):
    """Of products and gates, in the type of its tensors."""

    def __init__(self, inputs, hidden, classes):
        super().__init__()
        self.of_x, self.of_h = nn.Dense(inputs, 4 * hidden), nn.Dense(hidden, 4 * hidden,
                                                                      has_bias=False)
        self.head = nn.Dense(hidden, classes)

    def construct(self, x, h, c):
        for step in range(x.shape[1]):
            i, f, g, o = ops.split(self.of_x(x[:, step]) + self.of_h(h), h.shape[-1], -1)
            c = ops.sigmoid(f) * c + ops.sigmoid(i) * ops.tanh(g)
            h = ops.sigmoid(o) * ops.tanh(c)
        return self.head(h)


class LayerLstm(nn.Cell):
    """MindSpore's own layer, which hands float16 to a card whatever its tensors are."""

    def __init__(self, inputs, hidden, classes):
        super().__init__()
        self.lstm = nn.LSTM(inputs, hidden, batch_first=True)
        self.head = nn.Dense(hidden, classes)

    def construct(self, x, h, c):
        y, _ = self.lstm(x, (h, c))
        return self.head(y[:, -1])


class Block(nn.Cell):
    def __init__(self, before, after):
        super().__init__()
        self.body = nn.SequentialCell(
            nn.Conv2d(before, after, 3, 1, "pad", 1), nn.BatchNorm2d(after), nn.ReLU(),
            nn.Conv2d(after, after, 3, 1, "pad", 1), nn.BatchNorm2d(after), nn.ReLU())

    def construct(self, x):
        return self.body(x)


class UNet(nn.Cell):
    def __init__(self, classes):
        super().__init__()
        self.down1, self.down2, self.bottom = Block(1, 8), Block(8, 16), Block(16, 32)
        self.pool = nn.MaxPool2d(2, 2)
        self.up2 = nn.Conv2dTranspose(32, 16, 2, 2, "valid")
        self.up1 = nn.Conv2dTranspose(16, 8, 2, 2, "valid")
        self.join2, self.join1 = Block(32, 16), Block(16, 8)
        self.head = nn.Conv2d(8, classes, 1)
        self.classes = classes

    def construct(self, x):
        a = self.down1(x)
        b = self.down2(self.pool(a))
        c = self.bottom(self.pool(b))
        b = self.join2(ops.concat((b, self.up2(c)), 1))
        a = self.join1(ops.concat((a, self.up1(b)), 1))
        return self.head(a).transpose(0, 2, 3, 1).reshape((-1, self.classes))


class MobileNet(nets.MobileNetV2):
    """Without dropout, whose numbers differ between back ends."""

    def construct(self, x):
        return self.classifier(ops.flatten(self.pool(self.features(x))))


def labels(count, classes):
    return Tensor((np.arange(count) * 7 % classes).astype(np.int32))


def floats(array):
    return Tensor(np.asarray(array, np.float32))


def tokens(batch, length, most):
    return nets.tokens(batch, length, most)


NETS = {
    "lenet": lambda: (nets.LeNet(), [nets.noise(4, 1, 32, 32)], labels(4, 10)),
    "resnet50": lambda: (nets.ResNet((3, 4, 6, 3), 64, 10), [nets.noise(4, 3, 64, 64)],
                         labels(4, 10)),
    "mobilenet_v2": lambda: (MobileNet(0.5, 10), [nets.noise(4, 3, 64, 64)], labels(4, 10)),
    "bert": lambda: (Bert(100, 64, 4, 2, 16, 5),
                     [tokens(4, 16, 100), Tensor((np.arange(64).reshape(4,
                                                                        16) % 2).astype(np.int32))],
                     labels(4, 5)),
    "llama": lambda: (Llama(50, 64, 4, 2, 16), [tokens(2, 16, 50)], labels(32, 50)),
    "lstm": lambda: (Lstm(10, 16, 5),
                     [nets.noise(4, 7, 10), floats(np.zeros((4, 16))), floats(np.zeros((4, 16)))],
                     labels(4, 5)),
    "layer_lstm": lambda: (LayerLstm(10, 16, 5),
                           [nets.noise(4, 7, 10), floats(np.zeros((1, 4, 16))),
                            floats(np.zeros((1, 4, 16)))],
                           labels(4, 5)),
    "unet": lambda: (UNet(3), [nets.noise(2, 1, 32, 32)], labels(2 * 32 * 32, 3)),
}


def change(net, ending, factor, more=0.0):
    for parameter in net.get_parameters():
        if parameter.name.endswith(ending):
            parameter.set_data(Tensor((parameter.asnumpy() * factor + more).astype(np.float32)))


def calm(name, net):
    """Makes deep networks start where training is well conditioned, as people start them: branches
    of residual blocks small, few activations at their bounds. From plain random numbers the
    rounding errors of float32 grow to 0.1 in the loss within three steps, on every back end:
    PyTorch in float32 leaves PyTorch in float64 as far. Started like this it stays within 2e-5."""
    if name == "resnet50":
        change(net, "conv3.1.gamma", 0.2)
    if name == "mobilenet_v2":
        change(net, ".gamma", 0.5)
        change(net, ".beta", 1, 2.0)


# Steps that are small enough for the two.
RATES = {"resnet50": {"sgd": 1e-3, "adam": 1e-4}, "mobilenet_v2": {"sgd": 1e-3, "adam": 1e-4}}
USUAL = {"sgd": 0.01, "adam": 1e-3}


def rate(name, optimizer):
    return RATES.get(name, USUAL)[optimizer]


def seeded(name):
    net, inputs, target = NETS[name]()
    net = nets.seeded(net)
    calm(name, net)
    return net, inputs, target


HALF = mstype.float16
