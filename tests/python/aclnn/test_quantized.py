# SPDX-License-Identifier: Apache-2.0
"""Quantised operators: products of integers, weights that are widened, scales of the data, what
normalisations and gates quantise at once; and the choice of the next token."""
import ml_dtypes
import numpy as np
import pytest
from aclnn_cases import Case, Skip, inout, out, x

from aclnn import Failed

BF16 = ml_dtypes.bfloat16


def rng(seed):
    return np.random.default_rng(seed)


def int8(seed, *shape):
    return rng(seed).integers(-128, 128, shape).astype(np.int8)


def floats(seed, *shape, dtype=np.float32):
    return rng(seed).standard_normal(shape).astype(dtype)


def rounded(a, low=-128, high=127):
    return np.clip(np.round(a), low, high)


def rows_to_int8(a, most=127):
    scale = np.abs(a).max(-1, keepdims=True) / most
    return rounded(a / scale, -most - 1, most), scale


def silu(a):
    return a / (1 + np.exp(-a))


def rms(a, g, eps):
    return a / np.sqrt((a * a).mean(-1, keepdims=True) + eps) * g


def layer(a, g, b, eps):
    mean = a.mean(-1, keepdims=True)
    rstd = 1 / np.sqrt(((a - mean) ** 2).mean(-1, keepdims=True) + eps)
    return (a - mean) * rstd * g + b, mean, rstd


def near(got, want, steps=1):
    """Integers, of which few are on the other side of a half."""
    assert np.abs(got.astype(np.int64) - want).max() <= steps
    assert (got == want).mean() > 0.95


def scale_words(scale):
    return scale.astype(np.float32).view(np.uint32).astype(np.uint64)


# --- products of integers

@pytest.mark.parametrize("turn_a,turn_b", [(False, False), (False, True), (True, False)])
@pytest.mark.parametrize("kind", ["float", "bfloat16", "words"])
def test_quant_matmul(nn, turn_a, turn_b, kind):
    a, b = int8(1, 5, 64), int8(2, 64, 24)
    scale = (rng(3).random(24) * 0.001).astype(BF16 if kind == "bfloat16" else np.float32)
    bias = rng(4).integers(-500, 500, 24).astype(np.int32)
    sums = a.astype(np.int64) @ b + bias
    given = nn.tensor(scale_words(scale) if kind == "words" else scale)
    ab = [nn.tensor(np.ascontiguousarray(m.T) if turned else m) for m,
          turned in ((a, turn_a), (b, turn_b))]
    y = nn.empty(np.float16, (5, 24))
    nn.run("aclnnQuantMatmulV3", *ab, given, None, nn.tensor(bias), turn_a, turn_b, y)
    want = sums * scale.astype(np.float64)
    np.testing.assert_allclose(y.read().astype(np.float64), want, rtol=1e-3, atol=1e-3)
    token = (rng(5).random(5) + 0.5).astype(np.float32)
    y = nn.empty(BF16, (5, 24))
    nn.run("aclnnQuantMatmulV4", *ab, given, None, nn.tensor(token), nn.tensor(bias), turn_a,
           turn_b, y)
    np.testing.assert_allclose(y.read().astype(np.float64), want * token[:, None], rtol=1e-2,
                               atol=1e-2)
    nn.clear()


def test_quant_matmul_of_other_results_and_batches(nn):
    a, b = int8(6, 3, 5, 32), int8(7, 3, 32, 8)
    sums = np.einsum("bik,bkj->bij", a.astype(np.int64), b)
    y = nn.empty(np.int32, (3, 5, 8))
    nn.run("aclnnQuantMatmulV3", nn.tensor(a), nn.tensor(b), None, None, None, False, False, y)
    np.testing.assert_array_equal(y.read(), sums)
    scale, offset = np.array([0.0007], np.float32), np.array([3], np.float32)
    y = nn.empty(np.int8, (3, 5, 8))
    nn.run("aclnnQuantMatmulV3", nn.tensor(a), nn.tensor(b), nn.tensor(scale), nn.tensor(offset),
           None, False, False, y)
    near(y.read(), rounded(sums * 0.0007 + 3))
    y = nn.empty(np.float16, (3, 5, 8))
    nn.run("aclnnQuantMatmulV5", nn.tensor(a), nn.tensor(b), None, nn.tensor(scale), None, None,
           None, None, None, False, False, 0, y)
    np.testing.assert_allclose(y.read().astype(np.float64), sums * 0.0007, rtol=1e-3, atol=1e-3)
    nn.clear()


