# SPDX-License-Identifier: Apache-2.0
"""LSTM and GRU: several layers, both directions, sequences of equal length and packed ones, against
a step-by-step oracle. Gradients are compared with its finite differences in double."""
import numpy as np
import pytest

INPUTS, HIDDEN, BATCH, STEPS = 3, 2, 3, 4
SIZES = [3, 2, 2, 1]  # of the steps of packed sequences


def sigmoid(a):
    return 1 / (1 + np.exp(-a))


def cell(lstm, x, h, c, w):
    """(h, c) of the next step."""
    wx, wh, bx, bh = w
    of_x, of_h = x @ wx.T + bx, h @ wh.T + bh
    if lstm:
        i, f, g, o = np.split(of_x + of_h, 4, -1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        return sigmoid(o) * np.tanh(c), c
    (xr, xz, xn), (hr, hz, hn) = np.split(of_x, 3, -1), np.split(of_h, 3, -1)
    z = sigmoid(xz + hz)
    return (1 - z) * np.tanh(xn + sigmoid(xr + hr) * hn) + z * h, c


def network(lstm, sequences, h0, c0, params, directions):
    """sequences: a list of steps x inputs. Returns (outputs alike, last h, last c)."""
    h1, c1 = np.zeros_like(h0), np.zeros_like(c0)
    for layer in range(len(params) // directions):
        outs = [[None] * len(s) for s in sequences]
        for b, s in enumerate(sequences):
            parts = []
            for d in range(directions):
                at = layer * directions + d
                h, c, ys = h0[at, b], c0[at, b], []
                for x in (s[::-1] if d else s):
                    h, c = cell(lstm, x, h, c, params[at])
                    ys.append(h)
                h1[at, b], c1[at, b] = h, c
                parts.append(np.array(ys[::-1] if d else ys))
            outs[b] = np.concatenate(parts, 1)
        sequences = outs
    return sequences, h1, c1


def packed_rows(sequences):
    return np.array([s[t] for t in range(max(map(len,
                                                 sequences))) for s in sequences if t < len(s)])


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("layers,directions,bias", [(1, 1, True), (2, 2, True), (2, 1, False)])
@pytest.mark.parametrize("lstm", [True, False])
def test_layers_and_their_gradients(nn, lstm, layers, directions, bias, packed):
    rng = np.random.default_rng(1)

    def drawn(*shape):
        return rng.standard_normal(shape).astype(np.float32)
    gates, count = 4 if lstm else 3, layers * directions
    params = [[drawn(gates * HIDDEN, INPUTS if at < directions else HIDDEN * directions),
               drawn(gates * HIDDEN, HIDDEN),
               *([drawn(gates * HIDDEN), drawn(gates * HIDDEN)] if bias else [])]
               for at in range(count)]
    lengths = [sum(s > b for s in SIZES) if packed else STEPS for b in range(BATCH)]
    rows = sum(lengths)
    flat, h0, c0 = drawn(rows, INPUTS), drawn(count, BATCH, HIDDEN), drawn(count, BATCH, HIDDEN)

    def cut(a):
        """Rows as sequences."""
        if packed:
            starts = np.concatenate([[0], np.cumsum(SIZES)])
            return [np.array([a[starts[t] + b] for t in range(lengths[b])]) for b in range(BATCH)]
        return list(a.reshape(STEPS, BATCH, -1).transpose(1, 0, 2))

    def joined(sequences):
        return packed_rows(sequences) if packed else np.stack(sequences, 1).reshape(rows, -1)

    def function(flat, h0, c0, params):
        full = [p if bias else [*p, 0.0, 0.0] for p in params]
        y, h1, c1 = network(lstm, cut(flat), h0, c0, full, directions)
        return joined(y), h1, c1
    wide = [flat.astype(np.float64), h0.astype(np.float64), c0.astype(np.float64),
            [[a.astype(np.float64) for a in p] for p in params]]
    want, h1, c1 = function(*wide)
    t, shape = nn.tensor, (lambda n: (rows, n) if packed else (STEPS, BATCH, n))
    x = t(flat.reshape(shape(INPUTS)))
    weights = [t(a) for p in params for a in p]
    states = [t(h0), t(c0)] if lstm else t(h0)
    sizes = t(np.array(SIZES, np.int64)) if packed else None
    y, hy = nn.empty(np.float32, shape(HIDDEN * directions)), nn.empty(np.float32, h0.shape)
    cy = nn.empty(np.float32, h0.shape)
    lists = [[nn.empty(np.float32, (STEPS, BATCH,
                                    HIDDEN)) for _ in range(count)]
                                    for _ in range(7 if lstm else 5)]
    kept = [nn.tensors(one) for one in lists]
    given = nn.tensors(weights)
    if lstm:
        pair = nn.tensors(states)
        nn.run("aclnnLSTM", x, given, pair, sizes, bias, layers, 0.0, True, directions == 2, False,
               y, hy, cy, *kept)
        np.testing.assert_allclose(cy.read(), c1, rtol=1e-4, atol=1e-5)
    else:
        nn.run("aclnnGRU", x, given, states, sizes, bias, layers, 0.0, True, directions == 2, False,
               y, hy, *kept)
    np.testing.assert_allclose(y.read().reshape(rows, -1), want, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(hy.read(), h1, rtol=1e-4, atol=1e-5)

    dy, dh, dc = drawn(*want.shape), drawn(*h0.shape), drawn(*h0.shape)
    dx, dh0 = nn.empty(np.float32, x.array.shape), nn.empty(np.float32, h0.shape)
    dc0 = nn.empty(np.float32, h0.shape)
    slopes = [nn.empty(np.float32, a.shape) for p in params for a in p]
    of_params = nn.tensors(slopes)
    if lstm:
        i, g, f, o, h, c, tanhc = kept
        nn.run("aclnnLstmBackward", x, pair, given, t(dy.reshape(shape(dy.shape[1]))), t(dh), t(dc),
               i, g, f, o, h, c, tanhc,
               sizes, bias, layers, 0.0, True, directions == 2, False, [True, True, True, True], dx,
               dh0, dc0, of_params)
    else:
        r, z, n, hn, h = kept
        nn.run("aclnnGRUBackward", x, given, states, t(dy.reshape(shape(dy.shape[1]))), t(dh), r, z,
               n, hn, h, sizes, bias,
               layers, directions == 2, False, dx, dh0, of_params)

    def loss():
        y, h, c = function(*wide)
        return (y * dy).sum() + (h * dh).sum() + ((c * dc).sum() if lstm else 0)

    def slope(a):
        out = np.zeros(a.shape)
        for at in np.ndindex(a.shape):
            kept_value = a[at]
            a[at] = kept_value + 1e-6
            up = loss()
            a[at] = kept_value - 1e-6
            out[at] = (up - loss()) / 2e-6
            a[at] = kept_value
        return out
    np.testing.assert_allclose(dx.read().reshape(rows, -1), slope(wide[0]), rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(dh0.read(), slope(wide[1]), rtol=1e-3, atol=1e-4)
    if lstm:
        np.testing.assert_allclose(dc0.read(), slope(wide[2]), rtol=1e-3, atol=1e-4)
    for got, a in zip(slopes, [a for p in wide[3] for a in p]):
        np.testing.assert_allclose(got.read(), slope(a), rtol=1e-3, atol=1e-4)
    nn.clear()
