# SPDX-License-Identifier: Apache-2.0
"""Pyramids and heads of detectors, and segmentation beyond the encoder and decoder."""

import numpy as np
from dense import DETECTION, FLOW, SEGMENTATION, backbone
from registry import network


def pyramid(net, levels, width=64):
    """A feature pyramid: the coarser level, enlarged, is added to the finer one."""
    x, made = None, []
    for level in reversed(levels):
        side = net.conv(level, width, 1)
        x = side if x is None else net.add(side, net.resize(x, 2))
        made.append(net.conv(x, width))
    return made[::-1]


def flat_boxes(net, x, size):
    """anchors * size maps as anchors of all places x size."""
    n, c, h, w = x.shape
    y = net.transpose(net.reshape(x, n, c // size, size, h, w), 0, 3, 4, 1, 2)
    return net.reshape(y, n, -1, size)


@network(DETECTION, "retinanet-head", anchors=9)
@network(DETECTION, "retinanet-head-groupnorm", anchors=3, norm=True)
def retinanet(net, anchors, norm=False):
    levels = pyramid(net, backbone(net, 256)[1:])
    levels.append(net.conv(levels[-1], 64, 3, 2))
    labels, boxes = [], []
    for level in levels:
        a = b = level
        for _ in range(2):
            a, b = net.conv(a, 64), net.conv(b, 64)
            if norm:
                a, b = net.group_norm(a, 8), net.group_norm(b, 8)
            a, b = net.act("relu", a), net.act("relu", b)
        labels.append(flat_boxes(net, net.unary("Sigmoid", net.conv(a, anchors * 20)), 20))
        boxes.append(flat_boxes(net, net.conv(b, anchors * 4), 4))
    boxes, labels = net.concat(boxes, 1), net.concat(labels, 1)
    best, _ = net.topk(net.reduce("ReduceMax", labels, [2], False), 200)
    places = net.uniform(16, 240, 1, boxes.shape[1], 2)
    sizes = net.uniform(16, 64, 1, boxes.shape[1], 2)
    shift, grow = net.split(boxes, [2, 2], 2)
    centre = net.add(net.mul(shift, sizes), places)
    half = net.mul(net.mul(net.unary("Exp", net.mul(grow, 0.1)), sizes), 0.5)
    net.output(net.concat([net.sub(centre, half), net.add(centre, half)], 2), best)


@network(DETECTION, "fcos-head")
def fcos(net):
    """Distances of sides by exponentials, a centreness that scales the labels."""
    labels, boxes = [], []
    for level in pyramid(net, backbone(net, 256)[1:]):
        a = b = level
        for _ in range(2):
            a = net.act("relu", net.group_norm(net.conv(a, 64), 16))
            b = net.act("relu", net.group_norm(net.conv(b, 64), 16))
        centre = net.unary("Sigmoid", net.conv(b, 1))
        label = net.mul(net.unary("Sigmoid", net.conv(a, 20)), centre)
        labels.append(flat_boxes(net, net.unary("Sqrt", label), 20))
        boxes.append(flat_boxes(net, net.unary("Exp", net.mul(net.conv(b, 4), 0.1)), 4))
    net.output(net.concat(labels, 1), net.concat(boxes, 1))


@network(DETECTION, "efficientdet-bifpn")
def efficientdet(net):
    """Levels joined with weights that are learnt, separable convolutions."""
    levels = [net.conv(level, 48, 1) for level in backbone(net, 256)[1:]]

    def join(*parts):
        total = None
        for part in parts:
            part = net.mul(part, net.uniform(0.2, 0.5, 1))
            total = part if total is None else net.add(total, part)
        y = net.depthwise(net.act("silu", total), act=None, norm=False)
        return net.batch_norm(net.conv(y, 48, 1))

    for _ in range(2):
        down = [levels[-1]]
        for level in reversed(levels[:-1]):
            down.append(join(level, net.resize(down[-1], 2)))
        down = down[::-1]
        up = [down[0]]
        for level, made in zip(levels[1:], down[1:]):
            up.append(join(level, made, net.pool(up[-1], 3, 2, pad=1)))
        levels = up
    outs = [flat_boxes(net, net.conv(net.depthwise(y, act="silu", norm=False), 9 * 4, 1), 4)
            for y in levels]
    net.output(net.concat(outs, 1))


@network(DETECTION, "ssd-mobilenet-heads")
def ssd(net):
    x = net.conv_bn(net.input(1, 3, 224, 224), 16, 3, 2, act="relu6")
    outs = []
    for width, s in ((32, 2), (64, 2), (128, 2), (128, 1), (192, 2), (128, 2)):
        x = net.conv_bn(net.depthwise(x, 3, s, act="relu6"), width, 1, act="relu6")
        if width >= 128:
            outs.append(flat_boxes(net, net.conv(x, 6 * 25, 1), 25))
    y = net.concat(outs, 1)
    boxes, labels = net.split(y, [4, 21], 2)
    net.output(boxes, net.softmax(labels))


@network(DETECTION, "yolox-decoupled")
def yolox(net):
    x = net.input(1, 3, 320, 320)
    parts = [net.slice(net.slice(x, i, 320, 2, 2), j, 320, 3, 2) for j in (0, 1) for i in (0, 1)]
    x = net.conv_bn(net.concat(parts), 16, act="silu")
    levels = []
    for width in (32, 64, 128):
        x = net.conv_bn(x, width, 3, 2, act="silu")
        x = net.add(x, net.conv_bn(net.conv_bn(x, width // 2, 1, act="silu"), width, act="silu"))
        levels.append(x)
    outs = []
    for level in levels:
        y = net.conv_bn(level, 64, 1, act="silu")
        a, b = net.conv_bn(y, 64, act="silu"), net.conv_bn(y, 64, act="silu")
        score = net.unary("Sigmoid", net.conv(b, 1, 1))
        label = net.unary("Sigmoid", net.conv(a, 80, 1))
        y = net.concat([net.conv(b, 4, 1), score, label])
        outs.append(net.reshape(y, 1, 85, -1))
    net.output(net.transpose(net.concat(outs, 2), 0, 2, 1))


@network(DETECTION, "mask-rcnn-roi-heads")
def mask_rcnn(net):
    """Regions given, aligned from the pyramid, classified, and their masks."""
    level = pyramid(net, backbone(net, 256)[1:], 96)[0]
    draws = np.random.default_rng(8)
    corners = draws.uniform(0, 120, (50, 2))
    regions = np.concatenate([corners, corners + draws.uniform(16, 120, (50, 2))], 1)
    regions = net.input(50, 4, values=regions.astype(np.float32))
    index = net.constant(np.zeros(50), np.int64)

    def aligned(size):
        return net.node("RoiAlign", [level, regions, index], (50, 96, size, size), mode="avg",
                        output_height=size, output_width=size, sampling_ratio=2,
                        spatial_scale=1 / 8, coordinate_transformation_mode="half_pixel")

    y = net.reshape(aligned(7), 50, -1)
    y = net.gemm(net.gemm(y, 256, "relu"), 256, "relu")
    x = aligned(14)
    for _ in range(2):
        x = net.conv(x, 96, act="relu")
    x = net.act("relu", net.conv_transpose(x, 96, 2, 2))
    masks = net.unary("Sigmoid", net.conv(x, 21, 1))
    net.output(net.softmax(net.gemm(y, 21)), net.gemm(y, 80), masks)


@network(DETECTION, "centernet-heads-dla")
def centernet_heads(net):
    """Levels joined by transposed depthwise convolutions, three heads."""
    levels = backbone(net, 256, (32, 64, 128))
    x = levels[-1]
    for level in reversed(levels[:-1]):
        y = net.conv_bn(x, level.shape[1], 1)
        y = net.conv_transpose(y, y.shape[1], 4, 2, 1, g=y.shape[1])
        x = net.conv_bn(net.add(y, level), level.shape[1])
    heads = [net.conv(net.conv(x, 64, act="relu"), width, 1) for width in (20, 2, 2)]
    net.output(net.unary("Sigmoid", heads[0]), *heads[1:])


@network(SEGMENTATION, "fpn-semantic")
def semantic(net):
    parts = []
    for i, level in enumerate(pyramid(net, backbone(net, 256))):
        for _ in range(max(i, 1)):
            level = net.act("relu", net.group_norm(net.conv(level, 64), 32))
            if i:
                level = net.resize(level, 2, "linear")
        parts.append(level)
    total = parts[0]
    for part in parts[1:]:
        total = net.add(total, part)
    net.output(net.resize(net.conv(total, 19, 1), 2, "linear"))


@network(SEGMENTATION, "pspnet-50-shape")
def pspnet(net):
    """Means of 1, 2, 3 and 6 parts of a dilated map of 24 x 24."""
    x = backbone(net, 192, (32, 64, 128))[-1]
    for rate in (2, 4):
        x = net.conv_bn(net.conv_bn(x, 128, 3, d=rate), 256, 1)
    parts = [x]
    for cells in (1, 2, 3, 6):
        k = x.shape[2] // cells
        y = net.conv_bn(net.pool(x, k, k, "AveragePool"), 64, 1)
        parts.append(net.resize(y, k, "linear"))
    net.output(net.resize(net.conv(net.conv_bn(net.concat(parts), 128), 19, 1), 8, "linear"))


@network(SEGMENTATION, "dpt-depth")
def dpt(net):
    """A vision transformer whose layers become a pyramid of pictures: depth."""
    x = net.tokens(net.conv(net.input(1, 3, 192, 192), 192, 16, 16, pad=0))
    x = net.add(x, net.weight(*x.shape, scale=0.1))
    taken = []
    for _ in range(4):
        x = net.add(x, net.attention(net.layer_norm(x), 3))
        x = net.add(x, net.mlp(net.layer_norm(x), 768))
        taken.append(net.picture(x, 12, 12))

    def refined(y):
        for _ in range(2):
            z = net.conv(net.act("relu", y), 64, act="relu")
            y = net.add(y, net.conv(z, 64))
        return y

    y = None
    for i, level in enumerate(reversed(taken)):
        z = net.conv(level, 64, 1)
        z = net.conv_transpose(z, 64, 1 << i, 1 << i) if i else z
        z = refined(net.conv(z, 64))
        y = net.resize(refined(z if y is None else net.add(y, z)), 2, "linear")
    y = net.conv(net.conv(y, 32), 32, act="relu")
    net.output(net.act("relu", net.conv(y, 1, 1)))


@network(SEGMENTATION, "bisenet-two-paths")
def bisenet(net):
    x = net.input(1, 3, 256, 256)
    fine = x
    for width in (32, 64, 96):
        fine = net.conv_bn(net.conv_bn(fine, width, 3, 2), width)
    wide = net.conv_bn(x, 16, 3, 4)
    for width in (32, 64, 128):
        y = net.conv_bn(wide, width * 2, 1)
        wide = net.conv_bn(net.depthwise(y, 3, 2, act=None), width, 1)
    wide = net.mul(wide, net.unary("Sigmoid", net.conv(net.global_pool(wide), 128, 1)))
    joined = net.concat([fine, net.resize(wide, 4, "linear")])
    joined = net.conv_bn(joined, 96, 1)
    joined = net.add(joined, net.squeeze_excite(joined, 24))
    net.output(net.resize(net.conv(joined, 19, 1), 8, "linear"))


@network(SEGMENTATION, "enet-asymmetric")
def enet(net):
    x = net.input(1, 3, 256, 256)
    x = net.concat([net.conv(x, 13, 3, 2), net.pool(x)])
    x = net.act("prelu", net.batch_norm(net.conv(x, 64, 3, 2)))
    for d in (1, 2, 4, 8):
        y = net.conv_bn(x, 16, 1, act="prelu")
        y = net.conv_bn(y, 16, 3, d=d, act="prelu")
        y = net.conv_bn(net.conv_bn(y, 16, (5, 1), act=None), 16, (1, 5), act="prelu")
        x = net.act("prelu", net.add(x, net.conv_bn(y, 64, 1, act=None)))
    net.output(net.conv_transpose(net.conv_transpose(x, 16, 2, 2), 19, 2, 2))


@network(SEGMENTATION, "unet-plus-plus")
def unet_plus_plus(net):
    levels = [net.conv_bn(net.input(1, 3, 128, 128), 16)]
    for width in (32, 64, 128):
        levels.append(net.conv_bn(net.pool(levels[-1]), width))
    rows = [[level] for level in levels]
    for step in range(1, 4):
        for i in range(4 - step):
            parts = [*rows[i], net.resize(rows[i + 1][step - 1], 2, "linear")]
            rows[i].append(net.conv_bn(net.concat(parts), levels[i].shape[1]))
    net.output(net.conv(rows[0][-1], 2, 1))


@network(FLOW, "raft-small-updates")
def raft_small(net):
    """A pyramid of correlations, looked up around the flow, six updates."""
    a, b = (net.conv(backbone(net, 192, (24, 48, 64))[-1], 64, 1) for _ in range(2))
    n, c, h, w = a.shape
    volume = net.matmul(net.tokens(a), net.reshape(b, n, c, h * w))
    volume = net.reshape(net.div(volume, np.sqrt(c)), h * w, 1, h, w)
    levels = [volume, net.pool(volume, 2, 2, "AveragePool")]
    window = net.uniform(-0.3, 0.3, 1, 5, 5, 2)
    hidden, flow = net.unary("Tanh", a), net.mul(net.conv(a, 2, 1), 0.1)
    for _ in range(3):
        place = net.reshape(net.transpose(flow, 0, 2, 3, 1), h * w, 1, 1, 2)
        grid = net.add(net.mul(place, 0.1), window)
        seen = [net.reshape(net.node("GridSample", [level, grid], (h * w, 1, 5, 5),
                                     mode="bilinear", align_corners=1), 1, h * w, 25)
                for level in levels]
        seen = net.picture(net.concat(seen, 2), h, w)
        x = net.concat([net.conv(seen, 48, 1, act="relu"), net.conv(flow, 16, 7, act="relu")])
        for k in ((1, 5), (5, 1)):
            joined = net.concat([hidden, x])
            z, r = (net.unary("Sigmoid", net.conv(joined, c, k)) for _ in range(2))
            q = net.unary("Tanh", net.conv(net.concat([net.mul(r, hidden), x]), c, k))
            hidden = net.add(net.mul(net.sub(net.constant(1.0), z), hidden), net.mul(z, q))
        flow = net.add(flow, net.mul(net.conv(net.conv(hidden, 64, act="relu"), 2), 0.1))
    net.output(flow)
