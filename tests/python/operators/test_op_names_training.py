# SPDX-License-Identifier: Apache-2.0
"""Gradients, steps of training, orders and diagonals under their vendor's names, against numpy.
Gradients of functions of one element are compared with differences of the function in double."""
import math

import numpy as np
import pytest
import single_op
from single_op import NCHW

pytestmark = pytest.mark.usefixtures("runtime")
RNG = np.random.default_rng(17)
F, I32 = np.float32, np.int32
X, DY = (RNG.standard_normal((3, 5)).astype(F) for _ in range(2))
SMALL = RNG.uniform(-0.8, 0.8, (3, 5)).astype(F)
LARGE = RNG.uniform(1.2, 3, (3, 5)).astype(F)
IMG, DIMG = (RNG.standard_normal((2, 3, 6, 4)).astype(F) for _ in range(2))
SCALE, OFFSET, MEAN, VARIANCE = (RNG.uniform(0.5, 1.5, 3).astype(F) for _ in range(4))
A, B, C, G = (RNG.uniform(0.5, 1.5, (2, 3)).astype(F) for _ in range(4))
N = F  # a number without axes


def slope(function, x, dy):
    x = x.astype(np.float64)
    return ((function(x + 1e-6) - function(x - 1e-6)) / 2e-6 * dy).astype(F)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def tanh_gelu(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def of_argument(function, x=X, attrs=None):
    """Operators of (gradient, x)."""
    return [DY, x], [slope(function, x, DY)], attrs or {}


def of_result(function, x):
    """Operators of (y, gradient), y being the function's result."""
    return [function(x).astype(F), DY], [slope(function, x, DY)], {}


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def chan(v):
    return v.reshape(1, -1, 1, 1)


def over_pictures(x):
    return x.sum((0, 2, 3))


def normal_of(x, epsilon=1e-3):
    return (x - chan(MEAN)) / np.sqrt(chan(VARIANCE) + epsilon)


def bn_update():
    count = IMG.size // 3
    total, square = over_pictures(IMG), over_pictures(IMG * IMG)
    mean = total / count
    variance = square / count - mean**2
    y = (IMG - chan(mean)) / np.sqrt(chan(variance) + 1e-3) * chan(SCALE) + chan(OFFSET)
    moved = [0.9 * MEAN + 0.1 * mean, 0.9 * VARIANCE + 0.1 * variance * count / (count - 1)]
    return [IMG, total, square, SCALE, OFFSET, MEAN, VARIANCE], [y, *moved, mean, variance]


def bn_reduce():
    count, normal = IMG.size // 3, normal_of(IMG)
    dscale, doffset = over_pictures(DIMG * normal), over_pictures(DIMG)
    inner = DIMG - chan(doffset) / count - normal * chan(dscale) / count
    return ([DIMG, IMG, dscale, doffset, SCALE, MEAN, VARIANCE],
            [inner * chan(SCALE) / np.sqrt(chan(VARIANCE) + 1e-3)])


def layer_norm(of_root):
    mean, variance = X.mean(-1, keepdims=True), X.var(-1, keepdims=True)
    gamma = RNG.uniform(0.5, 1.5, 5).astype(F)
    root = 1 / np.sqrt(variance + 1e-5)
    normal, passed = (X - mean) * root, DY * gamma
    dx = (passed - passed.mean(-1, keepdims=True)
          - normal * (passed * normal).mean(-1, keepdims=True)) * root
    return ([DY, X, root if of_root else variance, mean, gamma],
            [dx, (DY * normal).sum(0), DY.sum(0)], {"epsilon": 1e-5})


def pools():
    """Windows of 2 x 2: the maxima, and gradients of maxima and averages."""
    parts = IMG.reshape(2, 3, 3, 2, 2, 2)
    maxima = parts.max((3, 5))
    dy = RNG.standard_normal(maxima.shape).astype(F)
    spread = dy[:, :, :, None, :, None]
    at = parts == maxima[:, :, :, None, :, None]
    wide = np.broadcast_to(spread, parts.shape)
    return maxima, dy, np.where(at, wide, 0).reshape(IMG.shape), (wide / 4).reshape(IMG.shape)


def rms_prop():
    squares = 0.9 * B + 0.1 * G * G
    total = 0.8 * C + 0.1 * G / np.sqrt(squares + 0.01)
    return [A - total, squares, total]


def centered():
    mean, squares = 0.9 * B + 0.1 * G, 0.9 * (C + 4) + 0.1 * G * G
    total = 0.8 * A + 0.1 * G / np.sqrt(squares - mean**2 + 0.01)
    return [A - total, mean, squares, total]


def adadelta():
    accum = 0.9 * B + 0.1 * G * G
    step = np.sqrt(C + 0.01) / np.sqrt(accum + 0.01) * G
    return [A - 0.1 * step, accum, 0.9 * C + 0.1 * step**2]


def ada_max():
    m, v = 0.9 * B + 0.1 * G, np.maximum(0.99 * C, np.abs(G))
    return [A - 0.1 / (1 - 0.81) * m / (v + 0.01), m, v]


def ftrl():
    accum = B + G * G
    linear = C + G - (np.sqrt(accum) - np.sqrt(B)) / 0.1 * A
    made = (np.sign(linear) * 0.3 - linear) / (np.sqrt(accum) / 0.1 + 2 * 0.2)
    return [np.where(np.abs(linear) > 0.3, made, 0), accum, linear]


def proximal(rate):
    moved = A - rate * G
    return np.sign(moved) * np.maximum(np.abs(moved) - rate * 0.2, 0) / (1 + rate * 0.3)


def sgd(first):
    grad = G + 0.01 * A
    total = grad if first else 0.9 * C + 0.8 * grad
    return ([A, G, N(0.1), C, N(0.9), np.full((2, 3), first, F)],
            [A - 0.1 * (grad + 0.9 * total), total, np.zeros((2, 3), F)],
            {"dampening": 0.2, "weight_decay": 0.01, "nesterov": True})


MAXIMA, DPOOL, DMAX, DAVERAGE = pools()
WINDOW = {"ksize": [1, 1, 2, 2], "strides": [1, 1, 2, 2], "padding": "VALID", "data_format": "NCHW"}
EPSILON = {"epsilon": 1e-3}
SQUARE = (RNG.standard_normal((4, 4)) + 4 * np.eye(4)).astype(F)
PICTURES = ([NCHW],)
RMS = [A, B, C, N(0.1), N(0.9), N(0.8), N(0.01), G]
CASES = {
    "Assign": ([A, B], [B], {}), "AssignAdd": ([A, B], [A + B], {}),
    "AssignSub": ([A, B], [A - B], {}),
    "ApplyRMSProp": (RMS, rms_prop(), {}),
    "ApplyRMSPropD": ([A, B, C, N(0.1), G], rms_prop(),
                      {"rho": 0.9, "momentum": 0.8, "epsilon": 0.01}),
    "ApplyCenteredRMSProp": ([A, B, C + 4, A, N(0.1), N(0.9), N(0.8), N(0.01), G], centered(), {}),
    "ApplyAdadelta": ([A, B, C, N(0.1), N(0.9), N(0.01), G], adadelta(), {}),
    "ApplyAdadeltaD": ([A, B, C, N(0.1), N(0.9), N(0.01), G], adadelta(), {}),
    "ApplyAdaMaxD": ([A, B, C, N(0.81), N(0.1), N(0.9), N(0.99), N(0.01), G], ada_max(), {}),
    "ApplyFtrl": ([A, B, C, G, N(0.1), N(0.3), N(0.2), N(-0.5)], ftrl(), {}),
    "ApplyProximalAdagrad": ([A, B, N(0.1), N(0.2), N(0.3), G],
                             [proximal(0.1 / np.sqrt(B + G * G)), B + G * G], {}),
    "ApplyProximalAdagradD": ([A, B, N(0.1), N(0.2), N(0.3), G],
                              [proximal(0.1 / np.sqrt(B + G * G)), B + G * G], {}),
    "ApplyProximalGradientDescent": ([A, N(0.1), N(0.2), N(0.3), G], [proximal(F(0.1))], {}),
    "SGD": sgd(0), "SGD/first": sgd(1),
    "AbsGrad": ([X, DY], [np.sign(X) * DY], {}),
    "AcosGrad": ([SMALL, DY], [slope(np.arccos, SMALL, DY)], {}),
    "AsinGrad": ([SMALL, DY], [slope(np.arcsin, SMALL, DY)], {}),
    "AtanGrad": ([X, DY], [slope(np.arctan, X, DY)], {}),
    "AcoshGrad": of_result(np.arccosh, LARGE), "AsinhGrad": of_result(np.arcsinh, X),
    "InvGrad": of_result(np.reciprocal, LARGE), "ReciprocalGrad": of_result(np.reciprocal, LARGE),
    "RsqrtGrad": of_result(lambda x: 1 / np.sqrt(x), LARGE), "SqrtGrad": of_result(np.sqrt, LARGE),
    "SigmoidGrad": of_result(sigmoid, X), "TanhGrad": of_result(np.tanh, X),
    "ReluGrad": of_argument(lambda x: np.maximum(x, 0)),
    "Relu6Grad": of_argument(lambda x: np.clip(x, 0, 6), X * 6),
    "EluGrad": ([DY, np.where(X > 0, X, np.expm1(X))],
                [slope(lambda x: np.where(x > 0, x, np.expm1(x)), X, DY)], {}),
    "SoftplusGrad": of_argument(lambda x: np.log1p(np.exp(x))),
    "FastGeluGrad": of_argument(lambda x: x * sigmoid(1.702 * x)),
    "SiluGrad": of_argument(lambda x: x * sigmoid(x)),
    "GeluGrad": ([DY, X, X], [slope(tanh_gelu, X, DY)], {}),
    "HardShrinkGrad": of_argument(lambda x: np.where(np.abs(x) > 0.7, x, 0), X, {"lambd": 0.7}),
    "SoftShrinkGrad": of_argument(lambda x: np.sign(x) * np.maximum(np.abs(x) - 0.7, 0), X,
                                  {"lambd": 0.7}),
    "HardSigmoidGrad": of_argument(lambda x: np.clip(x * 0.2 + 0.5, 0, 1), X * 3,
                                   {"alpha": 0.2, "beta": 0.5}),
    "HardSwishGrad": of_argument(lambda x: x * np.clip(x + 3, 0, 6) / 6, X * 3),
    "SoftmaxGrad": ([softmax(X), DY],
                    [softmax(X) * (DY - (softmax(X) * DY).sum(-1, keepdims=True))], {}),
    "LogSoftmaxGrad": ([DY, np.log(softmax(X))],
                       [DY - softmax(X) * DY.sum(-1, keepdims=True)], {"axis": [-1]}),
    "BiasAddGrad": ([IMG], [over_pictures(IMG)], {"data_format": "NCHW"}),
    "BNTrainingReduce": ([IMG], [over_pictures(IMG), over_pictures(IMG * IMG)], {}, (),
                         PICTURES[0]),
    "BNTrainingUpdate": (*bn_update(), {"factor": 0.1, **EPSILON}),
    "BNTrainingUpdateGrad": ([DIMG, IMG, MEAN, VARIANCE],
                             [over_pictures(DIMG * normal_of(IMG)), over_pictures(DIMG)], EPSILON),
    "BNTrainingReduceGrad": (*bn_reduce(), EPSILON),
    "BNInferGrad": ([DIMG, SCALE, VARIANCE],
                    [DIMG * chan(SCALE) / np.sqrt(chan(VARIANCE) + 1e-3)], EPSILON),
    "BNInfer/five": ([IMG, SCALE, OFFSET, MEAN, VARIANCE],
                     [normal_of(IMG) * chan(SCALE) + chan(OFFSET)], EPSILON),
    "LayerNormGrad": layer_norm(False), "LayerNormGradV3": layer_norm(True),
    "MaximumGrad": ([DY, X, X[:1]], [np.where(X >= X[:1], DY, 0),
                                     np.where(X >= X[:1], 0, DY).sum(0, keepdims=True)], {}),
    "MinimumGrad": ([DY, X, X[:1]], [np.where(X <= X[:1], DY, 0),
                                     np.where(X <= X[:1], 0, DY).sum(0, keepdims=True)], {}),
    "MaxPoolGrad": ([IMG, MAXIMA, DPOOL], [DMAX], WINDOW),
    "AvgPoolGrad": ([np.array(IMG.shape, I32), DPOOL], [DAVERAGE], WINDOW, (0,)),
    "Cummax": ([X], [np.maximum.accumulate(X, 1), None], {"dim": 1}),
    "Cummin": ([X], [np.minimum.accumulate(X, 1), None], {"axis": 1}),
    "Cumprod": ([X, np.array([1], I32)], [np.cumprod(X, 1)], {}, (1,)),
    "CumprodD": ([X], [np.cumprod(X, 0)], {"axis": 0}),
    "Diag": ([X[0]], [np.diag(X[0])], {}), "DiagPart": ([SQUARE], [np.diag(SQUARE)], {}),
    "Trace": ([X], [np.trace(X)], {}), "TensorMove": ([X], [X], {}),
    "Trunc": ([X * 3], [np.trunc(X * 3)], {}),
    "Digamma": ([F([1, 2])], [F([-0.5772156649, 0.4227843351])], {}),
    "Lgamma": ([F([0.5, 5])], [F([math.lgamma(0.5), math.lgamma(5)])], {}),
    "Erfinv": ([F([0, 0.5])], [F([0, 0.4769362762])], {}),
    "MatrixInverse": ([SQUARE], [np.linalg.inv(SQUARE)], {}),
    "ReduceStd/all": ([X], [X.std(), X.mean()], {"unbiased": False}),
    "ReduceStd": ([X], [X.std(1, ddof=1), X.mean(1)], {"dim": [1], "unbiased": True}),
    "Sort": ([X], [np.sort(X, -1)[:, ::-1], np.argsort(-X, -1).astype(I32)], {"descending": True}),
}
X64, DRAWN = X.astype(np.float64), RNG.integers(0, 5, (4, 1)).astype(I32)
UPDATES, TABLE = RNG.standard_normal((4, 3)).astype(F), RNG.standard_normal((5, 3)).astype(F)


def scattered(function):
    table = TABLE.copy()
    for row, update in zip(DRAWN[:, 0], UPDATES, strict=True):
        table[row] = function(table[row], update)
    return [TABLE, DRAWN, UPDATES], [table], {}


def segments(function, start):
    ids = np.array([2, 0, 2, -1, 1], I32)
    out = np.full((3, 3), start, F)
    for row, i in zip(TABLE, ids, strict=True):
        if i >= 0:
            out[i] = function(out[i], row)
    return [TABLE, ids, np.array([3], I32)], [out], {}, (2,)


def filter_gradient():
    x, dy = RNG.standard_normal((2, 3, 5, 5)), RNG.standard_normal((2, 4, 3, 3))
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    dw = np.zeros((4, 3, 3, 3))
    for i in range(3):
        for j in range(3):
            window = padded[:, :, i:i + 5:2, j:j + 5:2]
            dw[:, :, i, j] = np.einsum("ncyx,noyx->oc", window, dy)
    return x.astype(F), dy.astype(F), dw.astype(F)


WX, WDY, WDW = filter_gradient()
WINDOWS = {"strides": [1, 1, 2, 2], "pads": [1, 1, 1, 1], "dilations": [1, 1, 1, 1], "groups": 1,
           "data_format": "NCHW"}
PROBABILITY, TARGET = RNG.uniform(0.1, 0.9, (3, 5)).astype(F), np.abs(X)
VOLUME = RNG.standard_normal((1, 2, 4, 4, 4)).astype(F)
ADAPTIVE = IMG.reshape(2, 3, 2, 3, 2, 2).mean((3, 5))
HALF = RNG.uniform(0, 1, 40).astype(F)
CASES |= {
    "Angle": ([X], [np.where(X < 0, np.pi, 0)], {}),
    "ApproximateEqual": ([X, X + F(1e-3) * (X > 0)], [X <= 0], {"tolerance": 1e-4}),
    "Atan2": ([X, DY], [np.arctan2(X, DY)], {}),
    "BesselI0": ([F([0, 1])], [F([1, 1.2660658778])], {}),
    "BesselI0e": ([F([0, 1])], [F([1, 0.4657596077])], {}),
    "BesselI1": ([F([0, 1])], [F([0, 0.5651591040])], {}),
    "BesselI1e": ([F([0, 1])], [F([0, 0.2079104154])], {}),
    "Igamma": ([F([1, 2]), F([1, 1])], [F([0.6321205588, 0.2642411177])], {}),
    "Igammac": ([F([1, 2]), F([1, 1])], [F([0.3678794412, 0.7357588823])], {}),
    "Zeta": ([F([2, 3]), F([1, 1])], [F([1.6449340668, 1.2020569032])], {}),
    "NextAfter": ([X, DY], [np.nextafter(X, DY)], {}),
    "Xdivy": ([F([0, 3]), F([0, 2])], [F([0, 1.5])], {}),
    "Xlogy": ([F([0, 3]), F([0, 2])], [F([0, 3 * math.log(2)])], {}),
    "CumulativeLogsumexp": ([X, np.array([1], I32)], [np.log(np.cumsum(np.exp(X), 1))], {}, (1,)),
    "Eps": ([X], [np.full_like(X, np.finfo(F).eps)], {}),
    "Ger": ([X[0], DY[0]], [np.outer(X[0], DY[0])], {}),
    "Heaviside": ([F([-1, 0, 2]), F([5, 6, 7])], [F([0, 6, 1])], {}),
    "Hypot": ([X, DY], [np.hypot(X, DY)], {}),
    "Histogram": ([HALF], [np.histogram(HALF, 4, (0, 1))[0].astype(I32)],
                  {"bins": 4, "min": 0.0, "max": 1.0}),
    "KLDiv": ([X, TARGET], [(TARGET * (np.log(TARGET) - X)).sum() / 3], {"reduction": "batchmean"}),
    "LinSpace": ([N(1), N(3), np.array([5], I32)], [np.linspace(1, 3, 5)], {}, (2,)),
    "Logit": ([PROBABILITY], [np.log(PROBABILITY / (1 - PROBABILITY))], {"eps": -1.0}),
    "LogMatrixDeterminant": ([SQUARE], [*map(np.asarray, np.linalg.slogdet(SQUARE))], {}),
    "LpNorm": ([X], [(np.abs(X64)**3).sum(1)**(1 / 3)], {"p": 3, "axes": [1]}),
    "MatrixSolve": ([SQUARE, SQUARE[:, :2]], [np.linalg.solve(SQUARE, SQUARE[:, :2])], {}),
    "ScatterNdMax": scattered(np.maximum), "ScatterNdMin": scattered(np.minimum),
    "ScatterNdSub": scattered(np.subtract), "TensorScatterMax": scattered(np.maximum),
    "TensorScatterMin": scattered(np.minimum), "TensorScatterSub": scattered(np.subtract),
    "UnsortedSegmentSum": segments(np.add, 0), "UnsortedSegmentProd": segments(np.multiply, 1),
    "UnsortedSegmentMax": segments(np.maximum, -np.finfo(F).max),
    "UnsortedSegmentMin": segments(np.minimum, np.finfo(F).max),
    "Conv2DBackpropFilter": ([WX, np.array(WDW.shape, I32), WDY], [WDW], WINDOWS, (1,)),
    "Conv2DBackpropFilterD": ([WX, WDY], [WDW], {**WINDOWS, "filter_size": [4, 3, 3, 3]}),
    "AdaptiveAvgPool2D": ([IMG], [ADAPTIVE], {}),
    "AdaptiveAvgPool2DGrad": ([ADAPTIVE], [np.repeat(np.repeat(ADAPTIVE, 3, 2), 2, 3) / 6], {}),
    "AvgPool3D": ([VOLUME], [VOLUME.reshape(1, 2, 2, 2, 2, 2, 2, 2).mean((3, 5, 7))],
                  {"ksize": [1, 1, 2, 2, 2], "strides": [1, 1, 2, 2, 2], "pads": [0] * 6,
                   "data_format": "NCDHW"}),
}
CASES["Cummax"][1][1] = np.array([[max(range(c + 1), key=lambda j: row[j]) for c in range(5)]
                                  for row in X], I32)
CASES["Cummin"][1][1] = np.array([[min(range(c + 1), key=lambda j: row[j]) for c in range(5)]
                                  for row in X], I32)
# Tested below, by what their results are good for.
ALONE = {"DropOutGenMask", "Qr", "Svd"}


def names():
    """The names of the table that this file covers."""
    return {name.partition("/")[0] for name in CASES} | ALONE


@pytest.mark.parametrize("name", sorted(CASES))
def test_operator_agrees_with_numpy(name):
    inputs, outputs, attrs, *rest = CASES[name]
    const, forms = (*rest, *((), None)[len(rest):])
    pictures = forms or [NCHW if np.ndim(x) == 4 else single_op.ND for x in inputs]
    made = [NCHW if np.ndim(x) == 4 else single_op.ND for x in outputs]
    kept = (np.dtype(I32), np.dtype(bool))
    outputs = [np.asarray(x) for x in outputs]
    outputs = [x if x.dtype in kept else x.astype(F) for x in outputs]
    single_op.agree(name.partition("/")[0], [np.asarray(x, x.dtype) for x in inputs], outputs,
                    attrs, const, pictures, made)


def test_a_mask_keeps_its_share():
    bits, = single_op.run("DropOutGenMask", [np.array([64, 100], I32), F(0.75)],
                          [np.zeros(800, np.uint8)], {}, (0,))
    assert abs(np.unpackbits(bits).mean() - 0.75) < 0.03


def test_decompositions_multiply_to_the_matrix():
    q, r = single_op.run("Qr", [SQUARE], [SQUARE, SQUARE], {})
    np.testing.assert_allclose(q @ r, SQUARE, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(np.tril(r, -1), 0, atol=1e-6)
    s, u, v = single_op.run("Svd", [SQUARE], [SQUARE[0], SQUARE, SQUARE], {"compute_uv": True})
    np.testing.assert_allclose(u @ np.diag(s) @ v.T, SQUARE, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(s, np.linalg.svd(SQUARE)[1], rtol=1e-5)
