# SPDX-License-Identifier: Apache-2.0
"""Decoder blocks of language models, whole prompts and single tokens with a cache."""

import numpy as np
from registry import network

FAMILY = "decoders"


def rotate(net, x, cos, sin):
    """Rotary embedding of halves, as transformers writes it."""
    half = x.width // 2
    turned = net.concat([net.unary("Neg", net.slice(x, half, 1 << 62, 3)),
                         net.slice(x, 0, half, 3)], 3)
    return net.add(net.mul(x, cos), net.mul(turned, sin))


def rotary_tables(net, length, size):
    """cos and sin computed from the positions, as in the model."""
    places = net.input(1, length, values=np.arange(length, dtype=np.int64)[None])
    rate = (10000.0 ** -(np.arange(0, size, 2) / size)).astype(np.float32)
    p = net.node("Cast", [net.unsqueeze(places, 1)], (1, 1, length), to=1)
    angle = net.matmul(net.array(rate.reshape(1, -1, 1)), p)
    angle = net.transpose(angle, 0, 2, 1)
    angle = net.concat([angle, angle], 2)
    return [net.unsqueeze(net.unary(op, angle), 1) for op in ("Cos", "Sin")]


def repeat(net, x, times):
    """Keys or values of a group for each of its query heads."""
    if times == 1:
        return x
    n, heads, length, size = x.shape
    y = net.expand(net.unsqueeze(x, 2), n, heads, times, length, size)
    return net.reshape(y, n, heads * times, length, size)


@network(FAMILY, "llama-2048-prompt64", hidden=2048, inner=5632, heads=32, groups=4, length=64)
@network(FAMILY, "llama-2048-token", hidden=2048, inner=5632, heads=32, groups=4, length=1,
         past=255)
@network(FAMILY, "llama-4096-token", hidden=4096, inner=11008, heads=32, groups=32, length=1,
         past=127, layers=1)
@network(FAMILY, "qwen-896-prompt128", hidden=896, inner=4864, heads=14, groups=2, length=128,
         bias=True)
@network(FAMILY, "gemma-2048-prompt32", hidden=2048, inner=8192, heads=8, groups=1, length=32,
         act="gelu_tanh", layers=1)
@network(FAMILY, "phi-1024-prompt128", hidden=1024, inner=4096, heads=16, groups=16, length=128,
         parallel=True)
@network(FAMILY, "llama-576-token", hidden=576, inner=1536, heads=9, groups=3, length=1,
         past=511, layers=6)
@network(FAMILY, "llama-2048-token-int8", hidden=2048, inner=5632, heads=32, groups=4, length=1,
         past=255, form="int8")
@network(FAMILY, "llama-2048-token-int4", hidden=2048, inner=5632, heads=32, groups=4, length=1,
         past=255, form="int4")
@network(FAMILY, "llama-2048-prompt64-int4", hidden=2048, inner=5632, heads=32, groups=4,
         length=64, form="int4")
@network(FAMILY, "llama-576-token-int4", hidden=576, inner=1536, heads=9, groups=3, length=1,
         past=127, form="int4")
@network(FAMILY, "llama-2048-token-past1023", hidden=2048, inner=5632, heads=32, groups=8, length=1,
         past=1023, layers=1)
@network(FAMILY, "mistral-2048-token-past511", hidden=2048, inner=7168, heads=16, groups=4,
         length=1, past=511, layers=1)
def llama(net, hidden, inner, heads, groups, length, past=0, act="silu", layers=2, bias=False,
          parallel=False, form=None):
    net.weight_form = form
    x = net.embed(2000, hidden, net.input(1, length, most=2000))
    size = hidden // heads if hidden // heads <= 256 else 256
    cos, sin = rotary_tables(net, length, size)
    mask = None
    if length > 1:
        mask = net.array(np.triu(np.full((1, 1, length, length), -3.4e38, np.float32), 1))
    caches = []
    for _ in range(layers):
        y = net.rms_norm(x)
        q = net.reshape(net.linear(y, heads * size, bias), 1, length, heads, size)
        k, v = (net.reshape(net.linear(y, groups * size, bias), 1, length, groups, size)
                for _ in range(2))
        q, k, v = (net.transpose(part, 0, 2, 1, 3) for part in (q, k, v))
        q, k = rotate(net, q, cos, sin), rotate(net, k, cos, sin)
        if past:
            k, v = (net.concat([net.input(1, groups, past, size), part], 2) for part in (k, v))
            caches += [k, v]
        k, v = (repeat(net, part, heads // groups) for part in (k, v))
        attended = net.linear(net.join(net.sdpa(q, k, v, mask)), hidden, False)
        if not parallel:
            x = net.add(x, attended)
            y = net.rms_norm(x)
        gate = net.mul(net.linear(y, inner, False, act), net.linear(y, inner, False))
        made = net.linear(gate, hidden, False)
        x = net.add(x, net.add(made, attended) if parallel else made)
    net.output(net.linear(net.rms_norm(net.slice(x, length - 1, length, 1)), 2000, False), *caches)


@network(FAMILY, "gpt2-prompt64", length=64)
@network(FAMILY, "gpt2-token", length=1, past=127)
def gpt2(net, length, past=0, width=768, heads=12):
    x = net.embed(5000, width, net.input(1, length, most=5000))
    x = net.add(x, net.weight(1, length, width, scale=0.1))
    total = length + past
    allowed = np.tril(np.ones((total, total), bool))[None, None, past:]
    allowed = net.array(allowed)
    caches = []
    for _ in range(3):
        y = net.reshape(net.layer_norm(x), length, width)
        y = net.reshape(net.gemm(y, 3 * width), 1, length, 3 * width)
        q, k, v = (net.heads(part, heads) for part in net.split(y, [width] * 3, 2))
        if past:
            k, v = (net.concat([net.input(1, heads, past, 64), part], 2) for part in (k, v))
            caches += [k, v]
        scores = net.div(net.matmul(q, net.transpose(k, 0, 1, 3, 2)), 8.0)
        scores = net.node("Where", [allowed, scores, net.constant(-3.4e38)], scores.shape)
        y = net.reshape(net.join(net.matmul(net.softmax(scores), v)), length, width)
        x = net.add(x, net.reshape(net.gemm(y, width), 1, length, width))
        y = net.reshape(net.layer_norm(x), length, width)
        y = net.gemm(net.gemm(y, 4 * width, "gelu_tanh"), width)
        x = net.add(x, net.reshape(y, 1, length, width))
    net.output(net.layer_norm(x), *caches)


@network(FAMILY, "mamba-like-scan64")
def mamba(net):
    """A gated block with a causal depthwise convolution and a recurrence written out."""
    length, width = 64, 512
    x = net.input(1, length, width)
    for _ in range(2):
        y = net.linear(net.rms_norm(x), 2 * width, False)
        a, b = net.split(y, [width, width], 2)
        a = net.conv(net.transpose(a, 0, 2, 1), width, 4, g=width, pad=3)
        a = net.transpose(net.slice(a, 0, length, 2), 0, 2, 1)
        a = net.act("silu", a)
        rate = net.act("softplus", net.linear(a, width))
        decay = net.unary("Exp", net.unary("Neg", rate))
        total = net.node("CumSum", [net.mul(rate, a), net.constant(1, np.int64)], a.shape)
        x = net.add(x, net.linear(net.mul(net.mul(decay, total), net.act("silu", b)), width))
    net.output(x)
