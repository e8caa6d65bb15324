# SPDX-License-Identifier: Apache-2.0
"""Recommendation, time series, point clouds, graphs, and very small models."""

import numpy as np
from registry import network

RECOMMEND, SERIES, POINTS, TINY = "recommendation", "time series", "point clouds", "tiny"


def mlp(net, x, *widths, act="relu", last=None):
    for i, width in enumerate(widths):
        x = net.gemm(x, width, act if i + 1 < len(widths) else last)
    return x


@network(RECOMMEND, "dlrm-b128", batch=128)
@network(RECOMMEND, "dlrm-b1", batch=1)
def dlrm(net, batch):
    dense = mlp(net, net.input(batch, 13), 512, 256, 64, last="relu")
    rows = [net.unsqueeze(dense, 1)]
    for _ in range(26):
        rows.append(net.embed(1000, 64, net.input(batch, 1, most=1000)))
    x = net.concat(rows, 1)
    products = net.reshape(net.matmul(x, net.transpose(x, 0, 2, 1)), batch, -1)
    pairs = np.array([i * 27 + j for i in range(27) for j in range(i)], np.int64)
    flat = net.gather(products, net.array(pairs), 1)
    net.output(mlp(net, net.concat([dense, flat], 1), 512, 256, 1, last="sigmoid"))


@network(RECOMMEND, "deepfm-b256")
def deepfm(net):
    ids = net.input(256, 39, most=10000)
    x = net.embed(10000, 16, ids)
    total = net.reduce("ReduceSum", x, [1], False)
    squares = net.reduce("ReduceSum", net.binary("Pow", x, 2.0), [1], False)
    pairs = net.mul(net.sub(net.binary("Pow", total, 2.0), squares), 0.5)
    first = net.reduce("ReduceSum", net.embed(10000, 1, ids), [1], False)
    deep = mlp(net, net.reshape(x, 256, -1), 400, 400, 1)
    y = net.add(net.add(net.reduce("ReduceSum", pairs, [1]), first), deep)
    net.output(net.unary("Sigmoid", y))


@network(RECOMMEND, "dcn-v2-b64")
def dcn(net):
    x = net.reshape(net.embed(5000, 16, net.input(64, 26, most=5000)), 64, -1)
    y = x
    for _ in range(3):
        y = net.add(net.mul(x, net.gemm(y, x.width)), y)
    net.output(mlp(net, net.concat([y, mlp(net, x, 512, 256, last="relu")], 1), 1))


@network(RECOMMEND, "din-attention-b32")
def din(net):
    history = net.embed(5000, 32, net.input(32, 50, most=5000))
    item = net.embed(5000, 32, net.input(32, 1, most=5000))
    wide = net.expand(item, 32, 50, 32)
    x = net.concat([wide, history, net.sub(wide, history), net.mul(wide, history)], 2)
    x = net.linear(net.linear(net.linear(x, 80, act="sigmoid"), 40, act="sigmoid"), 1)
    weights = net.softmax(net.transpose(x, 0, 2, 1))
    y = net.concat([net.matmul(weights, history), item], 2)
    net.output(mlp(net, net.reshape(y, 32, 64), 200, 80, 1, act="prelu", last="sigmoid"))


@network(RECOMMEND, "sasrec-b16")
def sasrec(net):
    x = net.add(net.embed(10000, 64, net.input(16, 50, most=10000)), net.weight(1, 50, 64))
    mask = net.array(np.triu(np.full((1, 1, 50, 50), -1e9, np.float32), 1))
    for _ in range(2):
        x = net.add(x, net.attention(net.layer_norm(x), 2, mask=mask))
        x = net.add(x, net.mlp(net.layer_norm(x), 64, "relu"))
    net.output(net.layer_norm(x))


@network(SERIES, "patchtst")
def patchtst(net):
    x = net.linear(net.input(7, 42, 16), 128)
    x = net.add(x, net.weight(1, 42, 128, scale=0.1))
    for _ in range(3):
        x = net.add(x, net.attention(x, 16))
        x = net.transpose(net.batch_norm(net.transpose(x, 0, 2, 1)), 0, 2, 1)
        x = net.add(x, net.mlp(x, 256))
        x = net.transpose(net.batch_norm(net.transpose(x, 0, 2, 1)), 0, 2, 1)
    net.output(net.gemm(net.reshape(x, 7, -1), 96))


