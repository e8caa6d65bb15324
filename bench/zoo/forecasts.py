# SPDX-License-Identifier: Apache-2.0
"""More of tables, time series, point clouds and graphs."""

import numpy as np
from registry import network
from tables import POINTS, RECOMMEND, SERIES, mlp


@network(RECOMMEND, "tabtransformer-b64")
def tabtransformer(net):
    """Columns of categories attend to each other; numbers are normalised beside them."""
    ids = net.add(net.input(64, 20, most=50), net.constant(np.arange(20) * 50, np.int64))
    x = net.embed(1000, 32, ids)
    for _ in range(3):
        x = net.add(x, net.attention(net.layer_norm(x), 4))
        x = net.add(x, net.mlp(net.layer_norm(x), 128))
    y = net.concat([net.reshape(x, 64, -1), net.layer_norm(net.input(64, 10))], 1)
    net.output(mlp(net, y, 512, 128, 1))


@network(RECOMMEND, "ft-transformer-b64")
def ft_transformer(net):
    """A token for each number: its value times a row, plus a row."""
    x = net.unsqueeze(net.input(64, 16), 2)
    x = net.add(net.mul(x, net.weight(16, 64, scale=0.5)), net.weight(16, 64, scale=0.1))
    x = net.concat([net.expand(net.weight(1, 1, 64), 64, 1, 64), x], 1)
    for _ in range(2):
        x = net.add(x, net.attention(net.layer_norm(x), 8))
        a, b = net.split(net.linear(net.layer_norm(x), 2 * 96), [96, 96], 2)
        x = net.add(x, net.linear(net.mul(a, net.act("relu", b)), 64))
    first = net.reshape(net.slice(x, 0, 1, 1), 64, 64)
    net.output(net.gemm(net.act("relu", net.layer_norm(first)), 1))


@network(RECOMMEND, "autoint-b128")
def autoint(net):
    x = net.embed(4000, 16, net.input(128, 24, most=4000))
    for _ in range(3):
        q, k, v = (net.heads(net.linear(x, 32, False), 2) for _ in range(3))
        y = net.join(net.matmul(net.softmax(net.matmul(q, net.transpose(k, 0, 1, 3, 2))), v))
        x = net.act("relu", net.add(y, net.linear(x, 32, False)))
    net.output(net.unary("Sigmoid", net.gemm(net.reshape(x, 128, -1), 1)))


@network(RECOMMEND, "xdeepfm-cin-b64")
def xdeepfm(net):
    """Outer products of fields, compressed by convolutions of 1."""
    x = net.embed(4000, 16, net.input(64, 20, most=4000))
    y, sums = x, []
    for width in (32, 32):
        outer = net.mul(net.unsqueeze(y, 2), net.unsqueeze(x, 1))
        outer = net.reshape(outer, 64, y.shape[1] * 20, 16)
        y = net.conv(outer, width, 1, act="relu")
        sums.append(net.reduce("ReduceSum", y, [2], False))
    net.output(net.gemm(net.concat([*sums, mlp(net, net.reshape(x, 64, -1), 256, 64)], 1), 1))


@network(RECOMMEND, "two-tower-retrieval")
def two_tower(net):
    user = net.concat([net.embed(5000, 64, net.input(16, most=5000)), net.input(16, 32)], 1)
    user = mlp(net, user, 256, 64)
    items = mlp(net, net.embed(5000, 64, net.input(2000, most=5000)), 128, 64)

    def unit(x):
        length = net.node("ReduceL2", [x], (x.shape[0], 1), axes=[1], keepdims=1)
        return net.div(x, net.add(length, 1e-6))

    scores = net.matmul(unit(user), net.transpose(unit(items), 1, 0))
    best, _ = net.topk(scores, 20)
    net.output(best)


@network(RECOMMEND, "bert4rec-b8")
def bert4rec(net):
    x = net.embed(3000, 64, net.input(8, 50, most=3000))
    x = net.layer_norm(net.add(x, net.weight(50, 64, scale=0.1)))
    for _ in range(2):
        x = net.layer_norm(net.add(x, net.attention(x, 2)))
        x = net.layer_norm(net.add(x, net.mlp(x, 256)))
    last = net.reshape(net.slice(x, 49, 50, 1), 8, 64)
    net.output(net.gemm(last, 3000))


@network(SERIES, "nbeats-interpretable-b16")
def nbeats(net):
    """Trends and seasons by fixed bases; what is explained is taken off."""
    x, total = net.input(16, 120), None
    steps = np.arange(120) / 120
    trend = np.stack([steps**i for i in range(4)])
    season = np.concatenate([f(2 * np.pi * np.arange(1, 9)[:, None] * steps)
                             for f in (np.cos, np.sin)])
    for basis in (trend, trend, season, season):
        rows = len(basis)
        parts = net.split(mlp(net, x, 256, 256, 256, 2 * rows), [rows, rows])
        back, ahead = (net.matmul(part, net.constant(basis[:, :width]))
                       for part, width in zip(parts, (120, 24)))
        x = net.sub(x, back)
        total = ahead if total is None else net.add(total, ahead)
    net.output(total)


