# SPDX-License-Identifier: Apache-2.0
"""Speech, sound and vocoders: convolutions along time."""

import numpy as np
from registry import network

SPEECH, VOCODER = "speech", "vocoders"


@network(SPEECH, "wav2vec2-slice")
def wav2vec(net):
    x = net.input(1, 1, 8000)
    for i, (k, s) in enumerate(((10, 5), (3, 2), (3, 2), (3, 2), (3, 2), (2, 2))):
        x = net.conv(x, 256, k, s, bias=False, pad=0)
        if i == 0:
            x = net.group_norm(x, 256)
        x = net.act("gelu", x)
    x = net.linear(net.layer_norm(net.transpose(x, 0, 2, 1)), 384)
    y = net.conv(net.transpose(x, 0, 2, 1), 384, 128, g=16, pad=64)
    y = net.act("gelu", net.slice(y, 0, x.shape[1], 2))
    x = net.add(x, net.transpose(y, 0, 2, 1))
    for _ in range(2):
        x = net.layer_norm(net.add(x, net.attention(x, 6)))
        x = net.layer_norm(net.add(x, net.mlp(x, 1536)))
    net.output(net.linear(x, 32))


@network(SPEECH, "whisper-tiny-encoder")
def whisper(net):
    x = net.conv(net.input(1, 80, 600), 384, 3, act="gelu")
    x = net.transpose(net.conv(x, 384, 3, 2, act="gelu"), 0, 2, 1)
    x = net.add(x, net.weight(*x.shape[1:], scale=0.1))
    for _ in range(2):
        x = net.add(x, net.attention(net.layer_norm(x), 6))
        x = net.add(x, net.mlp(net.layer_norm(x), 1536))
    net.output(net.layer_norm(x))


@network(SPEECH, "conformer-slice")
def conformer(net):
    x = net.linear(net.input(1, 200, 80), 256)
    for _ in range(3):
        x = net.add(x, net.mul(net.mlp(net.layer_norm(x), 1024, "silu"), 0.5))
        x = net.add(x, net.attention(net.layer_norm(x), 4))
        y = net.conv(net.transpose(net.layer_norm(x), 0, 2, 1), 512, 1)
        a, b = net.split(y, [256, 256])
        y = net.mul(a, net.unary("Sigmoid", b))
        y = net.depthwise(y, 31, act="silu")
        x = net.add(x, net.transpose(net.conv(y, 256, 1), 0, 2, 1))
        x = net.add(x, net.mul(net.mlp(net.layer_norm(x), 1024, "silu"), 0.5))
        x = net.layer_norm(x)
    net.output(net.linear(x, 128))


@network(SPEECH, "quartznet-5x")
def quartznet(net):
    x = net.conv_bn(net.input(1, 64, 400), 256, 33, 2)
    for width, k in ((256, 33), (256, 39), (512, 51), (512, 63), (512, 75)):
        y = x
        for i in range(2):
            y = net.depthwise(y, k, act=None, norm=False)
            y = net.conv_bn(y, width, 1, act="relu" if i == 0 else None)
        x = net.act("relu", net.add(y, net.conv_bn(x, width, 1, act=None)))
    net.output(net.conv(x, 29, 1))


@network(SPEECH, "deepspeech-lstm")
def deepspeech(net):
    x = net.conv_bn(net.input(1, 1, 80, 200), 32, (41, 11), (2, 2), act="relu6")
    x = net.conv_bn(x, 32, (21, 11), (2, 1), act="relu6")
    n, c, h, w = x.shape
    x = net.reshape(net.transpose(x, 3, 0, 1, 2), w, 1, c * h)
    for _ in range(2):
        size, width = 256, x.width
        y = net.several("LSTM", [x, net.weight(2, 4 * size, width, scale=0.03),
                                 net.weight(2, 4 * size, size, scale=0.03),
                                 net.uniform(-0.1, 0.1, 2, 8 * size)],
                        [(w, 2, 1, size)], hidden_size=size, direction="bidirectional")[0]
        x = net.reshape(net.transpose(y, 0, 2, 1, 3), w, 1, 2 * size)
    net.output(net.linear(x, 29))


@network(SPEECH, "ecapa-tdnn")
def ecapa(net):
    x = net.conv_bn(net.input(1, 80, 300), 512, 5)
    for d in (2, 3, 4):
        y = net.conv_bn(x, 512, 1)
        parts = net.split(y, [64] * 8)
        made = [parts[0]]
        for part in parts[1:]:
            made.append(net.conv_bn(part if len(made) == 1 else net.add(part, made[-1]), 64, 3,
                                    d=d))
        y = net.conv_bn(net.concat(made), 512, 1)
        x = net.add(x, net.squeeze_excite(y, 128))
    y = net.conv(x, 512, 1, act="relu")
    weights = net.softmax(net.conv(net.conv(y, 128, 1, act="tanh"), 512, 1), 2)
    mean = net.reduce("ReduceSum", net.mul(weights, y), [2])
    spread = net.reduce("ReduceSum", net.mul(weights, net.mul(y, y)), [2])
    spread = net.sub(spread, net.mul(mean, mean))
    deviation = net.unary("Sqrt", net.act("relu", spread))
    net.output(net.conv(net.concat([mean, deviation]), 192, 1))


