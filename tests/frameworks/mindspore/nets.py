# SPDX-License-Identifier: Apache-2.0
"""Networks written in MindSpore's own interface, with seeded weights. Needs the package mindspore.

`NETS` maps a name to a function that returns the network and its inputs. Files of the small ones
are in tests/data/mindspore (record.py).
"""
import numpy as np
from mindspore import Parameter, Tensor, nn, ops
from mindspore import dtype as mstype

SMALL = ("lenet", "resnet_small", "mobilenet_v2_small", "transformer_small", "attention_small")


def seeded(net, seed=1):
    """Gives every parameter numbers that do not depend on the release of MindSpore and that files
    of which pack well."""
    random = np.random.RandomState(seed)
    for parameter in net.get_parameters():
        shape = parameter.shape
        if parameter.name.endswith(("moving_variance", "gamma")):
            values = random.uniform(0.5, 1.5, shape)
        elif len(shape) > 1:
            fan_in = np.prod(shape[1:])
            values = random.randn(*shape) * np.sqrt(2.0 / max(1, fan_in))
        else:
            values = random.randn(*shape) * 0.1
        values = np.round(np.asarray(values) * 64) / 64
        if parameter.name.endswith("moving_variance"):
            values = np.maximum(values, 0.25)
        parameter.set_data(Tensor(values.astype(np.float32)))
    net.set_train(False)
    return net


def noise(*shape, seed=0):
    return Tensor(np.random.RandomState(seed).randn(*shape).astype(np.float32))


class LeNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, pad_mode="valid")
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid", has_bias=True)
        self.relu = nn.ReLU()
        self.pool = nn.MaxPool2d(2, 2)
        self.flatten = nn.Flatten()
        self.fc1 = nn.Dense(16 * 5 * 5, 120, activation="relu")
        self.fc2 = nn.Dense(120, 84)
        self.fc3 = nn.Dense(84, 10)

    def construct(self, x):
        x = self.pool(self.relu(self.conv1(x)))
        x = self.pool(self.relu(self.conv2(x)))
        return self.fc3(self.relu(self.fc2(self.fc1(self.flatten(x)))))


class Residual(nn.Cell):
    def __init__(self, channels_in, channels, stride):
        super().__init__()
        quarter = channels // 4
        self.conv1 = nn.SequentialCell(
            nn.Conv2d(channels_in, quarter, 1), nn.BatchNorm2d(quarter), nn.ReLU())
        self.conv2 = nn.SequentialCell(
            nn.Conv2d(quarter, quarter, 3, stride, "pad", 1), nn.BatchNorm2d(quarter), nn.ReLU())
        self.conv3 = nn.SequentialCell(nn.Conv2d(quarter, channels, 1), nn.BatchNorm2d(channels))
        self.down = None
        if stride != 1 or channels_in != channels:
            self.down = nn.SequentialCell(
                nn.Conv2d(channels_in, channels, 1, stride), nn.BatchNorm2d(channels))
        self.relu = nn.ReLU()

    def construct(self, x):
        y = self.conv3(self.conv2(self.conv1(x)))
        return self.relu(y + (x if self.down is None else self.down(x)))


class ResNet(nn.Cell):
    """ResNet with bottlenecks; `blocks` as in ResNet-50 is (3, 4, 6, 3), `width` 64."""

    def __init__(self, blocks, width, classes):
        super().__init__()
        self.stem = nn.SequentialCell(
            nn.Conv2d(3, width, 7, 2, "same"), nn.BatchNorm2d(width), nn.ReLU(),
            nn.MaxPool2d(3, 2, "same"))
        cells, channels_in = [], width
        for stage, count in enumerate(blocks):
            channels = width * 4 * 2**stage
            for block in range(count):
                cells.append(Residual(channels_in, channels, 2 if stage and not block else 1))
                channels_in = channels
        self.stages = nn.SequentialCell(cells)
        self.fc = nn.Dense(channels_in, classes)

    def construct(self, x):
        x = self.stages(self.stem(x))
        return self.fc(ops.mean(x, (2, 3)))


class InvertedResidual(nn.Cell):
    def __init__(self, channels_in, channels, stride, expand):
        super().__init__()
        hidden = channels_in * expand
        cells = []
        if expand != 1:
            cells += [nn.Conv2d(channels_in, hidden, 1), nn.BatchNorm2d(hidden), nn.ReLU6()]
        cells += [nn.Conv2d(hidden, hidden, 3, stride, "pad", 1, group=hidden),
                  nn.BatchNorm2d(hidden), nn.ReLU6(),
                  nn.Conv2d(hidden, channels, 1), nn.BatchNorm2d(channels)]
        self.body = nn.SequentialCell(cells)
        self.shortcut = stride == 1 and channels_in == channels

    def construct(self, x):
        return x + self.body(x) if self.shortcut else self.body(x)