@network(SERIES, "nbeats-b32")
def nbeats(net):
    x, total = net.input(32, 168), None
    for _ in range(4):
        y = mlp(net, x, 256, 256, 256, last="relu")
        x = net.sub(x, net.gemm(y, 168))
        made = net.gemm(y, 24)
        total = made if total is None else net.add(total, made)
    net.output(total)


@network(SERIES, "tcn-b4")
def tcn(net):
    x = net.input(4, 8, 512)
    for width, d in ((32, 1), (64, 2), (64, 4), (64, 8), (64, 16)):
        y = net.conv(x, width, 3, d=d, pad=2 * d, act="relu")
        y = net.slice(y, 0, 512, 2)
        y = net.slice(net.conv(y, width, 3, d=d, pad=2 * d, act="relu"), 0, 512, 2)
        x = net.act("relu", net.add(y, x if x.shape == y.shape else net.conv(x, width, 1)))
    net.output(net.conv(x, 1, 1))


@network(SERIES, "lstm-forecast-b8", op="LSTM", gates=4)
@network(SERIES, "gru-forecast-b8", op="GRU", gates=3)
def recurrent(net, op, gates):
    x = net.input(96, 8, 16)
    for size in (128, 128):
        y = net.several(op, [x, net.weight(1, gates * size, x.width, scale=0.1),
                             net.weight(1, gates * size, size, scale=0.1),
                             net.uniform(-0.1, 0.1, 1, 2 * gates * size)],
                        [(96, 1, 8, size)], hidden_size=size)[0]
        x = net.reshape(y, 96, 8, size)
    net.output(net.linear(net.slice(x, 95, 96, 0), 24))


@network(SERIES, "timesnet-inception")
def timesnet(net):
    x = net.input(1, 64, 24, 24)
    for _ in range(2):
        parts = [net.conv(x, 64, k) for k in (1, 3, 5, 7)]
        y = parts[0]
        for part in parts[1:]:
            y = net.add(y, part)
        x = net.add(net.act("gelu", net.div(y, 4.0)), x)
    net.output(x)


@network(POINTS, "pointnet")
def pointnet(net):
    x = net.input(1, 3, 2048)
    for width in (64, 128, 1024):
        x = net.conv_bn(x, width, 1)
    x = net.reduce("ReduceMax", x, [2], False)
    net.output(mlp(net, x, 512, 256, 40))


@network(POINTS, "pointnet2-grouping")
def pointnet2(net):
    """Farthest points given, neighbours by distances and TopK, gathered and convolved."""
    places, picked = net.input(1, 1024, 3), net.input(1, 256, 3)
    cross = net.mul(net.matmul(picked, net.transpose(places, 0, 2, 1)), -2.0)
    a = net.reduce("ReduceSum", net.binary("Pow", picked, 2.0), [-1])
    b = net.reduce("ReduceSum", net.binary("Pow", places, 2.0), [-1])
    distance = net.add(net.add(cross, a), net.transpose(b, 0, 2, 1))
    _, index = net.topk(net.unary("Neg", distance), 32)
    near = net.gather(net.reshape(places, 1024, 3), net.reshape(index, 256, 32))
    near = net.sub(near, net.unsqueeze(net.reshape(picked, 256, 3), 1))
    x = net.transpose(net.reshape(near, 1, 256, 32, 3), 0, 3, 2, 1)
    for width in (64, 64, 128):
        x = net.conv_bn(x, width, 1)
    x = net.reduce("ReduceMax", x, [2], False)
    for width in (128, 256):
        x = net.conv_bn(x, width, 1)
    net.output(net.reduce("ReduceMax", x, [2], False))


@network(POINTS, "dgcnn-edges")
def dgcnn(net):
    x = net.input(1, 512, 3)
    outs = []
    for width in (64, 64, 128):
        c = x.width
        square = net.reduce("ReduceSum", net.mul(x, x), [-1])
        cross = net.mul(net.matmul(x, net.transpose(x, 0, 2, 1)), 2.0)
        distance = net.sub(net.sub(cross, square), net.transpose(square, 0, 2, 1))
        _, index = net.topk(distance, 20)
        near = net.gather(net.reshape(x, 512, c), net.reshape(index, 512, 20))
        own = net.expand(net.reshape(x, 512, 1, c), 512, 20, c)
        y = net.concat([net.sub(near, own), own], 2)
        y = net.transpose(net.reshape(y, 1, 512, 20, 2 * c), 0, 3, 1, 2)
        y = net.reduce("ReduceMax", net.conv_bn(y, width, 1, act="leaky"), [3], False)
        x = net.transpose(y, 0, 2, 1)
        outs.append(x)
    net.output(net.linear(net.concat(outs, 2), 40))


