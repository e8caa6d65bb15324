# SPDX-License-Identifier: Apache-2.0
"""More of speech and sound: recognisers with relative places, vocoders, separation, synthesis."""

import numpy as np
from registry import network
from sound import SPEECH, VOCODER


@network(VOCODER, "hifigan-v1-slice", first=256, rates=((16, 8), (16, 8)), frames=24)
@network(VOCODER, "hifigan-v3-slice", first=128, rates=((16, 8), (8, 4), (4, 2)), frames=32,
         kernels=(3, 5, 7), paired=False)
def hifigan(net, first, rates, frames, kernels=(3, 7, 11), paired=True):
    x, width = net.conv(net.input(1, 80, frames), first, 7), first
    for k, s in rates:
        width //= 2
        x = net.conv_transpose(net.act("leaky", x), width, k, s, (k - s) // 2)
        total = None
        for kernel in kernels:
            y = x
            for d in (1, 3):
                z = net.conv(net.act("leaky", y), width, kernel, d=d)
                if paired:
                    z = net.conv(net.act("leaky", z), width, kernel)
                y = net.add(y, z)
            total = y if total is None else net.add(total, y)
        x = net.div(total, float(len(kernels)))
    net.output(net.unary("Tanh", net.conv(net.act("leaky", x), 1, 7)))


@network(VOCODER, "bigvgan-snake")
def bigvgan(net):
    """Activations x + sin(a x)^2 / a."""
    def snake(x):
        a = net.uniform(0.5, 1.5, 1, x.shape[1], 1)
        return net.add(x, net.div(net.binary("Pow", net.unary("Sin", net.mul(x, a)), 2.0), a))

    x = net.conv(net.input(1, 80, 24), 128, 7)
    for width, k, s in ((64, 8, 4), (32, 8, 4)):
        x = net.conv_transpose(x, width, k, s, (k - s) // 2)
        for d in (1, 3):
            x = net.add(x, net.conv(snake(net.conv(snake(x), width, 7, d=d)), width, 7))
    net.output(net.unary("Tanh", net.conv(snake(x), 1, 7)))


@network(VOCODER, "parallel-wavegan-slice")
def wavegan(net):
    x, skip = net.conv(net.input(1, 1, 4096), 64, 1), None
    mel = net.input(1, 80, 4096)
    for d in (1, 2, 4, 8, 16, 32):
        y = net.add(net.conv(x, 128, 3, d=d), net.conv(mel, 128, 1, bias=False))
        a, b = net.split(y, [64, 64])
        y = net.mul(net.unary("Tanh", a), net.unary("Sigmoid", b))
        part = net.conv(y, 64, 1)
        skip = part if skip is None else net.add(skip, part)
        x = net.mul(net.add(net.conv(y, 64, 1), x), np.sqrt(0.5))
    net.output(net.conv(net.conv(net.act("relu", skip), 64, 1, act="relu"), 1, 1))


@network(SPEECH, "wave-u-net")
def wave_u_net(net):
    x, skips = net.input(1, 1, 8192), []
    for i in range(6):
        x = net.conv(x, 24 * (i + 1), 15, act="leaky")
        skips.append(x)
        x = net.slice(x, 0, x.shape[2], 2, 2)
    x = net.conv(x, 24 * 7, 15, act="leaky")
    for skip in reversed(skips):
        x = net.concat([net.resize(x, 2, "linear"), skip])
        x = net.conv(x, skip.shape[1], 5, act="leaky")
    net.output(net.unary("Tanh", net.conv(x, 2, 1)))


@network(SPEECH, "conv-tasnet-slice")
def tasnet(net):
    """Two voices apart: a mask over learnt frames."""
    frames = net.conv(net.input(1, 1, 8000), 128, 16, 8, pad=0, act="relu")
    x = net.conv(net.group_norm(frames, 1), 64, 1)
    for d in (1, 2, 4, 8, 16):
        y = net.group_norm(net.conv(x, 128, 1, act="prelu"), 1)
        y = net.group_norm(net.depthwise(y, 3, d=d, act="prelu", norm=False), 1)
        x = net.add(x, net.conv(y, 64, 1))
    masks = net.reshape(net.conv(x, 256, 1, act="relu"), 2, 128, -1)
    net.output(net.conv_transpose(net.mul(masks, frames), 1, 16, 8))


@network(SPEECH, "conformer-relative")
def conformer(net):
    """Attention with relative places: rows shifted by padding and reshaping."""
    length, width, heads = 120, 144, 4
    x = net.conv_bn(net.input(1, 1, 4 * length, 40), 32, 3, 2)
    x = net.conv_bn(x, 32, 3, 2)
    n, c, h, w = x.shape
    x = net.linear(net.reshape(net.transpose(x, 0, 2, 1, 3), 1, h, c * w), width)
    size = width // heads
    for _ in range(2):
        x = net.add(x, net.mul(net.mlp(net.layer_norm(x), 4 * width, "silu"), 0.5))
        y = net.layer_norm(x)
        q, k, v = (net.heads(net.linear(y, width), heads) for _ in range(3))
        places = net.weight(1, 2 * length - 1, width, scale=0.3)
        places = net.heads(net.linear(places, width, False), heads)
        content = net.matmul(net.add(q, net.weight(heads, 1, size, scale=0.1)),
                             net.transpose(k, 0, 1, 3, 2))
        moved = net.matmul(net.add(q, net.weight(heads, 1, size, scale=0.1)),
                           net.transpose(places, 0, 1, 3, 2))
        moved = net.node("Pad", [moved, net.ints(0, 0, 0, 1, 0, 0, 0, 0)],
                         (1, heads, length, 2 * length))
        moved = net.reshape(moved, 1, heads, 2 * length, length)
        moved = net.reshape(net.slice(moved, 1, 2 * length, 2), 1, heads, length, 2 * length - 1)
        moved = net.slice(moved, 0, length, 3)
        scores = net.div(net.add(content, moved), np.sqrt(size))
        x = net.add(x, net.linear(net.join(net.matmul(net.softmax(scores), v)), width))
        y = net.conv(net.transpose(net.layer_norm(x), 0, 2, 1), 2 * width, 1)
        a, b = net.split(y, [width, width])
        y = net.depthwise(net.mul(a, net.unary("Sigmoid", b)), 31, act="silu")
        x = net.add(x, net.transpose(net.conv(y, width, 1), 0, 2, 1))
        x = net.add(x, net.mul(net.mlp(net.layer_norm(x), 4 * width, "silu"), 0.5))
        x = net.layer_norm(x)
    net.output(net.node("LogSoftmax", [net.linear(x, 256)], (1, length, 256), axis=-1))


@network(SPEECH, "whisper-tiny-decoder-token")
def whisper_decoder(net):
    """One token with a cache, and attention over 300 frames of the encoder."""
    width, heads, past = 384, 6, 63
    x = net.embed(5000, width, net.input(1, 1, most=5000))
    x = net.add(x, net.weight(1, 1, width, scale=0.1))
    caches = []
    for _ in range(4):
        y = net.layer_norm(x)
        q, k, v = (net.heads(net.linear(y, width), heads) for _ in range(3))
        k, v = (net.concat([net.input(1, heads, past, 64), part], 2) for part in (k, v))
        caches += [k, v]
        x = net.add(x, net.linear(net.join(net.sdpa(q, k, v)), width))
        q = net.heads(net.linear(net.layer_norm(x), width), heads)
        k, v = (net.input(1, heads, 300, 64) for _ in range(2))
        x = net.add(x, net.linear(net.join(net.sdpa(q, k, v)), width))
        x = net.add(x, net.mlp(net.layer_norm(x), 4 * width))
    net.output(net.linear(net.layer_norm(x), 5000, False), *caches)


@network(SPEECH, "fastspeech2")
def fastspeech(net):
    """Phonemes, convolutions for feed-forward, lengths by a gather of given places."""
    x = net.embed(100, 256, net.input(1, 60, most=100))

    def block(x):
        x = net.layer_norm(net.add(x, net.attention(x, 2)))
        y = net.conv(net.transpose(x, 0, 2, 1), 1024, 9, act="relu")
        y = net.transpose(net.conv(y, 256, 1), 0, 2, 1)
        return net.layer_norm(net.add(x, y))

    for _ in range(2):
        x = block(x)
    y = net.transpose(x, 0, 2, 1)
    for _ in range(2):
        y = net.conv(y, 256, 3, act="relu")
        y = net.transpose(net.layer_norm(net.transpose(y, 0, 2, 1)), 0, 2, 1)
    lengths = net.linear(net.transpose(y, 0, 2, 1), 1)
    spread = np.sort(np.random.default_rng(5).integers(0, 60, 240))
    x = net.gather(x, net.input(240, values=spread.astype(np.int64)), 1)
    for _ in range(2):
        x = block(x)
    net.output(net.linear(x, 80), lengths)


@network(SPEECH, "citrinet-slice")
def citrinet(net):
    x = net.conv_bn(net.input(1, 80, 400), 192, 5, 2)
    for k in (11, 13, 15, 17):
        y = x
        for i in range(3):
            y = net.conv_bn(net.depthwise(y, k, act=None, norm=False), 192, 1,
                            act="relu" if i < 2 else None)
        y = net.squeeze_excite(y, 24)
        x = net.act("relu", net.add(y, net.conv_bn(x, 192, 1, act=None)))
    net.output(net.conv(x, 256, 1))


@network(SPEECH, "silero-like-vad")
def vad(net):
    """Voice activity of 32 ms: a Fourier transform by convolution, one step of an LSTM."""
    x = net.node("Pad", [net.input(1, 1, 576), net.ints(0, 0, 0, 0, 0, 64)], (1, 1, 640),
                 mode="reflect")
    y = net.conv(x, 258, 256, 128, bias=False, pad=0)
    a, b = net.split(y, [129, 129])
    x = net.unary("Sqrt", net.add(net.add(net.mul(a, a), net.mul(b, b)), 1e-9))
    for width, s in ((128, 1), (64, 2), (64, 2), (128, 1)):
        x = net.conv(x, width, 3, s, act="relu")
    y = net.several("LSTM", [net.transpose(x, 2, 0, 1), net.weight(1, 512, 128, scale=0.05),
                             net.weight(1, 512, 128, scale=0.05), net.uniform(-0.1, 0.1, 1, 1024),
                             "", net.input(1, 1, 128), net.input(1, 1, 128)],
                    [(x.shape[2], 1, 1, 128)], hidden_size=128)[0]
    y = net.reshape(y, x.shape[2], 128)
    net.output(net.unary("Sigmoid", net.gemm(net.act("relu", y), 1)))


@network(SPEECH, "audio-spectrogram-transformer")
def ast(net):
    x = net.tokens(net.conv(net.input(1, 1, 128, 256), 192, 16, 10, pad=0))
    x = net.concat([net.weight(1, 2, 192, scale=0.1), x], 1)
    x = net.add(x, net.weight(*x.shape, scale=0.1))
    for _ in range(3):
        x = net.add(x, net.attention(net.layer_norm(x), 3))
        x = net.add(x, net.mlp(net.layer_norm(x), 768))
    first = net.reduce("ReduceMean", net.slice(net.layer_norm(x), 0, 2, 1), [1], False)
    net.output(net.gemm(first, 50))