@network(SERIES, "nhits-b16")
def nhits(net):
    x, total = net.input(16, 168), None
    for k in (8, 4, 1):
        y = net.reshape(net.pool(net.unsqueeze(x, 1), k), 16, 168 // k) if k > 1 else x
        back, ahead = net.split(mlp(net, y, 256, 256, (168 + 24) // k), [168 // k, 24 // k])
        if k > 1:
            back, ahead = (net.reshape(net.resize(net.unsqueeze(part, 1), k, "linear"), 16, size)
                           for part, size in ((back, 168), (ahead, 24)))
        x = net.sub(x, back)
        total = ahead if total is None else net.add(total, ahead)
    net.output(total)


@network(SERIES, "temporal-fusion-transformer")
def tft(net):
    """Gated residual networks choose variables, an LSTM, attention over the past."""
    width, past = 64, 72

    def gated(x, out=width):
        y = net.linear(net.act("elu", net.linear(x, width)), out)
        a, b = net.split(net.linear(y, 2 * out), [out, out], len(y.shape) - 1)
        skip = x if x.width == out else net.linear(x, out)
        return net.layer_norm(net.add(skip, net.mul(a, net.unary("Sigmoid", b))))

    inputs = [net.linear(net.input(4, past, 1), width) for _ in range(6)]
    weights = net.softmax(gated(net.concat(inputs, 2), 6))
    x = None
    for i, one in enumerate(inputs):
        part = net.mul(gated(one), net.slice(weights, i, i + 1, 2))
        x = part if x is None else net.add(x, part)
    y = net.several("LSTM", [net.transpose(x, 1, 0, 2), net.weight(1, 4 * width, width, scale=0.1),
                             net.weight(1, 4 * width, width, scale=0.1),
                             net.uniform(-0.1, 0.1, 1, 8 * width)],
                    [(past, 1, 4, width)], hidden_size=width)[0]
    y = net.layer_norm(net.add(x, net.transpose(net.reshape(y, past, 4, width), 1, 0, 2)))
    mask = np.triu(np.full((past, past), -1e9, np.float32), 1)
    y = net.layer_norm(net.add(y, net.attention(gated(y), 4, mask=net.constant(mask))))
    net.output(net.linear(gated(net.slice(y, past - 24, past, 1)), 3))


@network(SERIES, "informer-distil")
def informer(net):
    x = net.linear(net.input(2, 96, 7), 128)
    for _ in range(2):
        x = net.layer_norm(net.add(x, net.attention(x, 4)))
        x = net.layer_norm(net.add(x, net.mlp(x, 512)))
        y = net.act("elu", net.batch_norm(net.conv(net.transpose(x, 0, 2, 1), 128, 3)))
        x = net.transpose(net.pool(y, 3, 2, pad=1), 0, 2, 1)
    y = net.linear(net.input(2, 48, 7), 128)
    y = net.layer_norm(net.add(y, net.attention(y, 4)))
    y = net.layer_norm(net.add(y, net.attention(y, 4, x)))
    net.output(net.linear(net.layer_norm(net.add(y, net.mlp(y, 512))), 7))


@network(SERIES, "dlinear-b32")
def dlinear(net):
    """A moving mean and the rest, one product each."""
    x = net.input(32, 7, 336)
    n, c, length = x.shape
    ends = [net.expand(net.slice(x, at, at + 1, 2), n, c, 12) for at in (0, length - 1)]
    mean = net.pool(net.concat([ends[0], x, ends[1]], 2), 25, 1, "AveragePool")
    net.output(net.add(net.linear(mean, 96), net.linear(net.sub(x, mean), 96)))


@network(SERIES, "itransformer")
def itransformer(net):
    """Each series is a token; normalised before, and back behind."""
    x = net.input(4, 96, 21)
    mean = net.reduce("ReduceMean", x, [1])
    x = net.sub(x, mean)
    spread = net.unary("Sqrt", net.add(net.reduce("ReduceMean", net.mul(x, x), [1]), 1e-5))
    y = net.linear(net.transpose(net.div(x, spread), 0, 2, 1), 128)
    for _ in range(2):
        y = net.layer_norm(net.add(y, net.attention(y, 8)))
        y = net.layer_norm(net.add(y, net.mlp(y, 256)))
    y = net.transpose(net.linear(y, 24), 0, 2, 1)
    net.output(net.add(net.mul(y, spread), mean))


def near(net, picked, places, count):
    """The indices of the `count` places that are nearest to each picked one."""
    cross = net.mul(net.matmul(picked, net.transpose(places, 0, 2, 1)), -2.0)
    square = net.reduce("ReduceSum", net.mul(places, places), [-1])
    distance = net.add(cross, net.transpose(square, 0, 2, 1))
    return net.topk(net.unary("Neg", distance), count)[1]


@network(POINTS, "pointnet2-two-levels")
def pointnet2(net):
    """Two levels of groups, and features carried back to all points."""
    places = net.input(1, 512, 3)
    x = places
    for count, width in ((128, 64), (32, 128)):
        n = places.shape[1]
        picked = net.slice(places, 0, n, 1, n // count)
        index = net.reshape(near(net, picked, places, 16), count, 16)
        around = net.gather(net.reshape(places, n, 3), index)
        around = net.sub(around, net.unsqueeze(net.reshape(picked, count, 3), 1))
        y = net.concat([around, net.gather(net.reshape(x, n, x.width), index)], 2)
        y = net.transpose(net.unsqueeze(y, 0), 0, 3, 2, 1)
        y = net.conv_bn(net.conv_bn(y, width, 1), width, 1)
        x = net.transpose(net.reduce("ReduceMax", y, [2], False), 0, 2, 1)
        places = picked
    index = near(net, net.input(1, 256, 3), places, 3)
    back = net.gather(net.reshape(x, 32, x.width), net.reshape(index, 256, 3))
    net.output(net.linear(net.reduce("ReduceMean", back, [1], False), 13))


@network(POINTS, "point-transformer-block")
def point_transformer(net):
    """Attention of vectors over sixteen neighbours."""
    n, width = 256, 64
    places = net.input(1, n, 3)
    index = net.reshape(near(net, places, places, 16), n, 16)
    flat = net.reshape(places, n, 3)
    x = net.linear(flat, width)
    away = net.sub(net.unsqueeze(flat, 1), net.gather(flat, index))
    place = net.linear(net.linear(away, width, act="relu"), width)
    for _ in range(2):
        q, k, v = (net.linear(x, width) for _ in range(3))
        y = net.add(net.sub(net.unsqueeze(q, 1), net.gather(k, index)), place)
        weights = net.softmax(net.linear(net.linear(y, width, act="relu"), width), 1)
        y = net.mul(weights, net.add(net.gather(v, index), place))
        x = net.add(x, net.linear(net.reduce("ReduceSum", y, [1], False), width))
    net.output(net.linear(x, 13))


@network(POINTS, "dgcnn-segmentation-b2")
def dgcnn(net):
    """Edges of a fixed graph, for two clouds at once."""
    n = 256
    x = net.input(2, n, 3)
    index = near(net, x, x, 16)
    first = net.constant(np.arange(2).reshape(2, 1, 1) * n, np.int64)
    index = net.reshape(net.add(index, first), 2 * n, 16)
    outs = []
    for width in (32, 64):
        c = x.width
        flat = net.reshape(x, 2 * n, c)
        own = net.expand(net.unsqueeze(flat, 1), 2 * n, 16, c)
        y = net.concat([own, net.sub(net.gather(flat, index), own)], 2)
        y = net.transpose(net.reshape(y, 2, n, 16, 2 * c), 0, 3, 1, 2)
        y = net.reduce("ReduceMax", net.conv_bn(y, width, 1, act="leaky"), [3], False)
        x = net.transpose(y, 0, 2, 1)
        outs.append(x)
    whole = net.reduce("ReduceMax", net.linear(net.concat(outs, 2), 256), [1])
    parts = [net.expand(whole, 2, n, 256), *outs]
    net.output(net.linear(net.linear(net.concat(parts, 2), 128, act="relu"), 13))


@network(POINTS, "gat-attention")
def gat(net):
    """Attention over a mask of edges, as for small graphs."""
    n = 200
    edges = np.random.default_rng(6).random((n, n)) < 0.05
    edges |= np.eye(n, dtype=bool)
    mask = net.input(n, n, values=np.where(edges, 0, -1e9).astype(np.float32))
    x = net.input(n, 64)
    for heads, width in ((4, 16), (1, 7)):
        y = net.reshape(net.linear(x, heads * width, False), n, heads, width)
        y = net.transpose(y, 1, 0, 2)
        a, b = (net.matmul(y, net.weight(heads, width, 1, scale=0.3)) for _ in range(2))
        scores = net.add(a, net.transpose(b, 0, 2, 1))
        scores = net.add(net.unary("LeakyRelu", scores, alpha=0.2), mask)
        y = net.matmul(net.softmax(scores), y)
        x = net.act("elu", net.reshape(net.transpose(y, 1, 0, 2), n, heads * width))
    net.output(x)