@network(POINTS, "pointpillars-scatter")
def pillars(net):
    x = net.input(1, 2000, 20, 9)
    x = net.reduce("ReduceMax", net.linear(x, 64, act="relu"), [2], False)
    cells = np.random.default_rng(3).permutation(96 * 96)[:2000].astype(np.int64)
    index = net.input(2000, 1, values=cells[:, None])
    empty = net.constant(np.zeros((96 * 96, 64)))
    grid = net.node("ScatterND", [empty, index, net.reshape(x, 2000, 64)], (96 * 96, 64))
    x = net.reshape(net.transpose(grid, 1, 0), 1, 64, 96, 96)
    for width in (64, 128):
        x = net.conv_bn(net.conv_bn(x, width, 3, 2), width)
    net.output(net.conv(x, 14, 1))


@network(POINTS, "gcn-scatter")
def gcn(net):
    nodes, edges = 2000, 10000
    x = net.input(nodes, 64)
    draws = np.random.default_rng(4)
    source = net.input(edges, values=draws.integers(0, nodes, edges, np.int64))
    target = net.input(edges, 1, values=draws.integers(0, nodes, (edges, 1), np.int64))
    wide = net.expand(target, edges, 64)
    for _ in range(2):
        messages = net.gather(net.linear(x, 64), source)
        zero = net.constant(np.zeros((nodes, 64)))
        x = net.act("relu", net.node("ScatterElements", [zero, wide, messages], (nodes, 64),
                                     axis=0, reduction="add"))
    net.output(net.linear(x, 16))


@network(TINY, "mlp-64")
def tiny_mlp(net):
    net.output(mlp(net, net.input(1, 64), 64, 64, 10))


@network(TINY, "lenet")
def lenet(net):
    x = net.pool(net.conv(net.input(1, 1, 28, 28), 6, 5, act="relu"))
    x = net.pool(net.conv(x, 16, 5, pad=0, act="relu"))
    net.output(mlp(net, net.reshape(x, 1, -1), 120, 84, 10))


@network(TINY, "kws-dscnn")
def dscnn(net):
    x = net.conv_bn(net.input(1, 1, 49, 10), 64, (10, 4), (2, 2), pad=(4, 1))
    for _ in range(4):
        x = net.conv_bn(net.depthwise(x), 64, 1)
    net.head(x, 12)


@network(TINY, "autoencoder-640")
def autoencoder(net):
    x = net.input(1, 640)
    for width in (128, 128, 8, 128, 128):
        x = net.act("relu", net.batch_norm(net.gemm(x, width)))
    net.output(net.gemm(x, 640))


@network(TINY, "elementwise-chain")
def chain(net):
    """Features standardised, squashed and joined: no product at all."""
    x = net.input(16, 256)
    y = net.div(net.sub(x, net.uniform(-1, 1, 256)), net.uniform(1, 2, 256))
    y = net.act("hardswish", net.mul(net.unary("Tanh", y), net.unary("Sigmoid", net.add(y, 0.5))))
    z = net.unary("Abs", net.sub(y, x))
    z = net.unary("Sqrt", net.add(net.mul(z, z), 1e-3))
    net.output(net.concat([y, net.unary("Log", net.add(z, 1.0))], 1))


@network(TINY, "gru-cell-step")
def gru_cell(net):
    x, h = net.input(1, 32), net.input(1, 64)
    a = net.split(net.gemm(x, 192), [64] * 3)
    b = net.split(net.gemm(h, 192), [64] * 3)
    r, z = (net.unary("Sigmoid", net.add(a[i], b[i])) for i in range(2))
    n = net.unary("Tanh", net.add(a[2], net.mul(r, b[2])))
    net.output(net.add(net.mul(net.sub(net.constant(1.0), z), n), net.mul(z, h)))
