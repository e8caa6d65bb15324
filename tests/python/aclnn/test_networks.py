# SPDX-License-Identifier: Apache-2.0
"""Products, reductions, normalisations, convolutions, pooling, losses and what optimizers call."""
import ctypes

import numpy as np
import pytest
from aclnn_cases import Case, Skip, inout, out, x

FLOATS = ("float32", "float16", "bfloat16")
RNG = np.random.default_rng(3)


def softmax(a, axis=-1):
    e = np.exp(a - a.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def batch_norm(a, w, b, mean, var, training, momentum, eps):
    shape = (1, -1) + (1,) * (a.ndim - 2)
    axes = (0, *range(2, a.ndim))
    if training:
        m, v = a.mean(axes), a.var(axes)
        n = a.size / a.shape[1]
        mean = (1 - momentum) * mean + momentum * m
        var = (1 - momentum) * var + momentum * v * n / (n - 1)
    else:
        m, v = mean, var
    y = (a - m.reshape(shape)) / np.sqrt(v.reshape(shape) + eps) * w.reshape(shape)
    return y + b.reshape(shape), mean, var, m, 1 / np.sqrt(v + eps)


def conv(a, w, stride, pad, dilation, groups):
    a = np.pad(a, [(0, 0), (0, 0), (pad, pad), (pad, pad)]).astype(np.float64)
    n, _, h, width = a.shape
    co, ci, kh, kw = w.shape
    oh = (h - dilation * (kh - 1) - 1) // stride + 1
    ow = (width - dilation * (kw - 1) - 1) // stride + 1
    y = np.zeros((n, co, oh, ow))
    for o in range(co):
        g = o // (co // groups)
        for c in range(ci):
            for i in range(kh):
                for j in range(kw):
                    y[:, o] += w[o, c, i, j] * a[:, g * ci + c,
                                                 i * dilation:i * dilation + stride * oh:stride,
                                                 j * dilation:j * dilation + stride * ow:stride]
    return y


def conv_gradients(grad, a, w, stride, pad, dilation, groups):
    """By the definition, one output element at a time."""
    padded = np.pad(a, [(0, 0), (0, 0), (pad, pad), (pad, pad)]).astype(np.float64)
    da, dw = np.zeros_like(padded), np.zeros(w.shape)
    co, ci, kh, kw = w.shape
    for n, o, y, z in np.ndindex(grad.shape):
        g = o // (co // groups)
        rows = slice(y * stride, y * stride + dilation * (kh - 1) + 1, dilation)
        columns = slice(z * stride, z * stride + dilation * (kw - 1) + 1, dilation)
        channels = slice(g * ci, (g + 1) * ci)
        dw[o] += grad[n, o, y, z] * padded[n, channels, rows, columns]
        da[n, channels, rows, columns] += grad[n, o, y, z] * w[o]
    if pad:
        da = da[:, :, pad:-pad, pad:-pad]
    return da, dw, grad.sum((0, 2, 3))


def max_pool_backward(grad, a, kernel, stride, pad):
    padded = np.pad(a, [(0, 0), (0, 0), (pad, pad), (pad, pad)], constant_values=-np.inf)
    da = np.zeros_like(padded)
    for n, c, y, z in np.ndindex(grad.shape):
        window = padded[n, c, y * stride:y * stride + kernel, z * stride:z * stride + kernel]
        i, j = np.unravel_index(window.argmax(), window.shape)
        da[n, c, y * stride + i, z * stride + j] += grad[n, c, y, z]
    return da[:, :, pad:-pad, pad:-pad] if pad else da


def layer_norm_backward(g, a, shape, mean, rstd, w, b, mask):
    hat = (a - mean) * rstd
    p = g * w
    n = a.shape[-1]
    da = rstd * (p - p.mean(-1, keepdims=True) - hat * (p * hat).sum(-1, keepdims=True) / n)
    return da, (g * hat).reshape(-1, n).sum(0), g.reshape(-1, n).sum(0)


def batch_norm_backward(g, a, w, rm, rv, mean, inv, training, eps, mask):
    s = (1, -1, 1, 1)
    hat = (a - mean.reshape(s)) * inv.reshape(s)
    n = a.size / a.shape[1]
    db, dw = g.sum((0, 2, 3)), (g * hat).sum((0, 2, 3))
    da = (w * inv).reshape(s) * (g - db.reshape(s) / n - hat * dw.reshape(s) / n)
    return da, dw, db


def nll(a, t, w, reduction, ignore):
    weights = np.where(t == ignore, 0, w[t])
    loss = -a[np.arange(len(t)), np.where(t == ignore, 0, t)] * weights
    total = weights.sum()
    return (loss if reduction == 0 else loss.sum() / (total if reduction == 1 else 1)), total


def nll_backward(g, a, t, w, reduction, ignore, total):
    weights = np.where(t == ignore, 0, w[t])
    d = np.zeros_like(a)
    d[np.arange(len(t)), t] = -weights * g / (total if reduction == 1 else 1)
    return d


TARGETS = [1, 0, 3, 2]
CASES = [
    Case("aclnnMatmul", [x(3, 4), x(4, 5), out(3, 5), Skip(0)], np.matmul, types=FLOATS,
         tolerance=2e-2),
    Case("aclnnMatmul", [x(2, 3, 4), x(4, 5), out(2, 3, 5), Skip(0)], np.matmul),
    Case("aclnnMatmul", [x(4), x(4, 5), out(5), Skip(0)], np.matmul),
    Case("aclnnMatmul", [x(3, 4), x(4), out(3), Skip(0)], np.matmul),
    Case("aclnnMatmul", [x(4), x(4), out(), Skip(0)], np.matmul),
    Case("aclnnMatmul", [x(0, 4), x(4, 5), out(0, 5), Skip(0)], np.matmul),
    Case("aclnnMatmul", [x(3, 0), x(0, 5), out(3, 5), Skip(0)], np.matmul),
    Case("aclnnBatchMatMul", [x(2, 3, 4), x(2, 4, 5), out(2, 3, 5), Skip(0)], np.matmul),
    Case("aclnnAddmm", [x(5), x(3, 4), x(4, 5), 1, 1, out(3, 5), Skip(0)],
         lambda c, a, b, beta, alpha: c + a @ b, types=FLOATS, tolerance=2e-2),
    Case("aclnnAddmm", [x(3, 5), x(3, 4), x(4, 5), 0.5, 2, out(3, 5), Skip(0)],
         lambda c, a, b, beta, alpha: beta * c + alpha * (a @ b)),
    Case("aclnnAddmm", [x(3, 5, like=np.full(15, np.nan)), x(3, 4), x(4, 5), 0, 1, out(3, 5),
                        Skip(0)], lambda c, a, b, beta, alpha: a @ b),
    Case("aclnnAddmv", [x(3), x(3, 4), x(4), 2, 0.5, out(3), Skip(0)],
         lambda c, a, b, alpha, beta: beta * c + alpha * (a @ b)),
    Case("aclnnAddbmm", [x(3, 5), x(2, 3, 4), x(2, 4, 5), 1, 1, out(3, 5), Skip(0)],
         lambda c, a, b, *_: c + (a @ b).sum(0)),
    Case("aclnnDot", [x(4), x(4), out()], np.dot),
    Case("aclnnReduceSum", [x(2, 3, 4), [1], False, Skip(0), out(2, 4)],
         lambda a, d, k: a.sum(1), types=FLOATS, tolerance=2e-2),
    Case("aclnnReduceSum", [x(2, 3, 4), [], True, Skip(0), out(1, 1, 1)],
         lambda a, d, k: a.sum(keepdims=True)),
    Case("aclnnReduceSum", [x(2, 3, dtype="bool"), [0, -1], False, Skip(9), out(dtype="int64")],
         lambda a, d, k: a.sum()),
    Case("aclnnReduceSum", [x(), [], False, Skip(0), out()], lambda a, d, k: a),
    Case("aclnnMean", [x(2, 3, 4), [0, 2], True, Skip(0), out(1, 3, 1)],
         lambda a, d, k: a.mean((0, 2), keepdims=True), types=FLOATS, tolerance=2e-2),
    Case("aclnnAmax", [x(2, 3, 4), [1], False, out(2, 4)], lambda a, d, k: a.max(1)),
    Case("aclnnMax", [x(2, 3), out()], np.max, types=("float32", "int64")),
    Case("aclnnAny", [x(2, 3, dtype="bool"), [1], False, out(2, dtype="bool")],
         lambda a, d, k: a.any(1)),
    Case("aclnnAll", [x(0, 3, dtype="bool"), [0], False, out(3, dtype="bool")],
         lambda a, d, k: a.all(0)),
    Case("aclnnProd", [x(2, 3), Skip(0), out()], np.prod),
    Case("aclnnVarMean", [x(2, 3, 4), [1, 2], 1, True, out(2, 1, 1), out(2, 1, 1)],
         lambda a, d, c, k: (a.var((1, 2), ddof=1, keepdims=True),
                             a.mean((1, 2), keepdims=True))),
    Case("aclnnStd", [x(2, 3, 4), [1], 1, False, out(2, 4)], lambda a, *_: a.std(1, ddof=1)),
    Case("aclnnNorm", [x(3, 4), 2.0, [1], False, out(3)], lambda a, *_: np.linalg.norm(a, axis=1)),
    Case("aclnnLinalgVectorNorm", [x(3, 4), 3.0, [], False, Skip(0), out()],
         lambda a, *_: (np.abs(a) ** 3).sum() ** (1 / 3)),
    Case("aclnnLogSumExp", [x(3, 4), [1], False, out(3)],
         lambda a, *_: np.log(np.exp(a).sum(1))),
    Case("aclnnSoftmax", [x(2, 3, 4), 1, out(2, 3, 4)], lambda a, d: softmax(a, 1), types=FLOATS),
    Case("aclnnLogSoftmax", [x(3, 4), -1, out(3, 4)], lambda a, d: np.log(softmax(a)),
         types=FLOATS, tolerance=2e-2),
    Case("aclnnSoftmaxBackward", [x(3, 4), x(3, 4, like="unit"), -1, out(3, 4)],
         lambda g, y, d: y * (g - (g * y).sum(-1, keepdims=True)), types=FLOATS, tolerance=2e-2),
    Case("aclnnLogSoftmaxBackward", [x(3, 4), x(3, 4), 1, out(3, 4)],
         lambda g, y, d: g - np.exp(y) * g.sum(-1, keepdims=True)),
    Case("aclnnLayerNorm", [x(2, 3, 8), [8], x(8), x(8), 1e-5, out(2, 3, 8), out(2, 3, 1),
                            out(2, 3, 1)],
         lambda a, s, w, b, eps: ((a - a.mean(-1, keepdims=True))
                                  / np.sqrt(a.var(-1, keepdims=True) + eps) * w + b,
                                  a.mean(-1, keepdims=True),
                                  1 / np.sqrt(a.var(-1, keepdims=True) + eps)),
         tolerance=1e-4),
    Case("aclnnLayerNorm", [x(2, 8), [8], Skip(None), Skip(None), 1e-5, out(2, 8), Skip(None),
                            Skip(None)],
         lambda a, s, eps: (a - a.mean(-1, keepdims=True)) / np.sqrt(a.var(-1, keepdims=True)
                                                                      + eps), tolerance=1e-4),
    Case("aclnnLayerNormBackward",
         [x(4, 8), x(4, 8), [8], x(4, 1), x(4, 1, like="positive"), x(8), x(8),
          [True, True, True], out(4, 8), out(8), out(8)], layer_norm_backward, tolerance=1e-4),
    Case("aclnnBatchNorm",
         [x(4, 3, 5, 5), x(3), x(3), inout(3), inout(3, like="positive"), True, 0.1, 1e-5,
          out(4, 3, 5, 5), out(3), out(3)],
         lambda *a: (lambda y, m, v, sm, si: (m, v, y, sm, si))(*batch_norm(*a)),
         tolerance=1e-4),
    Case("aclnnBatchNorm",
         [x(4, 3), x(3), x(3), x(3), x(3, like="positive"), False, 0.1, 1e-5, out(4, 3), Skip(None),
          Skip(None)], lambda *a: batch_norm(*a)[0], tolerance=1e-4),
    Case("aclnnBatchNormBackward",
         [x(4, 3, 5, 5), x(4, 3, 5, 5), x(3), x(3), x(3, like="positive"), x(3),
          x(3, like="positive"), True, 1e-5, [True, True, True], out(4, 3, 5, 5), out(3), out(3)],
         batch_norm_backward, tolerance=1e-3),
    Case("aclnnNLLLoss", [x(4, 5), x(4, dtype="int64", like=TARGETS), x(5, like="positive"), 1, 3,
                          out(), out()], nll),
    Case("aclnnNLLLoss", [x(4, 5), x(4, dtype="int64", like=TARGETS), x(5, like="positive"), 0,
                          -100, out(4), out()], nll),
    Case("aclnnNLLLossBackward",
         [x(), x(4, 5), x(4, dtype="int64", like=TARGETS), x(5, like="positive"), 1, 3,
          x(like=1.5), out(4, 5)], nll_backward),
    Case("aclnnMseLoss", [x(3, 4), x(3, 4), Skip(1), out()],
         lambda a, t: ((a - t) ** 2).mean()),
    Case("aclnnMseLossBackward", [x(), x(3, 4), x(3, 4), Skip(1), out(3, 4)],
         lambda g, a, t: g * 2 * (a - t) / 12),
    Case("aclnnSmoothL1Loss", [x(3, 4), x(3, 4), Skip(0), 0.5, out(3, 4)],
         lambda a, t, b: np.where(abs(a - t) < b, (a - t) ** 2 / 2 / b, abs(a - t) - b / 2)),
    Case("aclnnBinaryCrossEntropyWithLogits",
         [x(3, 4), x(3, 4, like="unit"), Skip(None), x(4, like="positive"), Skip(2), out()],
         lambda a, t, p: ((1 - t) * a + (1 + (p - 1) * t) * np.log1p(np.exp(-a))).sum()),
    Case("aclnnBinaryCrossEntropyWithLogitsBackward",
         [x(3, 4), x(3, 4), x(3, 4, like="unit"), Skip(None), Skip(None), Skip(0), out(3, 4)],
         lambda g, a, t: g * (1 / (1 + np.exp(-a)) - t)),
    Case("aclnnKlDiv", [x(3, 4), x(3, 4, like="positive"), Skip(2), Skip(False), out()],
         lambda a, t: (t * (np.log(t) - a)).sum()),
    Case("aclnnGroupNorm",
         [x(2, 6, 5), x(6), x(6), Skip(2), Skip(6), Skip(5), Skip(3), 1e-5, out(2, 6, 5),
          out(2, 3), out(2, 3)],
         lambda a, w, b, e: (lambda v: ((lambda m, s: (
             ((v - m) / s).reshape(2, 6, 5) * w.reshape(1, 6, 1) + b.reshape(1, 6, 1),
             m.reshape(2, 3), 1 / s.reshape(2, 3)))(
                 v.mean(-1, keepdims=True), np.sqrt(v.var(-1, keepdims=True) + e))))(
                     a.reshape(2, 3, 10)), tolerance=1e-4),
    Case("aclnnLinalgCross", [x(2, 3), x(2, 3), Skip(1), out(2, 3)], np.cross),
    Case("aclnnTrace", [x(3, 4), out()], np.trace),
    Case("aclnnEmbedding", [x(7, 4), x(2, 3, dtype="int64", like="small"), out(2, 3, 4)],
         lambda w, i: w[i]),
    Case("aclnnEmbeddingDenseBackward",
         [x(6, 4), x(6, dtype="int64", like=[0, 1, 1, 2, 4, 4]), 5, 2, False, out(5, 4)],
         lambda g, i, n, p, s: np.stack([g[0], g[1] + g[2], 0 * g[0], 0 * g[0], g[4] + g[5]])),
    Case("aclnnMaskedSelect", [x(3, 4), x(3, 4, dtype="bool", like=np.ones(12)), out(12)],
         lambda a, m: a[m], layouts=("contiguous",)),
    Case("aclnnGather", [x(3, 4), Skip(1), x(3, 2, dtype="int64", like=[0, 1, 3, 2, 1, 1]),
                         out(3, 2)], lambda a, i: np.take_along_axis(a, i, 1)),
    Case("aclnnIndexSelect", [x(3, 4), Skip(1), x(2, dtype="int64", like=[3, 0]), out(3, 2)],
         lambda a, i: a[:, i]),
    Case("aclnnCat", [[x(2, 3), x(2, 1)], Skip(1), out(2, 4)], lambda a: np.concatenate(a, 1),
         types=FLOATS),
    Case("aclnnStack", [[x(2, 3), x(2, 3)], Skip(1), out(2, 2, 3)], lambda a: np.stack(a, 1)),
    Case("aclnnSplitWithSize", [x(2, 5), Skip([2, 3]), Skip(1), [out(2, 2), out(2, 3)]],
         lambda a: (a[:, :2], a[:, 2:])),
    Case("aclnnTriu", [x(2, 4, 4), Skip(1), out(2, 4, 4)], lambda a: np.triu(a, 1)),
    Case("aclnnTril", [x(4, 4), Skip(-1), out(4, 4)], lambda a: np.tril(a, -1)),
    Case("aclnnFlip", [x(2, 3), Skip([0, 1]), out(2, 3)], lambda a: a[::-1, ::-1]),
    Case("aclnnRoll", [x(3, 4), Skip([1, -2]), Skip([0, 1]), out(3, 4)],
         lambda a: np.roll(a, (1, -2), (0, 1))),
    Case("aclnnRepeat", [x(2, 3), Skip([2, 1, 2]), out(2, 2, 6)],
         lambda a: np.tile(a, (2, 1, 2))),
    Case("aclnnRepeatInterleaveIntWithDim", [x(2, 3), Skip(2), Skip(1), Skip(6), out(2, 6)],
         lambda a: np.repeat(a, 2, 1)),
    Case("aclnnConstantPadNd", [x(2, 3), Skip([1, 2]), 0.5, out(2, 6)],
         lambda a, v: np.pad(a, [(0, 0), (1, 2)], constant_values=v)),
    Case("aclnnConvolution",
         [x(2, 4, 7, 7), x(6, 4, 3, 3), x(6), Skip([2]), Skip([1]), Skip([1]), Skip(False),
          Skip([0]), Skip(1), out(2, 6, 4, 4), Skip(0)],
         lambda a, w, b: conv(a, w, 2, 1, 1, 1) + b.reshape(1, -1, 1, 1), tolerance=1e-4),
    Case("aclnnConvolution",
         [x(2, 4, 7, 7), x(6, 2, 3, 3), Skip(None), Skip([1, 1]), Skip([0, 0]), Skip([2, 2]),
          Skip(False), Skip([0, 0]), Skip(2), out(2, 6, 3, 3), Skip(0)],
         lambda a, w: conv(a, w, 1, 0, 2, 2), tolerance=1e-4),
    Case("aclnnConvolutionBackward",
         [x(2, 6, 4, 4), x(2, 4, 8, 8), x(6, 2, 3, 3), Skip([6]), Skip([2, 2]), Skip([1, 1]),
          Skip([1, 1]), Skip(False), Skip([0, 0]), Skip(2), Skip([True, True, True]), Skip(0),
          out(2, 4, 8, 8), out(6, 2, 3, 3), out(6)],
         lambda g, a, w: conv_gradients(g, a, w, 2, 1, 1, 2), tolerance=1e-4),
    Case("aclnnMaxPool2dWithMask",
         [x(2, 3, 6, 6), Skip([2, 2]), Skip([2, 2]), Skip([0, 0]), Skip([1, 1]), Skip(False),
          out(2, 3, 3, 3), Skip(None)],
         lambda a: a.reshape(2, 3, 3, 2, 3, 2).max((3, 5))),
    Case("aclnnMaxPool2dWithMaskBackward",
         [x(2, 3, 3, 3), x(2, 3, 6, 6), Skip(None), Skip([3, 3]), Skip([2, 2]), Skip([1, 1]),
          Skip([1, 1]), Skip(False), out(2, 3, 6, 6)],
         lambda g, a: max_pool_backward(g, a, 3, 2, 1)),
    Case("aclnnForeachAddScalarV2", [[x(3), x(2, 2)], 0.5, [out(3), out(2, 2)]],
         lambda a, s: tuple(i + s for i in a), types=FLOATS),
    Case("aclnnForeachAddListV2", [[x(3), x(2, 2)], [x(3), x(2, 2)], 0.5, [out(3), out(2, 2)]],
         lambda a, b, s: tuple(i + s * j for i, j in zip(a, b))),
    Case("aclnnForeachDivScalarList", [[x(3), x(2, 2)], [2.0, 4.0], [out(3), out(2, 2)]],
         lambda a, s: (a[0] / 2, a[1] / 4)),
    Case("aclnnForeachNorm", [[x(3), x(2, 2)], 2.0, [out(), out()]],
         lambda a, s: tuple(np.linalg.norm(i) for i in a)),
    Case("aclnnForeachSqrt", [[x(3, like="positive"), x(2, like="positive")], [out(3), out(2)]],
         lambda a: tuple(np.sqrt(i) for i in a)),
    Case("aclnnForeachLerpScalar", [[x(3)], [x(3)], 0.1, [out(3)]],
         lambda a, b, s: (a[0] + s * (b[0] - a[0]),)),
    Case("aclnnForeachAddcmulScalarV2", [[x(3)], [x(3)], [x(3)], 0.1, [out(3)]],
         lambda a, b, c, s: (a[0] + s * b[0] * c[0],)),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_results(nn, case):
    case.check(nn)


def test_adamw_follows_its_definition(nn):  # in its fourth step
    p, m, v, g = (RNG.standard_normal(5).astype(np.float32) for _ in range(4))
    v = np.abs(v)
    tensors = [nn.tensor(a.copy()) for a in (p, m, v)]
    nn.run("aclnnApplyAdamWV2", *tensors, None, nn.tensor(g), nn.tensor(np.float32([3])), 1e-2,
           0.9, 0.99, 0.1, 1e-8, False, False)
    m2, v2 = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
    root = np.sqrt(v2) / np.sqrt(1 - 0.99 ** 4) + 1e-8
    p2 = p * (1 - 1e-2 * 0.1) - 1e-2 / (1 - 0.9 ** 4) * m2 / root
    for tensor, want in zip(tensors, (p2, m2, v2)):
        np.testing.assert_allclose(tensor.read(), want, rtol=1e-4, atol=1e-5)


def test_gradients_are_unscaled_and_checked(nn):
    good, bad = np.float32([2, 4]), np.float32([1, np.inf])
    for values, found in (([good], 0), ([good, bad], 1)):
        tensors = [nn.tensor(v.copy()) for v in values]
        inf = nn.tensor(np.float32([0]))
        reads = [nn.tensor(v.copy()) for v in values]
        nn.run("aclnnForeachNonFiniteCheckAndUnscale", nn.tensors(reads), inf,
               nn.tensor(np.float32([0.5])))
        assert inf.read()[0] == found
        np.testing.assert_array_equal(reads[0].read(), good / 2)
        assert len(tensors) == len(values)


def test_dropout_keeps_as_many_as_it_says(nn):
    count = 1 << 16
    mask = nn.empty(np.uint8, (count // 8,))
    nn.run("aclnnDropoutGenMaskV2", [count], 0.25, 7, 3, 0, mask)
    kept = np.unpackbits(mask.read(), bitorder="little")
    assert abs(kept.mean() - 0.75) < 0.01
    a = np.ones(count, np.float32)
    y = nn.empty(np.float32, (count,))
    nn.run("aclnnDropoutDoMask", nn.tensor(a), mask, 0.25, y)
    np.testing.assert_allclose(y.read(), kept / np.float32(0.75), rtol=1e-6)
    # Other seeds give other bits, the same seed the same.
    other, same = nn.empty(np.uint8, (count // 8,)), nn.empty(np.uint8, (count // 8,))
    nn.run("aclnnDropoutGenMaskV2", [count], 0.25, 8, 3, 0, other)
    nn.run("aclnnDropoutGenMaskV2", [count], 0.25, 7, 3, 0, same)
    assert (same.read() == mask.read()).all() and (other.read() != mask.read()).any()


def test_random_numbers_have_their_distributions(nn):
    y = nn.empty(np.float32, (100000,))
    nn.run("aclnnInplaceUniform", y, -1.0, 3.0, 5, 1)
    assert abs(y.read().mean() - 1) < 0.02 and -1 <= y.read().min() and y.read().max() < 3
    nn.run("aclnnInplaceNormal", y, 2.0, 0.5, 5, 2)
    assert abs(y.read().mean() - 2) < 0.01 and abs(y.read().std() - 0.5) < 0.01
    nn.run("aclnnInplaceBernoulli", y, 0.3, 5, 3)
    assert abs(y.read().mean() - 0.3) < 0.01 and set(np.unique(y.read())) == {0, 1}


def test_a_shape_that_the_run_decides(nn):
    a = np.float32([[0, 1, 0], [2, 0, 3]])
    places = nn.empty(np.int64, (6, 2), -1)
    nn.run("aclnnNonzero", nn.tensor(a), places)
    nn.synchronize()
    assert places.shape() == (3, 2)
    np.testing.assert_array_equal(places.read().ravel()[:6].reshape(3, 2), np.argwhere(a))
    chosen = nn.empty(np.float32, (6,))
    nn.run("aclnnMaskedSelect", nn.tensor(a), nn.tensor(a > 1), chosen)
    nn.synchronize()
    assert chosen.shape() == (2,)
    np.testing.assert_array_equal(chosen.read()[:2], [2, 3])


def test_a_slice_is_copied_to_its_neighbour(nn):
    """Both views reach over the same rows; the elements between them stay."""
    a = np.arange(24, dtype=np.float32).reshape(3, 8)
    whole = nn.tensor(a.copy())
    base = whole.memory

    def view(offset):
        dims, strides = (ctypes.c_int64 * 2)(3, 2), (ctypes.c_int64 * 2)(8, 1)
        stored = (ctypes.c_int64 * 1)(24)
        return nn.keep("aclDestroyTensor", nn.base.aclCreateTensor(
            dims, 2, 0, strides, offset, 2, stored, 1, ctypes.c_void_p(base)))
    nn.run("aclnnInplaceCopy", view(0), view(4))
    nn.run("aclnnInplaceAdd", view(6), view(2), 1)
    a[:, :2] = a[:, 4:6]
    a[:, 6:] += a[:, 2:4]
    np.testing.assert_array_equal(whole.read(), a)
    nn.clear()
