# SPDX-License-Identifier: Apache-2.0
"""Dense prediction on pictures and video: segmentation, detection, flow."""

import numpy as np
from registry import network

SEGMENTATION, DETECTION, FLOW, VIDEO = "segmentation", "detection", "optical flow", "video"


def backbone(net, size, widths=(32, 64, 128, 256), act="relu"):
    x = net.input(1, 3, size, size)
    levels = []
    for width in widths:
        x = net.conv_bn(x, width, 3, 2, act=act)
        y = net.conv_bn(net.conv_bn(x, width, 1, act=act), width, 3, act=act)
        x = net.add(x, y)
        levels.append(x)
    return levels


@network(SEGMENTATION, "deeplabv3-aspp", rates=(6, 12, 18), size=256)
@network(SEGMENTATION, "deeplabv3-aspp-28", rates=(12, 24, 36), size=448)
def deeplab(net, rates, size):
    x = backbone(net, size)[-1]
    parts = [net.conv_bn(x, 128, 1)]
    parts += [net.conv_bn(x, 128, 3, d=rate) for rate in rates]
    pooled = net.conv_bn(net.global_pool(x), 128, 1)
    parts.append(net.resize(pooled, x.shape[2]))
    x = net.conv_bn(net.concat(parts), 128, 1)
    net.output(net.resize(net.conv(x, 21, 1), 8, "linear"))


@network(SEGMENTATION, "drn-dilated")
def drn(net):
    x = backbone(net, 256)[1]
    for rate in (2, 2, 4, 4, 8, 8):
        y = net.conv_bn(net.conv_bn(x, 64, 3, d=rate), 64, 3, d=rate, act=None)
        x = net.act("relu", net.add(x, y))
    net.output(net.resize(net.conv(x, 19, 1), 4, "linear"))


@network(SEGMENTATION, "unet-leaky", act="leaky")
@network(SEGMENTATION, "unet-transpose", act="relu", transpose=True)
def unet(net, act, transpose=False):
    x, skips = net.input(1, 3, 192, 192), []
    for width in (32, 64, 128, 256):
        x = net.conv_bn(net.conv_bn(x, width, act=act), width, act=act)
        skips.append(x)
        x = net.pool(x)
    x = net.conv_bn(x, 512, act=act)
    for skip in reversed(skips):
        width = skip.shape[1]
        x = net.conv_transpose(x, width, 2, 2) if transpose else net.resize(x, 2, "linear")
        x = net.conv_bn(net.concat([skip, x]), width, act=act)
        x = net.conv_bn(x, width, act=act)
    net.output(net.conv(x, 2, 1))