@network(SPEECH, "demucs-slice")
def demucs(net):
    x, skips = net.input(1, 2, 16384), []
    for width in (32, 64, 128, 256):
        x = net.conv(x, width, 8, 4, pad=2, act="relu")
        a, b = net.split(net.conv(x, 2 * width, 1), [width, width])
        x = net.mul(a, net.unary("Sigmoid", b))
        skips.append(x)
    for width in (128, 64, 32, 2):
        x = net.add(x, skips.pop())
        a, b = net.split(net.conv(x, 2 * x.shape[1], 3), [x.shape[1]] * 2)
        x = net.conv_transpose(net.mul(a, net.unary("Sigmoid", b)), width, 8, 4, 2)
        x = net.act("relu", x) if width > 2 else x
    net.output(x)


@network(VOCODER, "hifigan-v2")
def hifigan(net):
    x = net.conv(net.input(1, 80, 48), 128, 7)
    for width, k, s in ((64, 16, 8), (32, 16, 8), (16, 4, 2), (8, 4, 2)):
        x = net.conv_transpose(net.act("leaky", x), width, k, s, (k - s) // 2)
        total = None
        for kernel in (3, 7, 11):
            y = x
            for d in (1, 3, 5):
                z = net.conv(net.act("leaky", y), width, kernel, d=d)
                y = net.add(y, net.conv(net.act("leaky", z), width, kernel))
            total = y if total is None else net.add(total, y)
        x = net.div(total, 3.0)
    net.output(net.unary("Tanh", net.conv(net.act("leaky", x), 1, 7)))


@network(VOCODER, "melgan")
def melgan(net):
    x = net.conv(net.input(1, 80, 64), 256, 7)
    for width, s in ((128, 8), (64, 8), (32, 2), (16, 2)):
        x = net.conv_transpose(net.act("leaky", x), width, 2 * s, s, s // 2)
        for d in (1, 3, 9):
            y = net.conv(net.act("leaky", x), width, 3, d=d)
            x = net.add(net.conv(x, width, 1), net.conv(net.act("leaky", y), width, 1))
    net.output(net.unary("Tanh", net.conv(net.act("leaky", x), 1, 7)))


@network(VOCODER, "wavenet-slice")
def wavenet(net):
    x, total = net.conv(net.input(1, 1, 4096), 64, 1), None
    for d in (1, 2, 4, 8, 16, 32, 64, 128):
        a, b = net.split(net.conv(x, 128, 3, d=d), [64, 64])
        y = net.mul(net.unary("Tanh", a), net.unary("Sigmoid", b))
        total = net.conv(y, 64, 1) if total is None else net.add(total, net.conv(y, 64, 1))
        x = net.add(x, net.conv(y, 64, 1))
    net.output(net.conv(net.act("relu", net.conv(net.act("relu", total), 128, 1)), 256, 1))


@network(VOCODER, "vocos-istft")
def vocos(net):
    x = net.conv(net.input(1, 100, 200), 256, 7)
    for _ in range(4):
        y = net.transpose(net.depthwise(x, 7, act=None, norm=False), 0, 2, 1)
        y = net.linear(net.linear(net.layer_norm(y), 768, act="gelu"), 256)
        x = net.add(x, net.transpose(net.mul(y, net.uniform(0.1, 1, 256)), 0, 2, 1))
    y = net.transpose(net.linear(net.layer_norm(net.transpose(x, 0, 2, 1)), 514), 0, 2, 1)
    size, phase = net.split(y, [257, 257])
    size = net.unary("Exp", net.mul(size, 0.1))
    real = net.mul(size, net.unary("Cos", phase))
    imaginary = net.mul(size, net.unary("Sin", phase))
    y = net.concat([real, imaginary])
    basis = net.weight(514, 1, 512, scale=0.05)
    net.output(net.node("ConvTranspose", [y, basis], (1, 1, 199 * 128 + 512), kernel_shape=[512],
                        strides=[128]))


@network(VOCODER, "encodec-decoder-slice")
def encodec(net):
    x = net.conv(net.input(1, 128, 40), 256, 7, act="elu")
    for width, s in ((128, 8), (64, 5), (32, 4), (32, 2)):
        k = 2 * s
        x = net.act("elu", net.conv_transpose(x, width, k, s, (k - s) // 2))
        y = net.conv(net.act("elu", net.conv(x, width // 2, 3)), width, 1)
        x = net.act("elu", net.add(x, y))
    net.output(net.conv(x, 1, 7))


@network(SPEECH, "tacotron-gru-decoder")
def tacotron(net):
    x = net.linear(net.linear(net.input(60, 1, 80), 256, act="relu"), 128, act="relu")
    for size in (256, 256):
        y = net.several("GRU", [x, net.weight(1, 3 * size, x.width, scale=0.05),
                                net.weight(1, 3 * size, size, scale=0.05),
                                net.uniform(-0.1, 0.1, 1, 6 * size)],
                        [(60, 1, 1, size)], hidden_size=size, linear_before_reset=1)[0]
        x = net.reshape(y, 60, 1, size)
    memory = net.transpose(net.weight(100, 1, 256), 1, 2, 0)
    x = net.transpose(x, 1, 0, 2)
    weights = net.softmax(net.mul(net.matmul(x, memory), float(1 / np.sqrt(256))))
    context = net.matmul(weights, net.transpose(memory, 0, 2, 1))
    net.output(net.linear(net.concat([x, context], 2), 160))