class MobileNetV2(nn.Cell):
    SETTINGS = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                (6, 160, 3, 2), (6, 320, 1, 1))

    def __init__(self, width, classes, settings=SETTINGS):
        super().__init__()
        def scaled(channels):
            return max(8, int(channels * width) // 8 * 8)
        channels_in = scaled(32)
        cells = [nn.Conv2d(3, channels_in, 3, 2, "pad", 1), nn.BatchNorm2d(channels_in), nn.ReLU6()]
        for expand, channels, count, stride in settings:
            for block in range(count):
                cells.append(InvertedResidual(channels_in, scaled(channels),
                                              1 if block else stride, expand))
                channels_in = scaled(channels)
        last = max(64, int(1280 * width))
        cells += [nn.Conv2d(channels_in, last, 1), nn.BatchNorm2d(last), nn.ReLU6()]
        self.features = nn.SequentialCell(cells)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.dropout = nn.Dropout(p=0.2)
        self.classifier = nn.Dense(last, classes)

    def construct(self, x):
        x = self.pool(self.features(x))
        return ops.softmax(self.classifier(self.dropout(ops.flatten(x))), axis=-1)


class Transformer(nn.Cell):
    """An encoder of token numbers: embedding, MindSpore's own TransformerEncoder, a head."""

    def __init__(self, tokens, width, heads, layers, length):
        super().__init__()
        self.embedding = nn.Embedding(tokens, width)
        self.position = Parameter(Tensor(np.zeros((1, length, width), np.float32)), name="position")
        layer = nn.TransformerEncoderLayer(width, heads, width * 4, dropout=0.0, activation="gelu",
                                           batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers)
        self.norm = nn.LayerNorm((width,))
        self.head = nn.Dense(width, tokens)

    def construct(self, ids):
        x = self.embedding(ids) + self.position
        return self.head(self.norm(self.encoder(x)))


class Attention(nn.Cell):
    """The same from matrix products, with a mask: what people write by hand."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.width = heads, width
        self.query, self.key, self.value, self.out = (nn.Dense(width, width) for _ in range(4))
        self.norm = nn.LayerNorm((width,), epsilon=1e-5)
        self.up = nn.Dense(width, width * 4)
        self.gelu = nn.GELU(approximate=False)
        self.down = nn.Dense(width * 4, width)

    def split(self, x):
        batch, length, _ = x.shape
        x = x.reshape((batch, length, self.heads, self.width // self.heads))
        return x.transpose(0, 2, 1, 3)

    def construct(self, x, mask):
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        scores = ops.matmul(q, k.swapaxes(-1, -2)) / (self.width // self.heads) ** 0.5
        scores = scores + (1.0 - mask.astype(mstype.float32)).expand_dims(1).expand_dims(1) * -1e4
        y = ops.matmul(ops.softmax(scores, axis=-1), v).transpose(0, 2, 1, 3).reshape(x.shape)
        x = self.norm(x + self.out(y))
        return x + self.down(self.gelu(self.up(x)))


def tokens(batch, length, most, seed=0):
    return Tensor(np.random.RandomState(seed).randint(0, most, (batch, length)).astype(np.int32))


NETS = {
    "lenet": lambda: (seeded(LeNet()), [noise(1, 1, 32, 32)]),
    "resnet_small": lambda: (seeded(ResNet((1, 1), 8, 10)), [noise(1, 3, 32, 32)]),
    "mobilenet_v2_small": lambda: (
        seeded(MobileNetV2(0.25, 10, ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 1, 2)))),
        [noise(1, 3, 32, 32)]),
    "transformer_small": lambda: (seeded(Transformer(50, 16, 2, 1, 6)), [tokens(2, 6, 50)]),
    "attention_small": lambda: (
        seeded(Attention(16, 2)),
        [noise(2, 6, 16), Tensor(np.array([[1] * 6, [1] * 4 + [0] * 2], np.int32))]),
    "resnet50": lambda: (seeded(ResNet((3, 4, 6, 3), 64, 1000)), [noise(1, 3, 224, 224)]),
    "mobilenet_v2": lambda: (seeded(MobileNetV2(1.0, 1000)), [noise(1, 3, 224, 224)]),
    "transformer": lambda: (seeded(Transformer(1000, 128, 4, 4, 32)), [tokens(2, 32, 1000)]),
    "attention": lambda: (seeded(Attention(128, 4)), [
        noise(2, 32, 128), Tensor((np.arange(64).reshape(2, 32) % 7 > 0).astype(np.int32))]),
}
