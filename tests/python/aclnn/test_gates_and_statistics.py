# SPDX-License-Identifier: Apache-2.0
"""Halves that gate each other, parts of batch normalisation, groups, optimizers of whole lists."""
from math import erf

import numpy as np
import pytest
from aclnn_cases import Case, Skip, inout, out, x

from aclnn import Failed

FLOATS = ("float32", "float16", "bfloat16")


def sigmoid(a):
    return 1 / (1 + np.exp(-a))


def gelu(a, tanh=False):
    a = a.astype(np.float64)
    if tanh:
        return 0.5 * a * (1 + np.tanh(np.sqrt(2 / np.pi) * (a + 0.044715 * a ** 3)))
    return 0.5 * a * (1 + np.vectorize(erf)(a / np.sqrt(2)))


def slope(f, a):
    a = a.astype(np.float64)
    return (f(a + 1e-5) - f(a - 1e-5)) / 2e-5


def geglu(a, left, tanh):
    h = a.shape[-1] // 2
    active, other = (a[..., :h], a[..., h:]) if left else (a[..., h:], a[..., :h])
    return gelu(active, tanh) * other, gelu(active, tanh)


def geglu_gradient(dy, a, made, left, tanh):
    h = a.shape[-1] // 2
    active, other = (a[..., :h], a[..., h:]) if left else (a[..., h:], a[..., :h])
    parts = [dy * other * slope(lambda v: gelu(v, tanh), active), dy * made]
    return np.concatenate(parts if left else parts[::-1], -1)


def channels(v, a):
    return v.reshape(1, -1, *[1] * (a.ndim - 2))


def moments(a):
    axes = (0, *range(2, a.ndim))
    return a.mean(axes), a.var(axes), axes


def groups(a, g, b, count, eps, act):
    rows = a.astype(np.float64).reshape(a.shape[0], count, -1)
    mean, rstd = rows.mean(-1), 1 / np.sqrt(rows.var(-1) + eps)
    y = ((rows - mean[..., None]) * rstd[..., None]).reshape(a.shape) * channels(g, a) + channels(b,
                                                                                                  a)
    return act(y), mean, rstd


def joined(counts, means, variances):
    n, all_ = counts[:, None], counts.sum()
    mean = (means * n).sum(0) / all_
    squares = ((variances + (means - mean) ** 2) * n).sum(0)
    return mean, squares / all_, squares / (all_ - 1)


def gathered(mean, invstd, run_mean, run_var, counts):
    m, v, u = joined(counts, mean, 1 / invstd ** 2 - 1e-5)
    return run_mean * 0.9 + m * 0.1, run_var * 0.9 + u * 0.1, m, 1 / np.sqrt(v + 1e-5)


def synced(sums, squares, counts, run_mean, run_var):
    means = sums / counts[:, None]
    m, v, u = joined(counts, means, squares / counts[:, None] - means ** 2)
    return run_mean * 0.9 + m * 0.1, run_var * 0.9 + u * 0.1, m, 1 / np.sqrt(v + 1e-5)


def elemt_gradient(dy, a, mean, inv, w, s, sx, counts):
    n = counts.sum()
    inner = dy - channels(s / n, a) - (a - channels(mean, a)) * channels(inv ** 2 * sx / n, a)
    return inner * channels(inv * w, a)


def reduced(dy, a, mean, inv, w):
    axes = (0, 2, 3)
    with_x = (dy * (a - channels(mean, a))).sum(axes)
    return dy.sum(axes), with_x, with_x * inv, dy.sum(axes)