def words_of_int4(a):
    nibbles = (a & 15).astype(np.uint32).reshape(*a.shape[:-1], -1, 8)
    return (nibbles << (4 * np.arange(8, dtype=np.uint32))).sum(-1, dtype=np.uint32).view(np.int32)


def test_products_of_int4_in_words(nn):
    a, b = (rng(s).integers(-8, 8, shape) for s, shape in ((8, (4, 32)), (9, (32, 16))))
    scale = (rng(10).random(16) * 0.1).astype(np.float32)
    y = nn.empty(np.float16, (4, 16))
    nn.run("aclnnQuantMatmulV4", nn.tensor(words_of_int4(a)), nn.tensor(words_of_int4(b)),
           nn.tensor(scale), None, None, None, False, False, y)
    np.testing.assert_allclose(y.read().astype(np.float64), (a @ b) * scale, rtol=1e-3, atol=1e-3)
    packed = nn.empty(np.int32, (32, 2))
    nn.run("aclnnConvertWeightToINT4Pack", nn.tensor(b.astype(np.int32)), packed)
    np.testing.assert_array_equal(packed.read(), words_of_int4(b))
    nn.clear()


@pytest.mark.parametrize("form", ["tensor", "column", "parts"])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("bits", [8, 4])
def test_weights_that_are_widened(nn, form, turned, bits):
    r, k, n = rng(11), 64, 16
    a = floats(12, 5, k, dtype=np.float16)
    w = r.integers(-(1 << bits - 1), 1 << bits - 1, (k, n))
    shape = {"tensor": (1,), "column": (n,), "parts": (2, n)}[form]
    scale, offset = (r.random(shape) * 0.02).astype(np.float16), r.integers(-3, 3,
        shape).astype(np.float16)
    bias = floats(13, n, dtype=np.float16)
    factor, shift = (np.repeat(s, 32, 0) if form == "parts" else s for s in (scale, offset))
    want = a.astype(np.float64) @ ((w + shift.astype(np.float64)) * factor) + bias
    stored = np.ascontiguousarray(w.T) if turned else w
    stored = words_of_int4(stored) if bits == 4 else stored.astype(np.int8)
    for name, more in (("aclnnWeightQuantBatchMatmulV2", []),
                       ("aclnnWeightQuantBatchMatmulV3", [0])):
        y = nn.empty(np.float16, (5, n))
        nn.run(name, nn.tensor(a), nn.tensor(stored.T if turned else stored), nn.tensor(scale),
               nn.tensor(offset),
               None, None, nn.tensor(bias), 32 if form == "parts" else 0, *more, y)
        np.testing.assert_allclose(y.read().astype(np.float64), want, rtol=3e-3, atol=6e-3)
    nn.clear()


def test_rows_are_quantised_for_a_product(nn):
    a, w = floats(14, 6, 32, dtype=np.float16), int8(15, 32, 8)
    scale = (rng(16).random(8) * 0.01).astype(np.float32)
    q, s = rows_to_int8(a.astype(np.float64))
    y = nn.empty(np.float16, (6, 8))
    nn.run("aclnnQuantMatmulDequant", nn.tensor(a), nn.tensor(w), nn.tensor(scale), None, None,
           None, None, "pertoken", False, y)
    np.testing.assert_allclose(y.read().astype(np.float64), q @ w.astype(np.float64) * scale * s,
                               rtol=1e-2, atol=2e-2)
    nn.clear()


# --- floats to integers and back

