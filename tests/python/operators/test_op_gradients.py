# SPDX-License-Identifier: Apache-2.0
"""Gradients under the vendor's names, as torch_npu calls them, against differences of the function
itself in double; and SearchSorted, which comes with them."""
import numpy as np
import pytest
import single_op
from test_op_names_special import sigmoid

pytestmark = pytest.mark.usefixtures("runtime")
RNG = np.random.default_rng(11)
STEPS, BATCH, INPUTS, HIDDEN = 3, 2, 4, 5
STEP = 1e-6


def drawn(*shape):
    return RNG.standard_normal(shape)


def slope(function, values):
    """The gradient of a function of one array, element by element."""
    found = np.zeros_like(values)
    for i in np.ndindex(values.shape):
        up, down = values.copy(), values.copy()
        up[i] += STEP
        down[i] -= STEP
        found[i] = (function(up) - function(down)) / (2 * STEP)
    return found


def run(name, inputs, outputs, attrs):
    inputs = [None if x is None else np.asarray(x, np.float32) for x in inputs]
    return single_op.run(name, inputs, [np.zeros_like(x, np.float32) for x in outputs], attrs)


def lstm(x, w, b, h, c, order):
    """[y, c, i, j, f, o, tanh(c)] of every step."""
    steps = []
    for at in x:
        parts = dict(zip(order, np.split(np.concatenate([at, h], -1) @ w + b, 4, -1), strict=True))
        i, j, f, o = (sigmoid(parts["i"]), np.tanh(parts["j"]), sigmoid(parts["f"]),
                      sigmoid(parts["o"]))
        c = f * c + i * j
        h = o * np.tanh(c)
        steps.append((h, c, i, j, f, o, np.tanh(c)))
    return [np.stack(s) for s in zip(*steps, strict=True)]


@pytest.mark.parametrize("order", ["ijfo", "ifjo"])
def test_an_lstm_goes_back_through_its_steps(order):
    x, w, b = drawn(STEPS, BATCH, INPUTS), drawn(INPUTS + HIDDEN, 4 * HIDDEN), drawn(4 * HIDDEN)
    h0, c0 = drawn(BATCH, HIDDEN), drawn(BATCH, HIDDEN)
    dy, dh, dc = drawn(STEPS, BATCH, HIDDEN), drawn(BATCH, HIDDEN), drawn(BATCH, HIDDEN)

    def loss(x=x, w=w, b=b, h0=h0, c0=c0):
        y, c, *_ = lstm(x, w, b, h0, c0, order)
        return (dy * y).sum() + (dh * y[-1]).sum() + (dc * c[-1]).sum()

    y, c, *gates = lstm(x, w, b, h0, c0, order)
    want = [slope(lambda v: loss(w=v), w), slope(lambda v: loss(b=v), b),
            slope(lambda v: loss(x=v), x), slope(lambda v: loss(h0=v), h0),
            slope(lambda v: loss(c0=v), c0)]
    got = run("DynamicRNNGrad", [x, w, b, y, h0, c0, y, c, dy, dh, dc, *gates], want,
              {"gate_order": order})
    for a, expected in zip(got, want, strict=True):
        np.testing.assert_allclose(a, expected, rtol=2e-5, atol=2e-5)
    # The second version has weights of x and of h apart, and no bias.
    apart = [want[0][:INPUTS], want[0][INPUTS:], *want[1:]]
    got = run("DynamicRNNV2Grad", [x, w[:INPUTS], w[INPUTS:], y, h0, c0, y, c, dy, dh, dc, *gates],
              apart,
              {"gate_order": order})
    for a, expected in zip(got, apart, strict=True):
        np.testing.assert_allclose(a, expected, rtol=2e-5, atol=2e-5)


def gru(x, wx, wh, bx, bh, h, order):
    """[y, update, reset, new, hidden_new] of every step."""
    steps = []
    for at in x:
        of_x = dict(zip(order, np.split(at @ wx + bx, 3, -1), strict=True))
        of_h = dict(zip(order, np.split(h @ wh + bh, 3, -1), strict=True))
        z, r = sigmoid(of_x["z"] + of_h["z"]), sigmoid(of_x["r"] + of_h["r"])
        n = np.tanh(of_x["h"] + r * of_h["h"])
        h = (1 - z) * n + z * h
        steps.append((h, z, r, n, of_h["h"]))
    return [np.stack(s) for s in zip(*steps, strict=True)]


@pytest.mark.parametrize("order", ["zrh", "rzh"])
def test_a_gru_goes_back_through_its_steps(order):
    x, h0 = drawn(STEPS, BATCH, INPUTS), drawn(BATCH, HIDDEN)
    wx, wh = drawn(INPUTS, 3 * HIDDEN), drawn(HIDDEN, 3 * HIDDEN)
    bx, bh = drawn(3 * HIDDEN), drawn(3 * HIDDEN)
    dy, dh = drawn(STEPS, BATCH, HIDDEN), drawn(BATCH, HIDDEN)

    def loss(x=x, wx=wx, wh=wh, bx=bx, bh=bh, h0=h0):
        y = gru(x, wx, wh, bx, bh, h0, order)[0]
        return (dy * y).sum() + (dh * y[-1]).sum()

    y, *gates = gru(x, wx, wh, bx, bh, h0, order)
    want = [slope(lambda v: loss(wx=v), wx), slope(lambda v: loss(wh=v), wh),
            slope(lambda v: loss(bx=v), bx), slope(lambda v: loss(bh=v), bh),
            slope(lambda v: loss(x=v), x), slope(lambda v: loss(h0=v), h0)]
    got = run("DynamicGRUV2Grad", [x, wx, wh, y, h0, y, dy, dh, *gates], want,
              {"gate_order": order})
    for a, expected in zip(got, want, strict=True):
        np.testing.assert_allclose(a, expected, rtol=2e-5, atol=2e-5)


def distances(x1, x2, p):
    gap = np.abs(x1[..., :, None, :] - x2[..., None, :, :])
    if np.isinf(p):
        return gap.max(-1)
    return (gap != 0).sum(-1).astype(np.float64) if p == 0 else (gap**p).sum(-1) ** (1 / p)


@pytest.mark.parametrize("p", [0.0, 1.0, 2.0, 3.5, np.inf])
def test_distances_by_the_first_points(p):
    # Differences that float32 holds exactly: the largest is found by comparing.
    x1, x2 = (np.round(drawn(2, n, 4) * 64) / 64 for n in (3, 5))
    g = drawn(2, 3, 5)
    want = slope(lambda v: (g * distances(v, x2, p)).sum(), x1)
    shape = (2, 3, 5, 4)
    repeated = [np.broadcast_to(part, shape) for part in
                (g[..., None], x1[..., :, None, :], x2[..., None, :, :],
                 distances(x1, x2, p)[..., None])]
    got, = run("CdistGrad", repeated, [want], {"p": float(p)})
    np.testing.assert_allclose(got, want, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.int64])
def test_places_in_sorted_rows(dtype, right):
    rows = np.sort(RNG.integers(-5, 6, (3, 8)), -1).astype(dtype)
    values = RNG.integers(-7, 8, (3, 6)).astype(dtype)
    want = np.stack([np.searchsorted(r, v, "right" if right else "left")
                     for r, v in zip(rows, values, strict=True)])
    got, = single_op.run("SearchSorted", [rows, values], [np.zeros_like(want)], {"right": right})
    np.testing.assert_array_equal(got, want)