@network(SEGMENTATION, "pspnet-head")
def pspnet(net):
    x = backbone(net, 384)[-1]
    parts = [x]
    for k in (24, 12, 8, 4):
        y = net.conv_bn(net.pool(x, k, k, "AveragePool"), 64, 1)
        parts.append(net.resize(y, x.shape[2] // y.shape[2], "linear"))
    net.output(net.resize(net.conv(net.conv_bn(net.concat(parts), 128), 21, 1), 8, "linear"))


@network(SEGMENTATION, "segformer-b0-half")
def segformer(net):
    x, outs = net.input(1, 3, 256, 256), []
    for stage, (width, heads, reduce) in enumerate(((32, 1, 8), (64, 2, 4), (160, 5, 2),
                                                    (256, 8, 1))):
        x = net.conv(x, width, 7 if not stage else 3, 4 if not stage else 2)
        n, c, h, w = x.shape
        y = net.layer_norm(net.tokens(x))
        z = net.layer_norm(y)
        context = z
        if reduce > 1:
            context = net.conv(net.picture(z, h, w), c, reduce, reduce, pad=0)
            context = net.layer_norm(net.tokens(context))
        y = net.add(y, net.attention(z, heads, context))
        z = net.picture(net.linear(net.layer_norm(y), 4 * c), h, w)
        z = net.act("gelu", net.tokens(net.depthwise(z, act=None, norm=False)))
        y = net.layer_norm(net.add(y, net.linear(z, c)))
        x = net.picture(y, h, w)
        outs.append(net.resize(net.conv(x, 128, 1), 2**stage, "linear"))
    net.output(net.conv(net.conv_bn(net.concat(outs), 128, 1), 19, 1))


@network(DETECTION, "yolov5n-nms")
@network(DETECTION, "yolov4-mish", act="mish")
@network(DETECTION, "yolov3-leaky", act="leaky", width=32)
def yolo(net, act="silu", width=16):
    """A CSP backbone, three heads, boxes decoded, non-maximum suppression."""
    x = net.conv_bn(net.input(1, 3, 320, 320), width, 6, 2, act=act, pad=2)
    levels = []
    for stage in range(4):
        out = width * 2 << stage
        x = net.conv_bn(x, out, 3, 2, act=act)
        a, b = net.conv_bn(x, out // 2, 1, act=act), net.conv_bn(x, out // 2, 1, act=act)
        a = net.add(a, net.conv_bn(net.conv_bn(a, out // 2, 1, act=act), out // 2, act=act))
        x = net.conv_bn(net.concat([a, b]), out, 1, act=act)
        levels.append(x)
    y = net.conv_bn(x, x.shape[1] // 2, 1, act=act)
    pools = [y]
    for _ in range(3):
        pools.append(net.pool(pools[-1], 5, 1, pad=2))
    levels[-1] = net.conv_bn(net.concat(pools), x.shape[1], 1, act=act)
    boxes, scores = [], []
    for level in levels[1:]:
        y = net.conv(level, 255, 1)
        n, _, h, w = y.shape
        y = net.transpose(net.reshape(y, 1, 3, 85, h, w), 0, 1, 3, 4, 2)
        y = net.unary("Sigmoid", y)
        centre, size, rest = net.split(y, [2, 2, 81], 4)
        centre = net.mul(net.add(net.mul(centre, 2.0), net.weight(1, 1, h, w, 2)), 16.0)
        size = net.mul(net.binary("Pow", net.mul(size, 2.0), 2.0), net.uniform(5, 9, 1, 3, 1, 1, 2))
        half = net.mul(size, 0.5)
        corners = net.concat([net.sub(centre, half), net.add(centre, half)], 4)
        boxes.append(net.reshape(corners, 1, -1, 4))
        scores.append(net.reshape(rest, 1, -1, 81))
    boxes, scores = net.concat(boxes), net.concat(scores)
    scores = net.mul(net.slice(scores, 1, 81, 2), net.slice(scores, 0, 1, 2))
    net.output(boxes)
    picked = net.node("NonMaxSuppression",
                      [boxes, net.transpose(scores, 0, 2, 1), net.constant([10], np.int64),
                       net.constant([0.45]), net.constant([0.6])], (None, 3))
    net.output(picked, dtype=np.int64)


@network(DETECTION, "yolov8n-dfl")
def yolov8(net):
    levels = backbone(net, 320, (16, 32, 64, 128), "silu")
    parts = []
    for level in levels[1:]:
        box = net.conv(net.conv_bn(level, 64, act="silu"), 64, 1)
        label = net.conv(net.conv_bn(level, 80, act="silu"), 80, 1)
        parts.append(net.reshape(net.concat([box, label]), 1, 144, -1))
    x = net.concat(parts, 2)
    box, label = net.split(x, [64, 80])
    n = x.shape[2]
    y = net.softmax(net.transpose(net.reshape(box, 1, 4, 16, n), 0, 2, 1, 3), 1)
    y = net.reshape(net.conv(y, 1, 1, bias=False), 1, 4, n)
    a, b = net.split(y, [2, 2])
    places = net.weight(1, 2, n)
    a, b = net.sub(places, a), net.add(b, places)
    y = net.concat([net.div(net.add(a, b), 2.0), net.sub(b, a)])
    net.output(net.concat([net.mul(y, net.uniform(8, 32, 1, n)), net.unary("Sigmoid", label)]))


@network(DETECTION, "centernet-topk")
def centernet(net):
    x = backbone(net, 256)[2]
    for width in (64, 32):
        x = net.act("relu", net.batch_norm(net.conv_transpose(x, width, 4, 2, 1)))
    heat = net.unary("Sigmoid", net.conv(net.conv(x, 64, act="relu"), 80, 1))
    size = net.conv(net.conv(x, 64, act="relu"), 2, 1)
    peak = net.node("Equal", [net.pool(heat, 3, 1, pad=1), heat], heat.shape)
    heat = net.mul(heat, net.node("Cast", [peak], heat.shape, to=1))
    n, c, h, w = heat.shape
    score, index = net.topk(net.reshape(heat, 1, -1), 100)
    place = net.node("Mod", [index, net.constant(h * w, np.int64)], index.shape)
    size = net.reshape(net.transpose(size, 0, 2, 3, 1), 1, h * w, 2)
    place = net.expand(net.unsqueeze(place, 2), 1, 100, 2)
    net.output(score, net.node("GatherElements", [size, place], place.shape, axis=1))


@network(DETECTION, "detr-slice")
def detr(net):
    x = net.tokens(net.conv(backbone(net, 320, (32, 64, 128, 256, 256))[-1], 256, 1))
    for _ in range(2):
        x = net.layer_norm(net.add(x, net.attention(net.add(x, net.weight(*x.shape)), 8)))
        x = net.layer_norm(net.add(x, net.mlp(x, 1024, "relu")))
    y = net.weight(1, 100, 256)
    for _ in range(2):
        y = net.layer_norm(net.add(y, net.attention(y, 8)))
        y = net.layer_norm(net.add(y, net.attention(y, 8, x)))
        y = net.layer_norm(net.add(y, net.mlp(y, 1024, "relu")))
    net.output(net.linear(y, 92), net.unary("Sigmoid", net.linear(net.mlp(y, 256, "relu"), 4)))


@network(DETECTION, "dcn-deform")
def deform(net):
    net.opset = 19
    x = backbone(net, 256)[2]
    for _ in range(2):
        offset = net.mul(net.conv(x, 18), 0.1)
        mask = net.unary("Sigmoid", net.conv(x, 9))
        c = x.shape[1]
        w = net.weight(c, c, 3, 3, scale=0.03)
        y = net.node("DeformConv", [x, w, offset, net.uniform(-0.1, 0.1, c), mask], x.shape,
                     kernel_shape=[3, 3], pads=[1] * 4, offset_group=1)
        x = net.act("relu", net.batch_norm(y))
    net.output(net.conv(x, 64, 1))


@network(FLOW, "raft-slice")
def raft(net):
    """All pairs correlated, looked up along the flow by GridSample, a convolutional GRU."""
    first = backbone(net, 256, (32, 64, 96))[-1]
    second = backbone(net, 256, (32, 64, 96))[-1]
    n, c, h, w = first.shape
    a, b = net.tokens(first), net.reshape(second, n, c, h * w)
    volume = net.div(net.matmul(a, b), np.sqrt(c))
    volume = net.reshape(volume, h * w, 1, h, w)
    hidden, flow = net.unary("Tanh", first), net.conv(first, 2, 1)
    for _ in range(3):
        grid = net.reshape(net.tokens(flow), h * w, 1, 1, 2)
        grid = net.add(net.mul(grid, 0.05), net.uniform(-0.3, 0.3, 1, 7, 7, 2))
        seen = net.node("GridSample", [volume, grid], (h * w, 1, 7, 7), mode="bilinear",
                        align_corners=1)
        seen = net.picture(net.reshape(seen, 1, h * w, 49), h, w)
        x = net.conv(net.concat([net.conv(seen, 64, 1, act="relu"), flow]), 64, act="relu")
        joined = net.concat([hidden, x])
        z, r = (net.unary("Sigmoid", net.conv(joined, c)) for _ in range(2))
        q = net.unary("Tanh", net.conv(net.concat([net.mul(r, hidden), x]), c))
        keep = net.mul(net.sub(net.constant(1.0), z), hidden)
        hidden = net.add(keep, net.mul(z, q))
        flow = net.add(flow, net.conv(net.conv(hidden, 64, act="relu"), 2))
    net.output(net.resize(flow, 8, "linear"))


@network(FLOW, "pwc-warp")
def pwc(net):
    a, b = backbone(net, 256, (16, 32, 64))[-1], backbone(net, 256, (16, 32, 64))[-1]
    n, c, h, w = a.shape
    flow = net.conv(net.concat([a, b]), 2)
    grid = net.mul(net.transpose(flow, 0, 2, 3, 1), 0.1)
    warped = net.node("GridSample", [b, grid], b.shape, mode="bilinear", padding_mode="border",
                      align_corners=0)
    pads = net.ints(0, 0, 4, 4, 0, 0, 4, 4)
    padded = net.node("Pad", [warped, pads], (n, c, h + 8, w + 8))
    costs = []
    for dy in range(0, 9, 2):
        for dx in range(0, 9, 2):
            part = net.slice(net.slice(padded, dy, dy + h, 2), dx, dx + w, 3)
            costs.append(net.reduce("ReduceMean", net.mul(a, part), [1]))
    x = net.act("leaky", net.concat(costs))
    for width in (128, 96, 64):
        x = net.concat([x, net.conv(x, width, act="leaky")])
    net.output(net.conv(x, 2))


@network(VIDEO, "r3d-slice")
@network(VIDEO, "r2plus1d-slice", factored=True)
def r3d(net, factored=False):
    x = net.conv_bn(net.input(1, 3, 8, 112, 112), 32, (3, 7, 7), (1, 2, 2))
    for width, s in ((32, 1), (64, 2), (128, 2)):
        for i in range(2):
            step = s if not i else 1
            if factored:
                y = net.conv_bn(x, width, (1, 3, 3), (1, step, step))
                y = net.conv_bn(y, width, (3, 1, 1), (step, 1, 1), act=None)
            else:
                y = net.conv_bn(net.conv_bn(x, width, 3, step), width, 3, act=None)
            if x.shape != y.shape:
                x = net.conv_bn(x, width, 1, step, act=None)
            x = net.act("relu", net.add(x, y))
    net.head(x, 400)


@network(VIDEO, "x3d-slice")
def x3d(net):
    x = net.conv_bn(net.input(1, 3, 8, 128, 128), 24, (1, 3, 3), (1, 2, 2))
    for width, count in ((24, 2), (48, 3), (96, 3)):
        for i in range(count):
            s = (1, 1, 1) if i else (1, 2, 2)
            y = net.depthwise(net.conv_bn(x, width * 9 // 4, 1), 3, s, act=None)
            y = net.act("silu", net.squeeze_excite(y, 16))
            y = net.conv_bn(y, width, 1, act=None)
            if x.shape != y.shape:
                x = net.conv_bn(x, width, 1, s, act=None)
            x = net.act("relu", net.add(x, y))
    net.head(x, 400)


@network(VIDEO, "vnet-3d")
def vnet(net):
    x, skips = net.input(1, 1, 16, 64, 64), []
    for width in (16, 32, 64):
        x = net.conv(x, width, 3, act="prelu")
        skips.append(x)
        x = net.conv(x, width * 2, 2, 2, pad=0, act="prelu")
    for skip in reversed(skips):
        x = net.act("prelu", net.conv_transpose(x, skip.shape[1], 2, 2))
        x = net.conv(net.concat([skip, x]), skip.shape[1], 3, act="prelu")
    net.output(net.conv(x, 2, 1))
