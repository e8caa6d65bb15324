# SPDX-License-Identifier: Apache-2.0
"""Convolutional networks that classify pictures."""

from registry import network

CLASSIC, MOBILE = "classification", "mobile"


def stem(net, size, channels, k=3, act="relu"):
    return net.conv_bn(net.input(1, 3, size, size), channels, k, 2, act=act)


@network(CLASSIC, "vgg11", size=128)
@network(CLASSIC, "vgg13-bn", size=112, double=True, norm=True)
def vgg(net, size, double=False, norm=False):
    x = net.input(1, 3, size, size)
    for width, count in ((64, 1), (128, 1), (256, 2), (512, 2), (512, 2)):
        for _ in range(2 if double else count):
            x = net.conv_bn(x, width) if norm else net.conv(x, width, act="relu")
        x = net.pool(x)
    x = net.node("Flatten", [x], (1, x.shape[1] * x.shape[2] * x.shape[3]))
    net.output(net.gemm(net.gemm(x, 1024, "relu"), 1000))


@network(CLASSIC, "resnet18")
@network(CLASSIC, "resnet34", counts=(3, 4, 6, 3))
@network(CLASSIC, "resnet26d", bottleneck=True, deep=True)
@network(CLASSIC, "resnext26-32x4d", bottleneck=True, groups=32, base=4)
@network(CLASSIC, "wide-resnet26", bottleneck=True, base=128)
@network(CLASSIC, "seresnet26", bottleneck=True, squeeze=True)
@network(CLASSIC, "resnet18-b8", batch=8, size=112)
def resnet(net, counts=(2, 2, 2, 2), bottleneck=False, groups=1, base=64, deep=False,
           squeeze=False, batch=1, size=224):
    x = net.input(batch, 3, size, size)
    if deep:
        for width, s in ((32, 2), (32, 1), (64, 1)):
            x = net.conv_bn(x, width, 3, s)
    else:
        x = net.conv_bn(x, 64, 7, 2)
    x = net.pool(x, 3, 2, pad=1)
    for stage, count in enumerate(counts):
        width = 64 << stage
        for i in range(count):
            s = 2 if stage and not i else 1
            out = width * 4 if bottleneck else width
            if bottleneck:
                inner = base * groups << stage
                y = net.conv_bn(net.conv_bn(x, inner, 1), inner, 3, s, g=groups)
                y = net.conv_bn(y, out, 1, act=None)
            else:
                y = net.conv_bn(net.conv_bn(x, width, 3, s), width, 3, act=None)
            if squeeze:
                y = net.squeeze_excite(y, out // 16)
            if x.shape != y.shape:
                if deep and s == 2:
                    x = net.pool(x, 2, 2, "AveragePool")
                x = net.conv_bn(x, out, 1, 1 if deep else s, act=None)
            x = net.act("relu", net.add(y, x))
    net.head(x)


@network(CLASSIC, "densenet57", growth=32)
@network(CLASSIC, "densenet-bc-k12", growth=12, size=128)
def densenet(net, growth, size=224):
    x = net.pool(stem(net, size, 2 * growth, 7), 3, 2, pad=1)
    for stage, count in enumerate((3, 6, 8, 6)):
        for _ in range(count):
            y = net.conv_bn(net.act("relu", net.batch_norm(x)), 4 * growth, 1)
            x = net.concat([x, net.conv(y, growth, bias=False)])
        if stage < 3:
            x = net.conv(net.act("relu", net.batch_norm(x)), x.shape[1] // 2, 1, bias=False)
            x = net.pool(x, 2, 2, "AveragePool")
    net.head(net.act("relu", net.batch_norm(x)))


@network(CLASSIC, "inception-v3-slice")
def inception(net):
    x = stem(net, 149, 32)
    x = net.pool(net.conv_bn(net.conv_bn(x, 32), 64), 3, 2)
    x = net.conv_bn(net.conv_bn(x, 80, 1), 192)
    for _ in range(3):
        a = net.conv_bn(x, 64, 1)
        b = net.conv_bn(net.conv_bn(x, 48, 1), 64, 5)
        c = net.conv_bn(net.conv_bn(net.conv_bn(x, 64, 1), 96), 96)
        d = net.conv_bn(net.pool(x, 3, 1, "AveragePool", 1), 64, 1)
        x = net.concat([a, b, c, d])
    x = net.pool(x, 3, 2)
    for _ in range(3):
        a = net.conv_bn(x, 192, 1)
        b = net.conv_bn(net.conv_bn(x, 128, 1), 128, (1, 7))
        b = net.conv_bn(b, 192, (7, 1))
        c = net.conv_bn(net.conv_bn(x, 128, 1), 128, (7, 1))
        c = net.conv_bn(net.conv_bn(c, 128, (1, 7)), 192, (7, 1))
        d = net.conv_bn(net.pool(x, 3, 1, "AveragePool", 1), 192, 1)
        x = net.concat([a, b, c, d])
    net.head(x)


@network(CLASSIC, "squeezenet")
def squeezenet(net):
    x = net.pool(net.conv(net.input(1, 3, 224, 224), 64, 3, 2, act="relu"), 3, 2)
    for i, width in enumerate((16, 16, 32, 32, 48, 48, 64, 64)):
        y = net.conv(x, width, 1, act="relu")
        x = net.concat([net.conv(y, 4 * width, 1, act="relu"), net.conv(y, 4 * width, act="relu")])
        if i in (1, 3):
            x = net.pool(x, 3, 2)
    x = net.conv(x, 1000, 1, act="relu")
    net.output(net.global_pool(x))


@network(CLASSIC, "convnext-tiny-half", version=1)
@network(CLASSIC, "convnextv2-pico", version=2, widths=(64, 128, 256, 512), counts=(2, 2, 4, 2))
def convnext(net, version, widths=(96, 192, 384, 768), counts=(2, 2, 4, 2)):
    x = net.conv(net.input(1, 3, 224, 224), widths[0], 4, 4, pad=0)
    for stage, (width, count) in enumerate(zip(widths, counts)):
        if stage:
            x = net.transpose(net.layer_norm(net.transpose(x, 0, 2, 3, 1)), 0, 3, 1, 2)
            x = net.conv(x, width, 2, 2, pad=0)
        for _ in range(count):
            y = net.transpose(net.depthwise(x, 7, act=None, norm=False), 0, 2, 3, 1)
            y = net.linear(net.layer_norm(y, 1e-6), 4 * width, act="gelu")
            if version == 2:  # global response normalisation
                norm = net.reduce("ReduceL2", y, [1, 2])
                mean = net.add(net.reduce("ReduceMean", norm, [-1]), 1e-6)
                scaled = net.mul(net.mul(y, net.div(norm, mean)),
                                 net.uniform(-0.1, 0.1, 4 * width))
                y = net.add(net.add(scaled, net.uniform(-0.1, 0.1, 4 * width)), y)
            y = net.linear(y, width)
            if version == 1:
                y = net.mul(y, net.uniform(0.1, 0.2, width))
            x = net.add(x, net.transpose(y, 0, 3, 1, 2))
    net.head(x)


@network(CLASSIC, "regnety-400", width=(48, 104, 208, 440), group=8)
def regnet(net, width, group):
    x = stem(net, 224, 32)
    for out, count in zip(width, (1, 2, 4, 4)):
        for i in range(count):
            s = 1 if i else 2
            y = net.conv_bn(x, out, 1)
            y = net.conv_bn(y, out, 3, s, g=out // group)
            y = net.conv_bn(net.squeeze_excite(y, max(8, x.shape[1] // 4)), out, 1, act=None)
            if x.shape != y.shape:
                x = net.conv_bn(x, out, 1, s, act=None)
            x = net.act("relu", net.add(x, y))
    net.head(x)


@network(CLASSIC, "efficientnetv2-s-half")
def efficientnetv2(net):
    x = stem(net, 224, 24, act="silu")
    for out, count, expand, s, fused in ((24, 1, 1, 1, 1), (48, 2, 4, 2, 1), (64, 2, 4, 2, 1),
                                         (128, 3, 4, 2, 0), (160, 4, 6, 1, 0), (256, 4, 6, 2, 0)):
        for i in range(count):
            y, step, inner = x, 1 if i else s, x.shape[1] * expand
            if fused:
                y = net.conv_bn(y, inner, 3, step, act="silu")
            else:
                y = net.depthwise(net.conv_bn(y, inner, 1, act="silu"), 3, step, act="silu")
                y = net.squeeze_excite(y, x.shape[1] // 4, "silu")
            y = net.conv_bn(y, out, 1, act=None)
            x = net.add(x, y) if x.shape == y.shape else y
    net.head(net.conv_bn(x, 1280, 1, act="silu"))


@network(CLASSIC, "hrnet-slice")
def hrnet(net):
    x = net.conv_bn(stem(net, 256, 64), 64, 3, 2)
    high, low = net.conv_bn(x, 18), net.conv_bn(x, 36, 3, 2)
    for _ in range(4):
        parts = []
        for y in (high, low):
            for _ in range(2):
                z = net.conv_bn(net.conv_bn(y, y.shape[1]), y.shape[1], act=None)
                y = net.act("relu", net.add(y, z))
            parts.append(y)
        up = net.resize(net.conv_bn(parts[1], 18, 1, act=None), 2)
        down = net.conv_bn(parts[0], 36, 3, 2, act=None)
        high = net.act("relu", net.add(parts[0], up))
        low = net.act("relu", net.add(parts[1], down))
    net.output(net.conv(high, 17, 1), net.conv(low, 17, 1))


def bottleneck(net, x, inner, out, k, s, act, squeeze=None, gate="sigmoid"):
    """Expand, depthwise, squeeze and excite, project."""
    y = net.conv_bn(x, inner, 1, act=act) if inner != x.shape[1] else x
    y = net.depthwise(y, k, s, act=act)
    if squeeze:
        y = net.squeeze_excite(y, squeeze, "relu", gate)
    y = net.conv_bn(y, out, 1, act=None)
    return net.add(x, y) if x.shape == y.shape else y


V3_LARGE = ((3, 16, 16, 0, 0, 1), (3, 64, 24, 0, 0, 2), (3, 72, 24, 0, 0, 1), (5, 72, 40, 1, 0, 2),
            (5, 120, 40, 1, 0, 1), (3, 240, 80, 0, 1, 2), (3, 200, 80, 0, 1, 1),
            (3, 480, 112, 1, 1, 1), (5, 672, 160, 1, 1, 2), (5, 960, 160, 1, 1, 1))
V3_SMALL = ((3, 16, 16, 1, 0, 2), (3, 72, 24, 0, 0, 2), (3, 88, 24, 0, 0, 1), (5, 96, 40, 1, 1, 2),
            (5, 240, 40, 1, 1, 1), (5, 144, 48, 1, 1, 1), (5, 288, 96, 1, 1, 2),
            (5, 576, 96, 1, 1, 1))


@network(MOBILE, "mobilenetv3-large", rows=V3_LARGE)
@network(MOBILE, "mobilenetv3-small", rows=V3_SMALL)
@network(MOBILE, "mobilenetv3-small-b8", rows=V3_SMALL, batch=8)
def mobilenetv3(net, rows, batch=1):
    x = net.conv_bn(net.input(batch, 3, 224, 224), 16, 3, 2, act="hardswish")
    for k, inner, out, squeeze, hard, s in rows:
        act = "hardswish" if hard else "relu"
        x = bottleneck(net, x, inner, out, k, s, act, inner // 4 if squeeze else None,
                       "hardsigmoid")
    x = net.global_pool(net.conv_bn(x, 6 * x.shape[1], 1, act="hardswish"))
    x = net.node("Flatten", [x], x.shape[:2])
    net.output(net.gemm(net.gemm(x, 1024, "hardswish"), 1000))


@network(MOBILE, "mobilenetv1")
def mobilenetv1(net):
    x = stem(net, 224, 32)
    for out, s in ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1), (512, 1),
                   (512, 1), (1024, 2), (1024, 1)):
        x = net.conv_bn(net.depthwise(x, 3, s), out, 1)
    net.head(x)


@network(MOBILE, "mnasnet-silu", act="silu")
@network(MOBILE, "mnasnet-mish", act="mish")
@network(MOBILE, "mnasnet-prelu", act="prelu")
def mnasnet(net, act):
    x = stem(net, 192, 32, act=act)
    for inner, out, k, s in ((3, 24, 3, 2), (3, 24, 3, 1), (3, 40, 5, 2), (3, 40, 5, 1),
                             (6, 80, 5, 2), (6, 80, 5, 1), (6, 96, 3, 1), (6, 192, 5, 2),
                             (6, 192, 5, 1)):
        x = bottleneck(net, x, x.shape[1] * inner, out, k, s, act)
    net.head(x)


def shuffle(net, x, groups=2):
    n, c, h, w = x.shape
    y = net.transpose(net.reshape(x, n, groups, c // groups, h, w), 0, 2, 1, 3, 4)
    return net.reshape(y, n, c, h, w)


@network(MOBILE, "shufflenetv2-x1")
def shufflenet(net):
    x = net.pool(stem(net, 224, 24), 3, 2, pad=1)
    for out, count in ((116, 3), (232, 5), (464, 3)):
        half = out // 2
        left = net.conv_bn(net.depthwise(x, 3, 2, act=None), half, 1)
        y = net.depthwise(net.conv_bn(x, half, 1), 3, 2, act=None)
        x = shuffle(net, net.concat([left, net.conv_bn(y, half, 1)]))
        for _ in range(count):
            left, y = net.split(x, [half, half])
            y = net.depthwise(net.conv_bn(y, half, 1), 3, act=None)
            x = shuffle(net, net.concat([left, net.conv_bn(y, half, 1)]))
    net.head(net.conv_bn(x, 1024, 1))


@network(MOBILE, "shufflenetv1-g3")
def shufflenetv1(net):
    x = net.pool(stem(net, 224, 24), 3, 2, pad=1)
    for out, count in ((240, 3), (480, 5), (960, 3)):
        for i in range(count + 1):
            s, made = (1, out) if i else (2, out - x.shape[1])
            y = net.conv_bn(x, out // 4 // 3 * 3, 1, g=3 if x.shape[1] > 24 else 1)
            y = net.depthwise(shuffle(net, y, 3), 3, s, act=None)
            y = net.conv_bn(y, made, 1, g=3, act=None)
            x = net.act("relu", net.add(x, y) if i else net.concat(
                [net.pool(x, 3, 2, "AveragePool", 1), y]))
    net.head(x)


@network(MOBILE, "ghostnet")
def ghostnet(net):
    def ghost(x, out, act):
        y = net.conv_bn(x, out // 2, 1, act=act)
        return net.concat([y, net.depthwise(y, 3, act=act)])

    x = stem(net, 224, 16)
    for inner, out, k, s in ((16, 16, 3, 1), (48, 24, 3, 2), (72, 24, 3, 1), (72, 40, 5, 2),
                             (120, 40, 5, 1), (240, 80, 3, 2), (200, 80, 3, 1), (480, 112, 3, 1),
                             (672, 160, 5, 2), (960, 160, 5, 1)):
        y = ghost(x, inner, "relu")
        if s == 2:
            y = net.depthwise(y, k, 2, act=None)
        if k == 5:
            y = net.squeeze_excite(y, inner // 4, "relu", "hardsigmoid")
        y = ghost(y, out, None)
        if x.shape != y.shape:
            x = net.conv_bn(net.depthwise(x, k, s, act=None), out, 1, act=None)
        x = net.add(x, y)
    net.head(net.conv_bn(x, 960, 1))


@network(MOBILE, "mobileone-s0")
def mobileone(net):
    x = net.conv(net.input(1, 3, 224, 224), 48, 3, 2, act="relu")
    for out, count in ((48, 2), (128, 4), (256, 5), (1024, 1)):
        for i in range(count):
            x = net.depthwise(x, 3, 1 if i else 2, norm=False)
            x = net.conv(x, out, 1, act="relu")
    net.head(x)
