# SPDX-License-Identifier: Apache-2.0
"""What servers and trainers of language models call around attention and products: rotary
positions, caches written at places, steps of sequences, cross entropy; weights in the program's own
format."""
import ctypes

import numpy as np
import pytest
from aclnn_cases import Case, Skip, inout, out, x

from aclnn import Failed


def floats(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def turned(a, pairs=False):
    if pairs:
        y = np.empty_like(a)
        y[..., ::2], y[..., 1::2] = -a[..., 1::2], a[..., ::2]
        return y
    h = a.shape[-1] // 2
    return np.concatenate([-a[..., h:], a[..., :h]], -1)


def turned_back(a, pairs=False):
    return -turned(a, pairs)


def softmax(a):
    e = np.exp(a - a.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def log_softmax(a):
    return np.log(softmax(a.astype(np.float64)))


def rope_gradient(dy, c, s, a, pairs):
    return (dy * c + turned_back(dy * s, pairs), (dy * a).sum((0, 2), keepdims=True),
            (dy * turned(a, pairs)).sum((0, 2), keepdims=True))


def evens_first(a):
    return np.concatenate([a[..., ::2], a[..., 1::2]], -1)


def softmax_gradient(dy, y, m, s):
    return np.where(m, 0, (dy - (dy * y).sum(-1, keepdims=True)) * y * s)


def kl_target(g, a, t, log):
    return g * np.exp(t) * (t + 1 - a) if log else np.where(t > 0, g * (np.log(np.abs(t)) + 1 - a),
                                                            0)


def cdist_gradient(g, a, b, p):
    diff = a[:, None].astype(np.float64) - b[None]
    dist = (np.abs(diff) ** p).sum(-1) ** (1 / p)
    return (g[..., None] * np.sign(diff) * np.abs(diff) ** (p - 1) / dist[...,
                                                                          None] ** (p - 1)).sum(1)


A, B = floats(40, 4, 3), floats(41, 5, 3)


def distances(p):
    return (np.abs(A[:, None] - B[None]) ** p).sum(-1) ** (1 / p)


CASES = [
    *[Case("aclnnApplyRotaryPosEmbV2", [inout(2, 3, 4, 8), inout(2, 3, 2, 8), x(2, 3, 1, 8),
                                        x(2, 3, 1, 8), Skip(1), Skip(mode)],
           lambda q, k, c, s, p=mode == "interleave": (q * c + turned(q, p) * s,
                                                       k * c + turned(k, p) * s))
      for mode in ("half", "interleave")],
    Case("aclnnInterleaveRope", [x(2, 1, 3, 8), x(2, 1, 3, 8), x(2, 1, 3, 8), out(2, 1, 3, 8)],
         lambda a, c, s: evens_first(a) * c + turned(evens_first(a)) * s),
    *[Case("aclnnRotaryPositionEmbeddingGrad", [x(2, 3, 4, 8), x(1, 3, 1, 8), x(1, 3, 1, 8),
                                                x(2, 3, 4, 8), Skip(mode),
                                                out(2, 3, 4, 8), out(1, 3, 1, 8), out(1, 3, 1, 8)],
           lambda dy, c, s, a, p=bool(mode): rope_gradient(dy, c, s, a, p),
           tolerance=1e-4) for mode in (0, 1)],
    Case("aclnnScaledMaskedSoftmax", [x(2, 2, 3, 4), x(2, 1, 3, 4, dtype="bool"), 0.5, Skip(False),
                                      out(2, 2, 3, 4)],
         lambda a, m, s: softmax(np.where(m, -10000, a * s))),
    Case("aclnnScaledMaskedSoftmax", [x(2, 2, 3, 3), Skip(None), 0.5, Skip(True), out(2, 2, 3, 3)],
         lambda a, s: softmax(np.where(np.triu(np.ones((3, 3), bool), 1), -10000, a * s))),
    Case("aclnnScaledMaskedSoftmaxBackward", [x(2, 2, 3, 4), x(2, 2, 3, 4, like="unit"),
                                              x(2, 1, 3, 4, dtype="bool"),
                                              0.5, Skip(False), out(2, 2, 3, 4)], softmax_gradient),
    Case("aclnnTransformBiasRescaleQkv", [x(2, 3, 24), x(24), Skip(2), out(2, 2, 3, 4),
                                          out(2, 2, 3, 4), out(2, 2, 3, 4)],
         lambda a, b: tuple(v / (2 if i == 0 else 1) for i, v in enumerate(
             (a + b).reshape(2, 3, 3, 2, 4).transpose(2, 0, 3, 1, 4)))),
    Case("aclnnGroupedBiasAddGrad", [x(6, 4), x(3, dtype="int64", like=[2, 2, 6]), out(3, 4)],
         lambda g, e: np.stack([g[:2].sum(0), np.zeros(4), g[2:].sum(0)]), tolerance=1e-4),
    Case("aclnnGroupedBiasAddGradV2", [x(6, 4), x(3, dtype="int64", like=[2, 0, 4]), Skip(1),
                                       out(3, 4)],
         lambda g, e: np.stack([g[:2].sum(0), np.zeros(4), g[2:].sum(0)]), tolerance=1e-4),
    Case("aclnnGroupedBiasAddGrad", [x(2, 3, 4), Skip(None), out(2, 4)], lambda g: g.sum(1),
         tolerance=1e-4),
    Case("aclnnTransposeBatchMatMul", [x(5, 2, 3), x(2, 3, 4), Skip(None), Skip(None),
                                       Skip([1, 0, 2]), Skip([0, 1, 2]),
                                       Skip([1, 0, 2]), Skip(0), Skip(1), out(5, 2, 4)],
         lambda a, b: np.einsum("mbk,bkn->mbn", a, b), tolerance=1e-4),
    *[Case("aclnnFusedMatmul", [x(3, 4), x(4, 5), x(5), x(3, 5), Skip(op), Skip(0), out(3, 5)],
           lambda a, b, c, d, f=f: f(a @ b + c, d), tolerance=1e-4)
      for op, f in (("add", lambda y, d: y + d), ("mul", lambda y, d: y * d),
                    ("relu", lambda y, d: np.maximum(y, 0)), ("", lambda y, d: y))],
    Case("aclnnInplaceScatterUpdate", [inout(2, 3, 6, 4), x(2, dtype="int64", like=[1, 4]),
                                       x(2, 3, 2, 4), Skip(-2)],
         lambda a, at, u: np.stack([np.concatenate([a[b, :, :i], u[b], a[b, :, i + 2:]], 1)
                                    for b, i in enumerate((1, 4))])),
    *[Case("aclnnKlDivTargetBackward", [x(3, 4), x(3, 4), x(3, 4), Skip(0), log, out(3, 4)],
           kl_target)
      for log in (False, True)],
    Case("aclnnBinaryCrossEntropyWithLogitsTargetBackward",
         [x(3, 4), x(3, 4), x(3, 4, like="unit"), x(4), x(4), Skip(0),
                                                             out(3, 4)],
         lambda g, a, t, w, p: g * w * (p * np.log1p(np.exp(-a)) - np.log1p(np.exp(a)))),
    *[Case("aclnnCdistBackward", [x(4, 5), x(4, 3, like=A), x(5, 3, like=B),
                                  x(4, 5, like=distances(p)), Skip(p),
                                  out(4, 3)], lambda g, a, b, d, p=p: cdist_gradient(g, a, b, p),
           tolerance=1e-4)
      for p in (1.0, 2.0, 3.0)],
    Case("aclnnSoftmaxCrossEntropyWithLogits", [x(4, 6), x(4, 6, like="unit"), out(4), out(4, 6)],
         lambda a, t: (-(t * log_softmax(a)).sum(-1), softmax(a) - t)),
    Case("aclnnUnfoldGrad", [x(2, 3, 4), Skip([2, 8]), Skip(1), Skip(4), Skip(2), out(2, 8)],
         lambda g: np.stack([sum(np.pad(g[b, w], (2 * w,
                                                  4 - 2 * w)) for w in range(3))
                             for b in range(2)])),
    Case("aclnnIsInTensorScalar", [x(3, 4, dtype="int64"), 2, Skip(False), Skip(False),
                                   out(3, 4, dtype="bool")],
         lambda a, v: a == v),
    Case("aclnnIsInScalarTensor", [3, x(3, dtype="int64", like=[1, 3, 5]), Skip(False), Skip(True),
                                   out(dtype="bool")], lambda v, a: np.array(False)),
    Case("aclnnSearchSorteds", [x(4, like=[1, 2, 3, 4]), 2.0, Skip(False), Skip(True), Skip(None),
                                out(dtype="int64")],
         lambda a, v: np.array(2)),
    Case("aclnnLeftShifts", [x(3, 4, dtype="int32", like="small"), 2, out(3, 4, dtype="int32")],
         lambda a, s: a << s),
    Case("aclnnReal", [x(3, 4, dtype="complex64"), out(3, 4)], lambda a: a.real),
    Case("aclnnInplaceCumprod", [inout(3, 4), -1], lambda a, d: np.cumprod(a, -1)),
    Case("aclnnConvTbc", [x(6, 2, 3), x(3, 3, 4), x(4), Skip(1), out(6, 2, 4), Skip(0)],
         lambda a, w, b: sum(np.pad(a, ((1, 1), (0, 0),
                                        (0, 0)))[i:i + 6] @ w[i] for i in range(3)) + b,
         tolerance=1e-4),
    Case("aclnnConvDepthwise2d", [x(1, 2, 4, 4), x(2, 1, 1, 1), Skip([1, 1]), x(2), Skip([1, 1]),
                                  Skip([0, 0]), Skip([1, 1]), out(1, 2, 4, 4), Skip(0)],
         lambda a, w, b: a * w.reshape(1, 2, 1, 1) + b.reshape(1, 2, 1, 1)),
    Case("aclnnPdistForward", [x(4, 3), 2.0, out(6)],
         lambda a, p: np.array([np.linalg.norm(a[i] - a[j]) for i in range(4) for j in range(i + 1,
                                                                                             4)])),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_results(nn, case):
    case.check(nn)


@pytest.mark.parametrize("neox", [True, False])
@pytest.mark.parametrize("sections", [None, [2, 1, 1]])
def test_angles_out_of_a_cache(nn, neox, sections):
    q, k, cache = floats(1, 5, 3 * 10), floats(2, 5, 10), floats(3, 16, 8)
    at = np.random.default_rng(4).integers(0, 16, (3, 5) if sections else (5,))
    if sections:
        part = np.repeat(np.arange(3), sections)
        cos = np.stack([cache[at[i]][:, j] for j, i in enumerate(part)], 1)
        sin = np.stack([cache[at[i]][:, 4 + j] for j, i in enumerate(part)], 1)
    else:
        cos, sin = cache[at][:, :4], cache[at][:, 4:]

    def rotated(a):
        a = a.reshape(5, -1, 10).astype(np.float64)
        u, v = (a[..., :4], a[..., 4:8]) if neox else (a[..., :8:2], a[..., 1:8:2])
        c, s = cos[:, None], sin[:, None]
        y = a.copy()
        y[..., :8] = (np.concatenate([u * c - v * s, v * c + u * s], -1) if neox else
                      np.stack([u * c - v * s, v * c + u * s], -1).reshape(*u.shape[:-1], 8))
        return y.reshape(5, -1)
    outs = nn.empty(np.float32, q.shape), nn.empty(np.float32, k.shape)
    nn.run("aclnnRopeWithSinCosCache", nn.tensor(at), nn.tensor(q), nn.tensor(k), nn.tensor(cache),
           sections, 10, neox, *outs)
    for got, a in zip(outs, (q, k)):
        np.testing.assert_allclose(got.read(), rotated(a), rtol=1e-5, atol=1e-5)
    nn.clear()


def test_a_list_of_caches_is_written(nn):
    caches, fresh = [floats(5 + i, 2, 6, 4) for i in range(3)], floats(9, 3, 2, 1, 4)
    tensors = [nn.tensor(c) for c in caches]
    nn.run("aclnnScatterList", nn.tensors(tensors), nn.tensor(np.array([0, 5, 2], np.int64)),
           nn.tensor(fresh), nn.tensor(np.array([1, 1, 0], np.uint8)), "update", -2)
    for i, (tensor, at) in enumerate(zip(tensors, (0, 5, None))):
        want = caches[i].copy()
        if at is not None:
            want[:, at] = fresh[i, :, 0]
        np.testing.assert_array_equal(tensor.read(), want)
    nn.clear()


def test_the_next_step_of_sequences(nn):
    state = {"tokens": [9, 9, 9], "sampled": [4, 5], "positions": [7, 3, 0], "lengths": [8, 4, 1],
             "slots": [0, 0, 7]}
    t = {k: nn.tensor(np.array(v, np.int64)) for k, v in state.items()}
    tables = nn.tensor(np.array([[3, 1, 6], [2, 0, 5], [4, 4, 4]], np.int64))
    nn.run("aclnnAdvanceStep", t["tokens"], t["sampled"], t["positions"], t["lengths"], t["slots"],
           tables, 3, 2, 4)
    assert t["tokens"].read().tolist() == [4, 5, 9]
    assert t["lengths"].read().tolist() == [9, 5, 1]
    assert t["positions"].read().tolist() == [8, 4, 0]
    assert t["slots"].read().tolist() == [6 * 4, 0 * 4, 7]
    nn.clear()


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("smooth", [0.0, 0.2])
@pytest.mark.parametrize("weighted", [False, True])
def test_cross_entropy_and_its_gradient(nn, reduction, smooth, weighted):
    a, target = floats(20, 6, 5), np.array([0, 4, 2, -100, 1, 3])
    w = np.abs(floats(21, 5)) + 0.1 if weighted else np.ones(5)

    def loss_of(v):
        logs = log_softmax(v)
        each = np.zeros(6)
        for i, c in enumerate(target):
            if c >= 0:
                each[i] = -(1 - smooth) * w[c] * logs[i, c] - smooth / 5 * (w * logs[i]).sum()
        total = w[target[target >= 0]].sum()
        return each if reduction == "none" else each.sum() / (total if reduction == "mean" else 1)
    shape = (6,) if reduction == "none" else ()
    loss, logs = nn.empty(np.float32, shape), nn.empty(np.float32, (6, 5))
    weight = nn.tensor(w.astype(np.float32)) if weighted else None
    nn.run("aclnnCrossEntropyLoss", nn.tensor(a), nn.tensor(target), weight, reduction, -100,
           smooth, 0.0, False, loss, logs, None, None)
    np.testing.assert_allclose(loss.read(), loss_of(a), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(logs.read(), log_softmax(a), rtol=1e-4, atol=1e-5)
    g = floats(22, *shape) if shape else np.array(1.5, np.float32)
    grad = nn.empty(np.float32, (6, 5))
    nn.run("aclnnCrossEntropyLossGrad", nn.tensor(g), logs, nn.tensor(target), weight, None, None,
           reduction, -100, smooth, 0.0, grad)
    want = np.zeros((6, 5))
    wide = a.astype(np.float64)
    for at in np.ndindex(6, 5):
        step = np.zeros((6, 5))
        step[at] = 1e-5
        want[at] = ((loss_of(wide + step) - loss_of(wide - step)) / 2e-5 * g).sum()
    np.testing.assert_allclose(grad.read(), want, rtol=1e-3, atol=1e-4)
    nn.clear()


def test_weights_that_are_called_fractal(nn):
    """A program transforms its weight once, calls it FRACTAL_NZ from then on and gets the same
    product."""
    a, w = floats(30, 3, 32), floats(31, 32, 48)
    size = ctypes.c_uint64()
    nn.check("aclnnCalculateMatmulWeightSizeV2", nn.base.aclnnCalculateMatmulWeightSizeV2(
        nn.ints([32, 48]), 0, ctypes.byref(size)))
    assert size.value == 32 * 48
    weight = nn.tensor(w)
    nn.run("aclnnTransMatmulWeight", weight)
    dims, stored = (ctypes.c_int64 * 2)(32, 48), (ctypes.c_int64 * 1)(32 * 48)
    strides = (ctypes.c_int64 * 2)(48, 1)
    weight.handle = nn.base.aclCreateTensor(dims, 2, 0, strides, 0, 29, stored, 1,
                                            ctypes.c_void_p(weight.memory))
    nn.objects.append(("aclDestroyTensor", weight.handle))
    y = nn.empty(np.float32, (3, 48))
    nn.run("aclnnMatmul", nn.tensor(a), weight, y, 0)
    np.testing.assert_allclose(y.read(), a @ w, rtol=1e-4, atol=1e-4)
    with pytest.raises(Failed, match="a weight has 1 axes"):
        nn.check("aclnnCalculateMatmulWeightSize",
                 nn.base.aclnnCalculateMatmulWeightSize(nn.ints([5]), ctypes.byref(size)))
    nn.clear()


@pytest.mark.parametrize("train", [False, True])
def test_dropout_in_one_operator(nn, train):
    a = np.ones(1000, np.float32)
    y, mask, back = nn.empty(np.float32, (1000,)), nn.empty(np.uint8, (128,)), nn.empty(np.float32,
                                                                                        (1000,))
    nn.run("aclnnDropout", nn.tensor(a), 0.25, train, 5, 0, y, mask)
    got = y.read()
    if not train:
        np.testing.assert_array_equal(got, a)
    else:
        assert abs((got == 0).mean() - 0.25) < 0.06
        np.testing.assert_allclose(got[got != 0], 1 / 0.75, rtol=1e-6)
    nn.run("aclnnDropoutBackward", nn.tensor(a), mask, 1 / 0.75 if train else 1.0, back)
    np.testing.assert_allclose(back.read(), got, rtol=1e-6)
    nn.clear()
