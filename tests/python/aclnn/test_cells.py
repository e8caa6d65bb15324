# SPDX-License-Identifier: Apache-2.0
"""The cell of an LSTM, gates with limits, low-rank updates, bits of signs; products under the names
that the vendor has for weights in its own order."""
import numpy as np
import pytest
from aclnn_cases import Case, Skip, out, x


def sigmoid(a):
    return 1 / (1 + np.exp(-a))


def floats(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def lstm(gi, gh, c, bi, bh):
    i, f, g, o = np.split((gi + gh + bi + bh).astype(np.float64), 4, 1)
    i, f, g, o = sigmoid(i), sigmoid(f), np.tanh(g), sigmoid(o)
    c1 = f * c + i * g
    return o * np.tanh(c1), c1, np.concatenate([i, f, g, o], 1)


def clipped(a, woven):
    u, v = (a[:, ::2], a[:, 1::2]) if woven else np.split(a, 2, 1)
    u, v = np.minimum(u, 0.7), np.clip(v, -0.7, 0.7)
    return u * sigmoid(1.7 * u) * (v + 1)


CASES = [
    Case("aclnnThnnFusedLstmCell", [x(3, 8), x(3, 8), x(3, 2), x(8), x(8), out(3, 2), out(3, 2),
                                    out(3, 8)], lstm),
    *[Case("aclnnClippedSwiglu", [x(4, 6), Skip(None), Skip(1), Skip(1.7), Skip(0.7), Skip(1.0),
                                  Skip(woven), out(4, 3)],
           lambda a, w=woven: clipped(a, w)) for woven in (False, True)],
    Case("aclnnClippedSwiglu", [x(4, 6), x(2, dtype="int64", like=[1, 2]), Skip(-1), Skip(1.7),
                                Skip(0.7), Skip(1.0), Skip(True), out(4, 3)],
         lambda a, g: np.where(np.arange(4)[:, None] < 3, clipped(a, True), 0)),
    Case("aclnnMaskedSoftmaxWithRelPosBias", [x(2, 3, 2, 4, 4), x(1, 3, 1, 4, 4), x(1, 1, 2, 4, 4),
                                              0.5, Skip(0), out(2, 3, 2, 4, 4)],
         lambda a, m, b, s: (lambda e: e / e.sum(-1, keepdims=True))(np.exp(a * s + m + b))),
    Case("aclnnMatmulWeightNz", [x(3, 4), x(4, 5), out(3, 5), Skip(0)], lambda a, b: a @ b,
         tolerance=1e-4),
    Case("aclnnBatchMatMulWeightNz", [x(2, 3, 4), x(2, 4, 5), out(2, 3, 5), Skip(0)], lambda a,
         b: a @ b, tolerance=1e-4),
    Case("aclnnAddmmWeightNz", [x(3, 5), x(3, 4), x(4, 5), Skip(0.5), Skip(2.0), out(3, 5),
                                Skip(0)],
         lambda c, a, b: 0.5 * c + 2 * (a @ b), tolerance=1e-4),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_results(nn, case):
    case.check(nn)


def test_the_gradient_of_a_cell(nn):
    gates, c, dh, dc = floats(1, 3, 8), floats(2, 3, 2), floats(3, 3, 2), floats(4, 3, 2)
    zero = np.zeros(8)
    _, c1, storage = lstm(gates, 0, c, zero, zero)
    outs = [nn.empty(np.float32, s) for s in ((3, 8), (3, 2), (8,))]
    t = nn.tensor
    nn.run("aclnnThnnFusedLstmCellBackward", t(dh), t(dc), t(c), t(c1.astype(np.float32)),
           t(storage.astype(np.float32)), True, *outs)

    def loss(g, c0):
        h, c2, _ = lstm(g, 0, c0, zero, zero)
        return (h * dh).sum() + (c2 * dc).sum()
    want = []
    for which, a in enumerate((gates, c)):
        d = np.zeros(a.shape)
        for at in np.ndindex(a.shape):
            step = np.zeros(a.shape)
            step[at] = 1e-5
            up, down = ([gates, c], [gates, c])
            up, down = list(up), list(down)
            up[which], down[which] = a.astype(np.float64) + step, a.astype(np.float64) - step
            d[at] = (loss(*up) - loss(*down)) / 2e-5
        want.append(d)
    for got, expected in zip(outs, (*want, want[0].sum(0))):
        np.testing.assert_allclose(got.read(), expected, rtol=1e-4, atol=1e-5)
    nn.clear()


def test_low_rank_updates_that_rows_choose(nn):
    y, a = floats(5, 4, 10), floats(6, 4, 6)
    big, small = floats(7, 3, 2, 5, 2), floats(8, 3, 2, 2, 6)
    index = np.array([2, 0, -1, 1], np.int32)
    out_ = nn.empty(np.float32, (4, 10))
    nn.run("aclnnAddLora", nn.tensor(y), nn.tensor(a), nn.tensor(big), nn.tensor(index),
           nn.tensor(small), 1, 0.5, 3, 5, out_)
    want = y.astype(np.float64)
    for i, w in enumerate(index):
        if w >= 0:
            want[i, 3:8] += 0.5 * (big[w, 1] @ (small[w, 1] @ a[i]))
    np.testing.assert_allclose(out_.read(), want, rtol=1e-5, atol=1e-5)
    nn.clear()


def test_bits_of_signs(nn):
    a = np.array([5, 4, 3, 2, 0, -1, -2, 4, 3, 2, 1, 0, -1, -2], np.float32)
    bits, back = nn.empty(np.uint8, (2, 1)), nn.empty(np.float32, (2, 8))
    nn.run("aclnnSignBitsPack", nn.tensor(a), 2, bits)
    assert bits.read().tolist() == [[159], [15]]
    nn.run("aclnnSignBitsUnpack", bits, 2, 0, back)
    np.testing.assert_array_equal(back.read().ravel()[:14], np.where(a >= 0, 1, -1))
    nn.clear()


def test_a_quantised_product_with_an_activation(nn):
    rng = np.random.default_rng(9)
    a, b = (rng.integers(-128, 128, s).astype(np.int8) for s in ((4, 32), (32, 8)))
    scale = (rng.random(8) * 1e-3).astype(np.float32)
    token = (rng.random(4) + 0.5).astype(np.float32)
    y = nn.empty(np.float16, (4, 8))
    nn.run("aclnnFusedQuantMatmul", nn.tensor(a), nn.tensor(b), nn.tensor(token), nn.tensor(scale),
           None, None, None, None, None, None, "gelu_tanh", 0, y)
    v = (a.astype(np.int64) @ b) * scale.astype(np.float64) * token[:, None]
    want = 0.5 * v * (1 + np.tanh(np.sqrt(2 / np.pi) * (v + 0.044715 * v ** 3)))
    np.testing.assert_allclose(y.read().astype(np.float64), want, rtol=2e-3, atol=2e-3)
    nn.clear()


def test_classes_are_drawn_with_a_seed_in_a_tensor(nn):
    weights = nn.tensor(np.array([[0, 1, 0], [1, 0, 1]], np.float32))
    seed, offset, got = nn.tensor(np.array([3])), nn.tensor(np.array([0])), nn.empty(np.int64,
                                                                                     (2, 200))
    nn.run("aclnnMultinomialTensor", weights, 200, True, seed, offset, 0, got)
    assert set(got.read()[0]) == {1} and set(got.read()[1]) == {0, 2}
    nn.clear()