CASES = [
    Case("aclnnAscendQuant", [x(4, 6), x(6, like="positive"), x(6), Skip(False), Skip("round"),
                              Skip(2), out(4, 6, dtype="int8")],
         lambda a, s, o: rounded((a * s).astype(np.float32) + o)),
    Case("aclnnAscendQuant", [x(4, 6), x(1, like="positive"), Skip(None), Skip(True), Skip("floor"),
                              Skip(2), out(4, 6, dtype="int8")],
         lambda a, s: np.floor((a * s).astype(np.float32) * s)),
    Case("aclnnAscendQuantV3", [x(4, 6), x(4, like="positive"), x(4), Skip(False), Skip("round"),
                                Skip(2), Skip(0), out(4, 6, dtype="int8")],
         lambda a, s, o: rounded((a * s[:, None]).astype(np.float32) + o[:, None])),
    Case("aclnnAscendAntiQuant", [x(4, 6, dtype="int8"), x(6), x(6), Skip(0), Skip(False),
                                  out(4, 6)],
         lambda a, s, o: (a + o) * s),
    Case("aclnnQuantize", [x(3, 4), x(4, like="positive"), x(4, dtype="int32"), Skip(2), Skip(1),
                           out(3, 4, dtype="int8")],
         lambda a, s, z: rounded(np.round(a / s) + z)),
    Case("aclnnDynamicQuant", [x(3, 4, 16), x(16, like="positive"), out(3, 4, 16, dtype="int8"),
                               out(3, 4)],
         lambda a, s: (lambda q: (q[0], q[1][..., 0]))(rows_to_int8((a * s).astype(np.float32)))),
    Case("aclnnSwiGluQuant", [x(4, 16), x(8, like="positive"), Skip(None), Skip(None), Skip(True),
                              Skip("dynamic"), out(4, 8, dtype="int8"), out(4)],
         lambda a, s: (None, np.abs(silu(a[:, :8]) * a[:, 8:] * s).max(-1) / 127)),
    Case("aclnnRmsNormQuant", [x(4, 8), x(8), x(8), x(1, like=[20.0]), x(1, like=[2.0]), 1e-6,
                               out(4, 8, dtype="int8")],
         lambda a, g, b, s, o, e: rounded((rms(a, g, e) + b) * s + o)),
    Case("aclnnAddRmsNormCast", [x(4, 8), x(4, 8), x(8), 1e-6, out(4, 8), out(4, 8), out(4, 1),
                                 out(4, 8)],
         lambda a, b, g, e: (rms(a + b, g, e), rms(a + b, g, e),
                             1 / np.sqrt(((a + b) ** 2).mean(-1, keepdims=True) + e), a + b),
         tolerance=1e-4),
    Case("aclnnInplaceAddRmsNorm", [inout(4, 8), inout(4, 8), x(8), 1e-6, out(4, 1)],
         lambda a, b, g, e: (rms(a + b, g, e), a + b,
                             1 / np.sqrt(((a + b) ** 2).mean(-1, keepdims=True) + e)),
         tolerance=1e-4),
    Case("aclnnAddRmsNormQuant", [x(4, 8), x(4, 8), x(8), x(8, like="positive"), Skip(None),
                                  x(8, dtype="int32"),
                                  Skip(None), Skip(-1), 1e-6, Skip(True), out(4, 8, dtype="int8"),
                                  Skip(None), out(4, 8)],
         lambda a, b, g, s, z, e: (rounded(rms(a + b, g, e) / s + z), a + b), tolerance=1e-4),
    Case("aclnnAddLayerNorm", [x(4, 8), x(4, 8), x(8), x(8), x(8), 1e-5, Skip(True), out(4, 8),
                               out(4, 1), out(4, 1), out(4, 8)],
         lambda a, b, g, h, c, e: (*layer(a + b + c, g, h, e), a + b + c), tolerance=1e-4),
    Case("aclnnDeepNorm", [x(4, 8), x(4, 8), x(8), x(8), 0.5, 1e-5, out(4, 1), out(4, 1),
                           out(4, 8)],
         lambda a, b, h, g, f, e: (lambda y: (y[1], y[2], y[0]))(layer(a * f + b, g, h, e)),
         tolerance=1e-4),
    Case("aclnnDequantBias", [x(4, 6, dtype="int32"), x(6), x(4), x(6, dtype="int32"), Skip(0),
                              out(4, 6)],
         lambda a, s, t, b: (a + b) * s * t[:, None]),
    Case("aclnnFakeQuantPerTensorAffineCachemask",
         [x(4, 6), x(1, like=[0.1]), x(1, dtype="int32", like=[3]), Skip(1.0),
                                                    Skip(-10), Skip(10), out(4, 6),
          out(4, 6, dtype="bool")],
         lambda a, s, z: (lambda q: ((np.clip(q, -10, 10) - z) * s, (q >= -10) & (q <= 10)))(
             np.round(a / s.astype(np.float32)) + z)),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_results(nn, case):
    case.check(nn)


@pytest.mark.parametrize("name", ["aclnnDynamicQuantV2", "aclnnDynamicQuantV3"])
def test_scales_of_groups_and_offsets(nn, name):
    a, smooth = floats(20, 6, 32), rng(21).random((2, 32)).astype(np.float32) + 0.5
    more = [True, "pertoken"] if name.endswith("3") else []
    y, scale = nn.empty(np.int8, (6, 32)), nn.empty(np.float32, (6,))
    nn.run(name, nn.tensor(a), nn.tensor(smooth), nn.tensor(np.array([2, 6], np.int32)), 2, *more,
           y, scale, None)
    wide = a.astype(np.float64) * smooth[[0, 0, 1, 1, 1, 1]]
    want, scales = rows_to_int8(wide)
    near(y.read(), want)
    np.testing.assert_allclose(scale.read(), scales[:, 0], rtol=1e-5)
    more = [False, "pertoken"] if name.endswith("3") else []
    offset = nn.empty(np.float32, (6,))
    nn.run(name, nn.tensor(a), None, None, 2, *more, y, scale, offset)
    top, low = a.max(-1), a.min(-1)
    np.testing.assert_allclose(scale.read(), (top - low) / 255, rtol=1e-5)
    np.testing.assert_allclose(offset.read(), 127 - top / ((top - low) / 255), rtol=1e-4, atol=1e-3)
    back = (y.read() - offset.read()[:, None]) * scale.read()[:, None]
    assert np.abs(back - a).max() <= scale.read().max() * 0.51
    nn.clear()


@pytest.mark.parametrize("mode", ["dynamic", "static"])
def test_sums_through_a_gate(nn, mode):
    r = rng(22)
    sums, scale = r.integers(-9999, 9999, (6, 32)).astype(np.int32), (r.random((2,
        32)) * 1e-3).astype(np.float32)
    token, smooth = (r.random(6) + 0.5).astype(np.float32), (r.random((2,
        16)) + 0.5).astype(np.float32)
    rows = [0, 0, 1, 1, 1, 1]
    real = sums * scale.astype(np.float64)[rows] * token[:, None]
    y = real[:, :16] * silu(real[:, 16:]) * smooth[rows]
    got, scales = nn.empty(np.int8, (6, 16)), nn.empty(np.float32, (6,))
    nn.run("aclnnDequantSwigluQuant", nn.tensor(sums), nn.tensor(scale), nn.tensor(token), None,
           nn.tensor(smooth), None, nn.tensor(np.array([2, 4])), False, mode, got, scales)
    if mode == "dynamic":
        want, of_row = rows_to_int8(y)
        np.testing.assert_allclose(scales.read(), of_row[:, 0], rtol=1e-4)
    else:
        want = rounded(y)
    near(got.read(), want)
    nn.clear()


def test_a_normalisation_with_two_scales_of_its_data(nn):
    a, b, g = floats(23, 4, 32), floats(24, 4, 32), floats(25, 32)
    s1, s2 = (rng(s).random(32).astype(np.float32) + 0.5 for s in (26, 27))
    outs = [nn.empty(np.int8, (4, 32)) for _ in range(2)] + [nn.empty(np.float32, (4, 32))] + \
           [nn.empty(np.float32, (4,)) for _ in range(2)]
    t = nn.tensor
    nn.run("aclnnAddRmsNormDynamicQuant", t(a), t(b), t(g), t(s1), t(s2), 1e-6, *outs)
    y = rms((a + b).astype(np.float64), g, 1e-6)
    for smooth, q, scale in ((s1, outs[0], outs[3]), (s2, outs[1], outs[4])):
        want, of_row = rows_to_int8(y * smooth)
        near(q.read(), want)
        np.testing.assert_allclose(scale.read(), of_row[:, 0], rtol=1e-4)
    np.testing.assert_allclose(outs[2].read(), a + b, rtol=1e-6)
    nn.clear()


def test_gradients_of_sums_that_are_normalised(nn):
    dy, a, b, g = (floats(s, 5, 8) for s in (28, 29, 30, 31))
    g, total = g[0], (a + b).astype(np.float64)
    _, mean, rstd = layer(total, g, 0, 1e-5)
    n, p = (total - mean) * rstd, dy * g
    dx = rstd * (p - p.mean(-1, keepdims=True) - n * (p * n).mean(-1, keepdims=True))
    t, outs = nn.tensor, [nn.empty(np.float32, s) for s in ((5, 8), (8,), (8,))]
    small = [t(v.astype(np.float32)) for v in (rstd, mean)]
    nn.run("aclnnAddLayerNormGrad", t(dy), t(a), t(b), *small, t(g), None, *outs)
    for got, want in zip(outs, (dx, (dy * n).sum(0), dy.sum(0))):
        np.testing.assert_allclose(got.read(), want, rtol=1e-4, atol=1e-5)
    nn.clear()


def test_scales_as_words(nn):
    scale, offset = floats(32, 7), np.array([-3, 0, 5, 255, -256, 1, 2], np.float32)
    out = nn.empty(np.uint64, (7,))
    nn.run("aclnnTransQuantParamV2", nn.tensor(scale), nn.tensor(offset), out)
    words = out.read()
    np.testing.assert_array_equal(words & 0xFFFFFFFF, scale.view(np.uint32) & 0xFFFFE000)
    np.testing.assert_array_equal(words >> np.uint64(37) & np.uint64(0x1FF),
                                  offset.astype(np.int64).astype(np.uint64) & np.uint64(0x1FF))
    assert np.all(words >> np.uint64(46) & np.uint64(1) == 1)
    nn.clear()


# --- the next token

def chosen(logits, k=None, p=None):
    """-inf for tokens that are not among the k largest, or outside of the share of p."""
    y = logits.astype(np.float64).copy()
    for i in range(len(y)):
        order = np.argsort(y[i], kind="stable")
        if k is not None and 1 <= k[i] <= len(order):
            y[i][y[i] < y[i][order[-k[i]]]] = -np.inf
        if p is not None:
            e = np.exp(y[i] - y[i].max())
            sums = np.cumsum((e / e.sum())[order])
            drop = sums <= 1 - p[i]
            drop[-1] = False
            y[i][order[drop]] = -np.inf
    return y


@pytest.mark.parametrize("use_k,use_p", [(True, False), (False, True), (True, True)])
def test_the_most_likely_tokens(nn, use_k, use_p):
    logits = floats(33, 4, 50)
    k, p = np.array([3, 50, 1, 20], np.int32), np.array([0.9, 0.5, 0.3, 0.999], np.float32)
    out = nn.empty(np.float32, (4, 50))
    nn.run("aclnnApplyTopKTopP", nn.tensor(logits), nn.tensor(p) if use_p else None,
           nn.tensor(k) if use_k else None, out)
    np.testing.assert_allclose(out.read(), chosen(logits, k if use_k else None,
                                                  p if use_p else None), rtol=1e-6)
    nn.clear()


@pytest.mark.parametrize("draws", [False, True])
def test_a_token_is_sampled(nn, draws):
    logits, q = floats(34, 5, 40), rng(35).exponential(size=(5, 40)).astype(np.float32)
    k, p = np.array([3, 0, 10, 40, 1], np.int32), np.array([0.8, 0.6, 0.9, 0.99, 0.5], np.float32)
    token, left = nn.empty(np.int64, (5,)), nn.empty(np.float32, (5, 40))
    nn.run("aclnnTopKTopPSample", nn.tensor(logits), nn.tensor(k), nn.tensor(p),
           nn.tensor(q) if draws else None, 1e-8, True, 32, token, left)
    want = chosen(logits, k, p)
    np.testing.assert_allclose(left.read(), want, rtol=1e-6)
    e = np.exp(want - want.max(-1, keepdims=True))
    shares = e / e.sum(-1, keepdims=True)
    np.testing.assert_array_equal(
        token.read(), (shares / (q + 1e-8) if draws else shares).argmax(-1)
    )
    nn.clear()


def sampled(logits, k, p, least, q, raw, most):
    """Tokens in order, their shares, the one that is taken: the steps of the second version."""
    order = np.argsort(-logits, -1, kind="stable")
    values = np.take_along_axis(logits, order, -1).astype(np.float64)
    shares, tokens = np.zeros_like(values), []
    for i, row in enumerate(values):
        kept = np.arange(len(row)) < k[i] if 1 <= k[i] <= most else np.ones(len(row), bool)
        x = np.where(kept, row, -np.inf if raw else 0)
        if raw:
            e = np.exp(x - x[0])
            x = e / e.sum()
        before = np.concatenate([[0], np.cumsum(x)[:-1]])
        kept &= (before < p[i]) | (p[i] >= 1)
        if least is not None:
            kept &= (x >= x[0] * least[i]) & (least[i] < 1)
        kept[0] = True
        shares[i] = np.where(kept, x, 0)
        scores = np.where(kept, x / (q[i] + 1e-8), -1) if q is not None else shares[i]
        tokens.append(order[i][scores.argmax()])
    return order, shares, np.array(tokens)


@pytest.mark.parametrize("raw", [True, False])
@pytest.mark.parametrize(
    "draws,drops", [(False, False), (True, False), (False, True), (True, True)]
)
def test_a_token_is_sampled_among_the_sorted_ones(nn, raw, draws, drops):
    logits = floats(34, 6, 40)
    if not raw:
        logits = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    q = rng(35).exponential(size=(6, 40)).astype(np.float32) if draws else None
    k, p = (
        np.array([3, 0, 10, 40, 1, 8], np.int32),
        np.array([0.8, 0.6, 0.9, 1.0, 0.5, 0.0], np.float32),
    )
    least = np.array([0.0, 0.3, 0.5, 0.1, 1.0, 0.2], np.float32) if drops else None
    token, left = nn.empty(np.int64, (6,)), nn.empty(np.float32, (6, 40))
    places, shares = nn.empty(np.int64, (6, 40)), nn.empty(np.float32, (6, 40))
    nn.run(
        "aclnnTopKTopPSampleV2",
        nn.tensor(logits),
        nn.tensor(k),
        nn.tensor(p),
        nn.tensor(q) if draws else None,
        nn.tensor(least) if drops else None,
        1e-8,
        True,
        32,
        16,
        raw,
        True,
        token,
        left,
        places,
        shares,
    )
    order, want, tokens = sampled(logits, k, p, least, q, raw, 16)
    np.testing.assert_array_equal(token.read(), tokens)
    np.testing.assert_array_equal(places.read(), order)
    np.testing.assert_allclose(shares.read(), want, rtol=1e-5, atol=1e-7)
    kept = np.zeros_like(want, bool)
    np.put_along_axis(kept, order, want > 0, -1)
    np.testing.assert_array_equal(
        left.read(), np.where(kept, logits, -np.inf if raw else 0).astype(np.float32)
    )
    nn.clear()


@pytest.mark.parametrize("stored", [np.int8, np.int32])
def test_rows_are_turned_and_become_integers(nn, stored):
    a, turn = floats(40, 5, 64), np.linalg.qr(floats(41, 16, 16))[0].astype(np.float32)
    most = 127 if stored == np.int8 else 7
    want = (a.reshape(5, 4, 16) @ turn).reshape(5, 64)
    scales = np.abs(want).max(-1) / most
    y, s = nn.empty(stored, (5, 64 if most == 127 else 8)), nn.empty(np.float32, (5,))
    nn.run("aclnnRotateQuant", nn.tensor(a), nn.tensor(turn), None, -1, "rint", 0, 0.0, False, y, s)
    np.testing.assert_allclose(s.read(), scales, rtol=1e-5)
    got = y.read()
    if stored == np.int32:
        got = np.stack([((got >> 4 * i & 15) ^ 8) - 8 for i in range(8)], -1).reshape(5, 64)
    assert np.abs(got * s.read()[:, None] - want).max() <= scales.max() * 0.51
    with pytest.raises(Failed, match="expected null, 0, 0 and false"):
        nn.run(
            "aclnnRotateQuant", nn.tensor(a), nn.tensor(turn), None, -1, "rint", 0, 0.0, True, y, s
        )
    with pytest.raises(Failed, match="a square matrix whose width divides theirs"):
        nn.run(
            "aclnnRotateQuant",
            nn.tensor(a),
            nn.tensor(turn[:15, :15].copy()),
            None,
            -1,
            "rint",
            0,
            0.0,
            False,
            y,
            s,
        )
    nn.clear()