CASES = [
    *[Case("aclnnGeGluV3", [x(3, 8), Skip(-1), Skip(int(t)), Skip(left), out(3, 4), out(3, 4)],
           lambda a, left=left, t=t: geglu(a, left, t), types=FLOATS, tolerance=2e-2)
      for left in (False, True) for t in (False, True)],
    Case("aclnnGeGlu", [x(4, 6, 3), Skip(1), Skip(1), out(4, 3, 3), out(4, 3, 3)],
         lambda a: tuple(v.swapaxes(1, 2) for v in geglu(a.swapaxes(1, 2), False, True))),
    *[Case("aclnnGeGluV3Backward", [x(3, 4), x(3, 8), x(3, 4), Skip(-1), Skip(int(t)), Skip(left),
                                    out(3, 8)],
           lambda dy, a, g, left=left, t=t: geglu_gradient(dy, a, g, left, t), tolerance=1e-4)
      for left in (False, True) for t in (False, True)],
    Case("aclnnGeluMul", [x(3, 8), Skip("none"), out(3, 4)], lambda a: geglu(a, True, False)[0]),
    Case("aclnnFatreluMul", [x(3, 8), x(1, like=[0.2]), out(3, 4)],
         lambda a, t: np.where(a[:, :4] > np.float32(0.2), a[:, :4], 0) * a[:, 4:]),
    Case("aclnnSwish", [x(3, 4), 1.5, out(3, 4)], lambda a, b: a * sigmoid(a * b), types=FLOATS),
    Case("aclnnSwish", [x(3, 4), Skip(None), out(3, 4)], lambda a: a * sigmoid(a)),
    Case("aclnnSwishBackward", [x(3, 4), x(3, 4), 1.5, out(3, 4)],
         lambda dy, a, b: dy * slope(lambda v: v * sigmoid(v * b), a), tolerance=1e-4),
    Case("aclnnFastGelu", [x(3, 4), out(3, 4)], lambda a: a * sigmoid(1.702 * a)),
    Case("aclnnFastGeluBackward", [x(3, 4), x(3, 4), out(3, 4)],
         lambda dy, a: dy * slope(lambda v: v * sigmoid(1.702 * v), a), tolerance=1e-4),
    Case("aclnnAddRelu", [x(3, 4), x(4), 0.5, out(3, 4)], lambda a, b, s: np.maximum(a + s * b, 0),
         types=FLOATS),
    Case("aclnnInplaceAddRelu", [inout(3, 4), x(3, 4), 1], lambda a, b, s: np.maximum(a + b, 0)),
    Case("aclnnShrink", [x(3, 4), 0.5, 0.2, out(3, 4)],
         lambda a, h, b: np.where(a < -h, a + b, np.where(a > h, a - b, 0))),
    Case("aclnnMaskedScale", [x(3, 4), x(3, 4, dtype="uint8", like="bool"), 2.0, out(3, 4)],
         lambda a, m, s: a * m * s),
    Case("aclnnBatchNormStats", [x(2, 3, 4, 5), 1e-5, out(3), out(3)],
         lambda a, e: (moments(a)[0], 1 / np.sqrt(moments(a)[1] + e)), tolerance=1e-4),
    Case("aclnnBatchNormReduce", [x(2, 3, 4, 5), out(3), out(3)],
         lambda a: (a.sum((0, 2, 3)), (a * a).sum((0, 2, 3))), tolerance=1e-4),
    Case("aclnnBatchNormElemt", [x(2, 3, 4), x(3), x(3), x(3), x(3, like="positive"), Skip(1e-5),
                                 out(2, 3, 4)],
         lambda a, w, b, m, i: (a - channels(m, a)) * channels(i * w, a) + channels(b, a)),
    Case("aclnnBatchNormReduceBackward", [x(2, 3, 4, 5), x(2, 3, 4, 5), x(3), x(3, like="positive"),
                                          x(3), Skip(True),
                                          Skip(True), Skip(True), out(3), out(3), out(3), out(3)],
         reduced, tolerance=1e-4),
    Case("aclnnBatchNormElemtBackward", [x(2, 3, 4, 5), x(2, 3, 4, 5), x(3), x(3, like="positive"),
                                         x(3), x(3), x(3),
                                         x(2, dtype="int32", like=[40, 30]), out(2, 3, 4, 5)],
         elemt_gradient, tolerance=1e-4),
    Case("aclnnBatchNormGatherStatsWithCounts", [Skip(None), x(2, 3), x(2, 3, like="unit"),
                                                 inout(3), inout(3),
                                                 Skip(0.1), Skip(1e-5), x(2, like=[40, 30]), out(3),
                                                 out(3)],
         gathered, tolerance=1e-3, layouts=("contiguous",)),
    Case("aclnnSyncBatchNormGatherStats", [x(2, 3), x(2, 3, like=[[90, 80, 70], [60, 90, 50]]),
                                           x(2, like=[40, 30]),
                                           inout(3), inout(3), Skip(0.1), Skip(1e-5), out(3),
                                           out(3)],
         synced, tolerance=1e-3),
    Case("aclnnGroupNormSilu", [x(2, 6, 4), x(6), x(6), Skip(3), Skip(1e-5), out(2, 6, 4),
                                out(2, 3), out(2, 3)],
         lambda a, g, b: groups(a, g, b, 3, 1e-5, lambda y: y * sigmoid(y)), tolerance=1e-4),
    Case("aclnnGroupNormSiluV2", [x(2, 6, 4), x(6), x(6), Skip(3), Skip(1e-5), Skip(False),
                                  out(2, 6, 4), out(2, 3),
                                  out(2, 3)], lambda a, g, b: groups(a, g, b, 3, 1e-5, lambda y: y),
         tolerance=1e-4),
    Case("aclnnGroupNormSwish", [x(2, 6, 4), x(6), x(6), Skip(2), Skip("NCHW"), Skip(1e-5),
                                 Skip(True), Skip(0.5), out(2, 6, 4), out(2, 2), out(2, 2)],
         lambda a, g, b: groups(a, g, b, 2, 1e-5, lambda y: y * sigmoid(y * 0.5)), tolerance=1e-4),
    Case("aclnnInstanceNorm", [x(2, 3, 4, 5), x(3), x(3), Skip("NCHW"), Skip(1e-5), out(2, 3, 4, 5),
                               out(2, 3, 1, 1), out(2, 3, 1, 1)],
         lambda a, g, b: (groups(a, g, b, 3, 1e-5, lambda y: y)[0], a.mean((2, 3), keepdims=True),
                          a.var((2, 3), keepdims=True)), tolerance=1e-4),
    Case("aclnnFastLayerNorm", [x(4, 8), Skip([8]), x(8), x(8), Skip(1e-5), out(4, 8), out(4, 1),
                                out(4, 1)],
         lambda a, g, b: ((a - a.mean(-1, keepdims=True)) / np.sqrt(a.var(-1,
             keepdims=True) + 1e-5) * g + b,
                          a.mean(-1, keepdims=True), 1 / np.sqrt(a.var(-1, keepdims=True) + 1e-5)),
         tolerance=1e-4),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_results(nn, case):
    case.check(nn)


def test_what_does_not_fit_is_said(nn):
    a, b = nn.tensor(np.zeros((2, 7), np.float32)), nn.empty(np.float32, (2, 3))
    with pytest.raises(Failed, match="axis 1 has 7 elements; expected an even number"):
        nn.run("aclnnGeGlu", a, -1, 0, b, b)
    g = nn.tensor(np.zeros(7, np.float32))
    with pytest.raises(Failed, match="7 channels in 2 groups"):
        nn.run("aclnnGroupNormSilu", a, g, g, 2, 1e-5, nn.empty(np.float32, (2, 7)), b, b)
    nn.clear()


# --- lists and optimizers

@pytest.mark.parametrize("name,oracle", [
    ("Erfc", lambda a: 1 - np.vectorize(erf)(a)), ("Expm1", np.expm1), ("Log10", np.log10),
    ("Log1p", np.log1p), ("Log2", np.log2)])
def test_functions_of_lists(nn, name, oracle):
    arrays = [np.abs(np.random.default_rng(i).standard_normal((2,
        3 + i))).astype(np.float32) + 0.1 for i in range(2)]
    outs = [nn.empty(np.float32, a.shape) for a in arrays]
    nn.run("aclnnForeach" + name, nn.tensors([nn.tensor(a) for a in arrays]), nn.tensors(outs))
    for got, a in zip(outs, arrays):
        np.testing.assert_allclose(got.read(), oracle(a.astype(np.float64)), rtol=2e-5, atol=1e-6)
    nn.clear()


@pytest.mark.parametrize("mode,oracle", [
    (1, np.round), (2, np.floor), (3, np.ceil), (4, lambda a: np.trunc(a + np.copysign(0.5, a))),
    (5, np.trunc), (7, lambda a: a - np.trunc(a))])
def test_rounding_of_lists(nn, mode, oracle):
    a = np.array([-2.5, -1.2, -0.5, 0.5, 1.5, 2.7], np.float32)
    got = nn.empty(np.float32, a.shape)
    nn.run("aclnnForeachRoundOffNumberV2", nn.tensors([nn.tensor(a)]), nn.scalar(mode),
           nn.tensors([got]))
    np.testing.assert_allclose(got.read(), oracle(a), rtol=1e-6)
    nn.clear()


@pytest.mark.parametrize("momentum,nesterov,first",
                         [(0.0, False, False), (0.9, False, True), (0.9, False, False),
                                                     (0.9, True, False)])
@pytest.mark.parametrize("scaled", [False, True])
def test_sgd_of_lists(nn, momentum, nesterov, first, scaled):
    w, g, m = (np.random.default_rng(i).standard_normal((3,
                                                         4)).astype(np.float32) for i in range(3))
    tensors = [nn.tensor(v) for v in (w, g, m)]
    lists = [nn.tensors([t]) for t in tensors]
    nn.run("aclnnFusedSgd", *lists, nn.tensor(np.array([4], np.float32)) if scaled else None, 0.1,
           momentum, 0.05, 0.2, nesterov, False, first)
    grad = g / 4 if scaled else g
    step = grad + 0.1 * w
    buffer = step if first else momentum * m + 0.8 * step
    move = step if momentum == 0 else step + momentum * buffer if nesterov else buffer
    np.testing.assert_allclose(tensors[0].read(), w - 0.05 * move, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(tensors[1].read(), grad, rtol=1e-6)
    np.testing.assert_allclose(tensors[2].read(), m if momentum == 0 else buffer, rtol=1e-5,
                               atol=1e-6)
    nn.clear()


def one(nn, value):
    return nn.tensor(np.array([value], np.float32))


def test_adam(nn):
    rng = np.random.default_rng(3)
    w, m, g = (rng.standard_normal((3, 4)).astype(np.float32) for _ in range(3))
    v = np.abs(rng.standard_normal((3, 4))).astype(np.float32)
    m1, v1 = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
    numbers = [one(nn, n) for n in (0.81, 0.98, 0.01)]
    betas = [one(nn, n) for n in (0.9, 0.99, 1e-6)]
    state = [nn.tensor(a) for a in (w, m, v)]
    nn.run("aclnnApplyAdam", *state, *numbers, *betas, nn.tensor(g), False, False)
    rate = 0.01 * np.sqrt(1 - 0.98) / (1 - 0.81)
    for got, want in zip(state, (w - rate * m1 / (np.sqrt(v1) + 1e-6), m1, v1)):
        np.testing.assert_allclose(got.read(), want, rtol=1e-4, atol=1e-5)
    state = [nn.tensor(a) for a in (w, m, v)]
    nn.run("aclnnApplyAdamW", *state, *numbers, one(nn, 0.1), *betas, nn.tensor(g), None, False,
           False)
    move = 0.01 * (m1 / (1 - 0.81)) / (np.sqrt(v1 / (1 - 0.98)) + 1e-6)
    np.testing.assert_allclose(state[0].read(), w * (1 - 0.001) - move, rtol=1e-4, atol=1e-5)
    nn.clear()


@pytest.mark.parametrize("mode", [0, 1])
def test_adam_with_a_mean_of_weights(nn, mode):
    rng = np.random.default_rng(4)
    g, w, m, s = (rng.standard_normal((3, 4)).astype(np.float32) for _ in range(4))
    v = np.abs(rng.standard_normal((3, 4))).astype(np.float32)
    state = [nn.tensor(a) for a in (w, m, v, s)]
    nn.run("aclnnApplyFusedEmaAdam", nn.tensor(g), *state, nn.tensor(np.array([3], np.int64)), 0.01,
           0.5, 0.9, 0.99, 1e-6, mode, True, 0.1)
    grad = g + 0.1 * w if mode == 0 else g
    m1, v1 = 0.9 * m + 0.1 * grad, 0.99 * v + 0.01 * grad * grad
    move = (m1 / (1 - 0.9 ** 3)) / (np.sqrt(v1 / (1 - 0.99 ** 3)) + 1e-6) + (0.1 * w if mode else 0)
    w1 = w - 0.01 * move
    for got, want in zip(state, (w1, m1, v1, 0.5 * s + 0.5 * w1)):
        np.testing.assert_allclose(got.read(), want, rtol=1e-4, atol=1e-5)
    nn.clear()


def test_random_numbers_with_seeds_in_tensors(nn):
    seed, offset = nn.tensor(np.array([7], np.int64)), nn.tensor(np.array([2], np.int64))
    a, b = nn.empty(np.float32, (1000,)), nn.empty(np.float32, (1000,))
    nn.run("aclnnInplaceUniformTensor", a, 0.0, 2.0, seed, offset, 3)
    nn.run("aclnnInplaceUniform", b, 0.0, 2.0, 7, 5)
    np.testing.assert_array_equal(a.read(), b.read())
    nn.run("aclnnInplaceNormalTensor", a, 1.0, 2.0, seed, offset, 0)
    assert abs(a.read().mean() - 1) < 0.3 and abs(a.read().std() - 2) < 0.3
    whole = nn.empty(np.int64, (50,))
    nn.run("aclnnRandperm", 50, 1, 2, whole)
    assert sorted(whole.read()) == list(range(50)) and list(whole.read()) != list(range(50))
    small = nn.empty(np.uint8, (4000,))
    nn.run("aclnnInplaceRandomWithoutFromTo", small, 3, 0)
    assert len(set(small.read())) == 256
    nn.clear()
