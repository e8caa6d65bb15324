# SPDX-License-Identifier: Apache-2.0
"""Diffusion, autoencoders, adversarial generators, super-resolution."""

import numpy as np
from registry import network

FAMILY = "generative"


def residual(net, x, out, time=None):
    """GroupNorm, SiLU, convolution twice, with the time's row in between."""
    y = net.conv(net.act("silu", net.group_norm(x)), out)
    if time is not None:
        row = net.linear(net.act("silu", time), out)
        y = net.add(y, net.unsqueeze(net.unsqueeze(row, 2), 3))
    y = net.conv(net.act("silu", net.group_norm(y)), out)
    return net.add(x if x.shape == y.shape else net.conv(x, out, 1), y)


def spatial_transformer(net, x, context, heads=8):
    n, c, h, w = x.shape
    y = net.tokens(net.conv(net.group_norm(x), c, 1))
    y = net.add(y, net.attention(net.layer_norm(y), heads, bias=False))
    z = net.layer_norm(y)
    q = net.heads(net.linear(z, c, False), heads)
    k, v = (net.heads(net.linear(context, c, False), heads) for _ in range(2))
    y = net.add(y, net.linear(net.join(net.sdpa(q, k, v)), c))
    a, b = net.split(net.linear(net.layer_norm(y), 8 * c), [4 * c, 4 * c], 2)
    y = net.add(y, net.linear(net.mul(a, net.act("gelu", b)), c))
    return net.add(x, net.conv(net.picture(y, h, w), c, 1))


@network(FAMILY, "sd-unet-slice")
def sd_unet(net):
    x = net.conv(net.input(1, 4, 32, 32), 160, 3)
    context = net.input(1, 77, 768)
    time = net.linear(net.linear(net.input(1, 160), 640, act="silu"), 640)
    skips = []
    for width in (160, 320):
        x = spatial_transformer(net, residual(net, x, width, time), context)
        skips.append(x)
        x = net.conv(x, width, 3, 2)
    x = residual(net, x, 320, time)
    for skip in reversed(skips):
        x = net.conv(net.resize(x, 2), skip.shape[1])
        x = residual(net, net.concat([x, skip]), skip.shape[1], time)
    net.output(net.conv(net.act("silu", net.group_norm(x)), 4))


@network(FAMILY, "sd-vae-decoder-slice")
def vae(net):
    x = net.conv(net.input(1, 4, 16, 16), 256, 3)
    y = net.tokens(net.group_norm(x))
    y = net.linear(net.join(net.sdpa(*(net.heads(net.linear(y, 256), 1) for _ in range(3)))), 256)
    x = residual(net, net.add(x, net.picture(y, 16, 16)), 256)
    for width in (256, 128, 64):
        x = residual(net, net.conv(net.resize(x, 2), width), width)
    net.output(net.conv(net.act("silu", net.group_norm(x)), 3))


@network(FAMILY, "dit-block")
def dit(net):
    """A diffusion transformer: layer norms whose scale and shift come from the time."""
    x, time = net.input(1, 256, 384), net.input(1, 384)
    for _ in range(3):
        parts = net.split(net.linear(net.act("silu", time), 6 * 384), [384] * 6)
        parts = [net.unsqueeze(part, 1) for part in parts]

        def modulated(x, shift, scale):
            one, zero = net.constant(np.ones(384)), net.constant(np.zeros(384))
            y = net.node("LayerNormalization", [x, one, zero], x.shape, axis=-1, epsilon=1e-6)
            return net.add(net.mul(y, net.add(scale, 1.0)), shift)

        y = net.attention(modulated(x, parts[0], parts[1]), 6)
        x = net.add(x, net.mul(parts[2], y))
        y = net.mlp(modulated(x, parts[3], parts[4]), 1536, "gelu_tanh")
        x = net.add(x, net.mul(parts[5], y))
    net.output(net.linear(x, 32))


@network(FAMILY, "dcgan")
def dcgan(net):
    x = net.input(1, 100, 1, 1)
    for i, width in enumerate((512, 256, 128, 64)):
        x = net.conv_transpose(x, width, 4, 2 if i else 1, 1 if i else 0)
        x = net.act("relu", net.batch_norm(x))
    net.output(net.unary("Tanh", net.conv_transpose(x, 3, 4, 2, 1)))


@network(FAMILY, "esrgan-slice")
def esrgan(net):
    x = net.conv(net.input(1, 3, 48, 48), 64)
    for _ in range(2):
        parts = [x]
        for _ in range(4):
            parts.append(net.conv(net.concat(parts), 32, act="leaky"))
        x = net.add(net.mul(net.conv(net.concat(parts), 64), 0.2), x)
    for _ in range(2):
        x = net.conv(net.resize(x, 2), 64, act="leaky")
    net.output(net.conv(x, 3))


@network(FAMILY, "espcn-pixel-shuffle")
def espcn(net):
    x = net.conv(net.input(1, 1, 160, 160), 64, 5, act="tanh")
    x = net.conv(net.conv(x, 32, act="tanh"), 9)
    net.output(net.node("DepthToSpace", [x], (1, 1, 480, 480), blocksize=3, mode="CRD"))


@network(FAMILY, "cyclegan-slice")
def cyclegan(net):
    """Reflected pads and instance normalisation."""

    def block(x, out, k, s=1, act="relu"):
        p = k // 2
        n, c, h, w = x.shape
        x = net.node("Pad", [x, net.ints(0, 0, p, p, 0, 0, p, p)], (n, c, h + 2 * p, w + 2 * p),
                     mode="reflect")
        y = net.conv(x, out, k, s, pad=0)
        y = net.node("InstanceNormalization", [y, net.constant(np.ones(out)),
                                               net.constant(np.zeros(out))], y.shape)
        return net.act(act, y)

    x = block(block(block(net.input(1, 3, 128, 128), 32, 7), 64, 3, 2), 128, 3, 2)
    for _ in range(3):
        x = net.add(x, block(block(x, 128, 3), 128, 3, act=None))
    for width in (64, 32):
        x = block(net.resize(x, 2), width, 3)
    net.output(net.unary("Tanh", net.conv(x, 3, 7)))
