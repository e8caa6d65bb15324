# SPDX-License-Identifier: Apache-2.0
"""Vision transformers and hybrids of convolution and attention; text encoders."""

import numpy as np
from registry import network

HYBRID, ENCODER = "hybrid transformers", "encoders"


@network(HYBRID, "deit-tiny")
@network(HYBRID, "deit-small-gemm-norms", width=384, layers=4, whole=False)
@network(HYBRID, "dinov2-small-slice", width=384, layers=4, patch=14, scaled=True)
def vit(net, width=192, layers=6, patch=16, scaled=False, whole=True):
    x = net.conv(net.input(1, 3, 224, 224), width, patch, patch, pad=0)
    x = net.concat([net.weight(1, 1, width), net.tokens(x)], 1)
    x = net.add(x, net.weight(*x.shape, scale=0.02))
    for _ in range(layers):
        y = net.attention(net.layer_norm(x, 1e-6, whole), width // 64)
        x = net.add(x, net.mul(y, net.uniform(0.1, 1, width)) if scaled else y)
        y = net.mlp(net.layer_norm(x, 1e-6, whole), 4 * width)
        x = net.add(x, net.mul(y, net.uniform(0.1, 1, width)) if scaled else y)
    x = net.slice(net.layer_norm(x, 1e-6, whole), 0, 1, 1)
    net.output(net.gemm(net.reshape(x, 1, width), 1000))


@network(HYBRID, "poolformer-s12-half")
def metaformer(net):
    x = net.input(1, 3, 224, 224)
    for stage, (width, count) in enumerate(((64, 1), (128, 1), (320, 3), (512, 1))):
        x = net.conv(x, width, 3 if stage else 7, 2 if stage else 4)
        for _ in range(count):
            y = net.group_norm(x, 1)
            y = net.sub(net.pool(y, 3, 1, "AveragePool", 1), y)
            x = net.add(x, net.mul(y, net.uniform(0.5, 1, width, 1, 1)))
            y = net.conv(net.conv(net.group_norm(x, 1), 4 * width, 1, act="gelu"), width, 1)
            x = net.add(x, net.mul(y, net.uniform(0.5, 1, width, 1, 1)))
    net.head(x)


@network(HYBRID, "caformer-slice")
def caformer(net):
    """MetaFormer baselines: normalisation with Pow, squared ReLU with Pow, separable mixing."""
    x = net.conv(net.input(1, 3, 224, 224), 64, 7, 4)

    def norm(x):
        centred = net.sub(x, net.reduce("ReduceMean", x, [-1]))
        variance = net.reduce("ReduceMean", net.binary("Pow", centred, 2.0), [-1])
        rate = net.binary("Pow", net.add(variance, 1e-6), 0.5)
        return net.mul(net.div(centred, rate), net.uniform(0.8, 1.2, x.width))

    def star(x):
        y = net.binary("Pow", net.act("relu", x), 2.0)
        return net.add(net.mul(y, net.constant(0.89)), net.constant(-0.45))

    for stage, (width, count) in enumerate(((64, 1), (128, 2), (320, 2), (512, 1))):
        if stage:
            x = net.conv(x, width, 3, 2)
        x = net.transpose(x, 0, 2, 3, 1)
        for _ in range(count):
            if stage < 2:
                y = net.transpose(star(net.linear(norm(x), 2 * width, False)), 0, 3, 1, 2)
                y = net.transpose(net.depthwise(y, 7, act=None, norm=False), 0, 2, 3, 1)
                y = net.linear(y, width, False)
            else:
                n, h, w, c = x.shape
                y = net.attention(net.reshape(norm(x), n, h * w, c), c // 32, bias=False)
                y = net.reshape(y, n, h, w, c)
            x = net.add(x, y)
            y = net.linear(star(net.linear(norm(x), 4 * width, False)), width, False)
            x = net.add(x, y)
        x = net.transpose(x, 0, 3, 1, 2)
    net.head(x)


@network(HYBRID, "levit-128s")
def levit(net):
    """Attention over tokens whose linear layers have a BatchNormalization behind them."""

    def linear(x, width, act=None):
        n, length, c = x.shape
        y = net.matmul(x, net.weight(c, width, scale=1 / np.sqrt(c)))
        y = net.batch_norm(net.reshape(y, n * length, width))
        return net.act(act, net.reshape(y, n, length, width))

    x = net.input(1, 3, 224, 224)
    for width in (16, 32, 64, 128):
        x = net.conv_bn(x, width, 3, 2, act=None if width == 128 else "hardswish")
    x = net.tokens(x)
    for width, heads, count in ((128, 4, 2), (256, 6, 3), (384, 8, 4)):
        if x.width != width:
            side = int(np.sqrt(x.shape[1]))
            y = net.slice(net.slice(net.reshape(x, 1, side, side, x.width), 0, side, 1, 2), 0,
                          side, 2, 2)
            x = linear(net.reshape(y, 1, -1, x.width), width)
        for _ in range(count):
            key = 16
            y = net.reshape(linear(x, heads * key * 4), 1, x.shape[1], heads, 4 * key)
            q, k, v = net.split(y, [key, key, 2 * key], 3)
            q, k, v = (net.transpose(part, *perm) for part, perm in
                       ((q, (0, 2, 1, 3)), (k, (0, 2, 3, 1)), (v, (0, 2, 1, 3))))
            scores = net.mul(net.matmul(q, k), key**-0.5)
            scores = net.add(scores, net.weight(heads, *scores.shape[2:], scale=0.1))
            y = net.join(net.matmul(net.softmax(scores), v))
            x = net.add(x, linear(net.act("hardswish", y), width))
            x = net.add(x, linear(linear(x, 2 * width, "hardswish"), width))
    net.output(net.gemm(net.reduce("ReduceMean", x, [1], False), 1000))


@network(HYBRID, "mobilevit-xs")
def mobilevit(net):
    x = net.conv_bn(net.input(1, 3, 256, 256), 16, 3, 2, act="silu")

    def bottleneck(x, out, s):
        y = net.depthwise(net.conv_bn(x, 4 * x.shape[1], 1, act="silu"), 3, s, act="silu")
        y = net.conv_bn(y, out, 1, act=None)
        return net.add(x, y) if x.shape == y.shape else y

    for out, s in ((32, 1), (48, 2), (48, 1)):
        x = bottleneck(x, out, s)
    for out, width, layers in ((64, 96, 2), (80, 120, 4), (96, 144, 3)):
        x = bottleneck(x, out, 2)
        y = net.conv(net.conv_bn(x, out, act="silu"), width, 1, bias=False)
        n, c, h, w = y.shape
        y = net.reshape(y, n * c * h // 2, 2, w // 2, 2)
        y = net.reshape(net.transpose(y, 0, 2, 1, 3), n, c, h * w // 4, 4)
        y = net.reshape(net.transpose(y, 0, 3, 2, 1), 4, h * w // 4, c)
        for _ in range(layers):
            y = net.add(y, net.attention(net.layer_norm(y), 4))
            y = net.add(y, net.mlp(net.layer_norm(y), 2 * width, "silu"))
        y = net.transpose(net.reshape(net.layer_norm(y), n, 4, h * w // 4, c), 0, 3, 2, 1)
        y = net.transpose(net.reshape(y, n * c * h // 2, w // 2, 2, 2), 0, 2, 1, 3)
        y = net.conv_bn(net.reshape(y, n, c, h, w), out, 1, act="silu")
        x = net.conv_bn(net.concat([x, y]), out, act="silu")
    net.head(net.conv_bn(x, 384, 1, act="silu"))


@network(HYBRID, "swin-tiny-half")
def swin(net):
    x = net.conv(net.input(1, 3, 224, 224), 96, 4, 4, pad=0)
    x = net.layer_norm(net.tokens(x))
    side = 56
    for width, heads, count in ((96, 3, 1), (192, 6, 2), (384, 12, 2), (768, 24, 1)):
        if x.width != width:
            y = net.reshape(x, 1, side, side, x.width)
            parts = [net.slice(net.slice(y, i, side, 1, 2), j, side, 2, 2)
                     for j in (0, 1) for i in (0, 1)]
            side //= 2
            y = net.layer_norm(net.reshape(net.concat(parts, 3), 1, side * side, 4 * x.width))
            x = net.linear(y, width, False)
        for _ in range(count):
            y = net.reshape(net.layer_norm(x), 1, side // 7, 7, side // 7, 7, width)
            y = net.reshape(net.transpose(y, 0, 1, 3, 2, 4, 5), -1, 49, width)
            y = net.reshape(net.linear(y, 3 * width), y.shape[0], 49, 3, heads, 32)
            y = net.transpose(y, 2, 0, 3, 1, 4)
            q, k, v = (net.gather(y, net.constant(i, np.int64)) for i in range(3))
            scores = net.matmul(net.mul(q, 32**-0.5), net.transpose(k, 0, 1, 3, 2))
            scores = net.add(scores, net.weight(1, heads, 49, 49, scale=0.1))
            y = net.linear(net.join(net.matmul(net.softmax(scores), v)), width)
            y = net.reshape(y, 1, side // 7, side // 7, 7, 7, width)
            y = net.reshape(net.transpose(y, 0, 1, 3, 2, 4, 5), 1, side * side, width)
            x = net.add(x, y)
            x = net.add(x, net.mlp(net.layer_norm(x), 4 * width))
    net.output(net.gemm(net.reduce("ReduceMean", net.layer_norm(x), [1], False), 1000))


@network(HYBRID, "efficientformer-l1-slice")
def efficientformer(net):
    x = net.conv_bn(net.conv_bn(net.input(1, 3, 224, 224), 24, 3, 2), 48, 3, 2)
    for width, count in ((48, 2), (96, 2), (224, 3), (448, 2)):
        if width > 48:
            x = net.conv_bn(x, width, 3, 2, act=None)
        for _ in range(count):
            y = net.sub(net.pool(x, 3, 1, "AveragePool", 1), x)
            x = net.add(x, net.mul(y, net.uniform(0.1, 1, width, 1, 1)))
            y = net.conv_bn(net.conv_bn(x, 4 * width, 1, act="gelu"), width, 1, act=None)
            x = net.add(x, net.mul(y, net.uniform(0.1, 1, width, 1, 1)))
    x = net.tokens(x)
    x = net.add(x, net.attention(net.layer_norm(x), 8))
    x = net.add(x, net.mlp(net.layer_norm(x), 1792))
    net.output(net.gemm(net.reduce("ReduceMean", x, [1], False), 1000))


@network(HYBRID, "mlp-mixer-s16-half")
def mixer(net):
    x = net.tokens(net.conv(net.input(1, 3, 224, 224), 512, 16, 16, pad=0))
    for _ in range(4):
        y = net.transpose(net.layer_norm(x), 0, 2, 1)
        x = net.add(x, net.transpose(net.mlp(y, 256), 0, 2, 1))
        x = net.add(x, net.mlp(net.layer_norm(x), 2048))
    net.output(net.gemm(net.reduce("ReduceMean", net.layer_norm(x), [1], False), 1000))


@network(ENCODER, "distilbert-half", length=128)
@network(ENCODER, "minilm-b4", length=64, batch=4, width=384, layers=4, whole=False)
@network(ENCODER, "bert-tiny", length=32, width=128, layers=2)
def bert(net, length, batch=1, width=768, layers=3, whole=True):
    ids = net.input(batch, length, most=30000)
    mask = net.input(batch, length, values=np.ones((batch, length), np.int64))
    mask = net.node("Cast", [net.unsqueeze(net.unsqueeze(mask, 1), 2)], (batch, 1, 1, length),
                    to=1)
    mask = net.mul(net.sub(net.constant(1.0), mask), net.constant(-1e9))
    x = net.add(net.embed(30000, width, ids), net.weight(1, length, width, scale=0.1))
    x = net.layer_norm(x, 1e-12, whole)
    for _ in range(layers):
        x = net.layer_norm(net.add(net.attention(x, width // 32 if width < 768 else 12, mask=mask),
                                   x), 1e-12, whole)
        x = net.layer_norm(net.add(net.mlp(x, 4 * width), x), 1e-12, whole)
    net.output(x)


@network(ENCODER, "t5-small-encoder")
def t5(net):
    x = net.embed(32000, 512, net.input(1, 128, most=32000))
    bias = net.weight(1, 8, 128, 128, scale=0.2)
    for _ in range(3):
        y = net.rms_norm(x)
        q, k, v = (net.heads(net.linear(y, 512, False), 8) for _ in range(3))
        scores = net.add(net.matmul(q, net.transpose(k, 0, 1, 3, 2)), bias)
        x = net.add(x, net.linear(net.join(net.matmul(net.softmax(scores), v)), 512, False))
        y = net.rms_norm(x)
        gate = net.mul(net.linear(y, 1024, False, "gelu_tanh"), net.linear(y, 1024, False))
        x = net.add(x, net.linear(gate, 512, False))
    net.output(net.rms_norm(x))


@network(ENCODER, "deberta-slice")
def deberta(net):
    """Disentangled attention: scores of contents and of relative positions, gathered."""
    length, width, heads = 128, 384, 6
    x = net.layer_norm(net.embed(30000, width, net.input(1, length, most=30000)))
    places = net.weight(2 * length, width)
    index = np.clip(np.arange(length)[:, None] - np.arange(length)[None] + length, 0,
                    2 * length - 1).astype(np.int64)
    index = net.array(np.broadcast_to(index, (1, heads, length, length)))
    for _ in range(2):
        q, k, v = (net.heads(net.linear(x, width), heads) for _ in range(3))
        r = net.reshape(net.linear(places, width), 1, 2 * length, heads, width // heads)
        r = net.transpose(r, 0, 2, 3, 1)
        scores = net.matmul(q, net.transpose(k, 0, 1, 3, 2))
        extra = net.node("GatherElements", [net.matmul(q, r), index], scores.shape, axis=3)
        scores = net.div(net.add(scores, extra), np.sqrt(3 * width / heads))
        y = net.linear(net.join(net.matmul(net.softmax(scores), v)), width)
        x = net.layer_norm(net.add(x, y))
        x = net.layer_norm(net.add(x, net.mlp(x, 4 * width)))
    net.output(x)
