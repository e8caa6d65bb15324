# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: E501
"""Losses, gradients of activations, pools, scaled pictures, borders, order, matrices, counts."""
import numpy as np
import pytest
from aclnn_cases import Case, Skip, out, x

FLOATS = ("float32", "float16", "bfloat16")


def sigmoid(a):
    return 1 / (1 + np.exp(-a.astype(np.float64)))


def softplus(a):
    return np.log1p(np.exp(a.astype(np.float64)))


def loss(name, each, **options):
    """The loss itself, its sum and its mean."""
    return [Case(name, [x(3, 4, **options), x(3, 4, **options), Skip(0), out(3, 4)], each, types=FLOATS),
            Case(name, [x(3, 4, **options), x(3, 4, **options), Skip(1), out()],
                 lambda a, b: np.mean(each(a, b)), types=FLOATS[:1]),
            Case(name, [x(3, 4, **options), x(3, 4, **options), Skip(2), out()],
                 lambda a, b: np.sum(each(a, b)), types=FLOATS[:1])]


def gradient(name, slope, *numbers, last=(), **options):
    return Case(name, [x(3, 4), x(3, 4, **options), *map(Skip, numbers), *last, out(3, 4)],
                lambda g, a: g * slope(a), types=FLOATS)


def windows(a, size, step):
    """Windows of the last two axes: (..., rows, columns, size * size)."""
    view = np.lib.stride_tricks.sliding_window_view(a, (size, size), axis=(-2, -1))
    view = view[..., ::step, ::step, :, :]
    return view.reshape(*view.shape[:-2], -1)


def even_mean(a, rows, columns):
    made = np.empty((*a.shape[:-2], rows, columns))
    for i in range(rows):
        for j in range(columns):
            part = a[..., i * a.shape[-2] // rows:-(-(i + 1) * a.shape[-2] // rows),
                     j * a.shape[-1] // columns:-(-(j + 1) * a.shape[-1] // columns)]
            made[..., i, j] = part.mean((-2, -1))
    return made


def positive_definite(a):
    return a @ np.swapaxes(a, -1, -2) + 3 * np.eye(a.shape[-1])


MATRIX = positive_definite(np.random.default_rng(1).standard_normal((2, 3, 3)))

CASES = [
    *loss("aclnnL1Loss", lambda a, b: np.abs(a - b)),
    *loss("aclnnMseLoss", lambda a, b: (a - b) ** 2),
    *loss("aclnnSoftMarginLoss", lambda a, b: softplus(-a * b)),
    Case("aclnnMseLossBackward", [x(3, 4), x(3, 4), x(3, 4), Skip(1), out(3, 4)],
         lambda g, a, b: 2 * g * (a - b) / 12),
    Case("aclnnBinaryCrossEntropyWithLogits", [x(3, 4), x(3, 4, like="unit"), None, None, Skip(0), out(3, 4)],
         lambda a, b, *_: softplus(a) - a * b),
    gradient("aclnnMishBackward", lambda a: (np.tanh(softplus(a)) + a * sigmoid(a)
                                             * (1 - np.tanh(softplus(a)) ** 2))),
    gradient("aclnnHardsigmoidBackward", lambda a: (np.abs(a) < 3) / 6),
    gradient("aclnnSoftplusBackward", lambda a: sigmoid(2 * a), 2.0, 20.0),
    gradient("aclnnHardtanhBackward", lambda a: (a > -1) & (a < 0.5), -1.0, 0.5),
    gradient("aclnnHardshrinkBackward", lambda a: np.abs(a) > 0.5, 0.5),
    Case("aclnnElu", [x(3, 4), Skip(1.5), Skip(1.0), Skip(1.0), out(3, 4)],
         lambda a: np.where(a > 0, a, 1.5 * np.expm1(a.astype(np.float64))), types=FLOATS),
    Case("aclnnGlu", [x(3, 4), Skip(1), out(3, 2)], lambda a: a[:, :2] * sigmoid(a[:, 2:]), types=FLOATS),

    Case("aclnnAvgPool2d", [x(2, 3, 6, 6), Skip([2, 2]), Skip([2, 2]), Skip([0, 0]), Skip(False),
                            Skip(True), Skip(0), Skip(0), out(2, 3, 3, 3)],
         lambda a: windows(a, 2, 2).mean(-1), types=FLOATS),
    Case("aclnnAdaptiveAvgPool2d", [x(2, 3, 7, 5), Skip([3, 2]), out(2, 3, 3, 2)],
         lambda a: even_mean(a, 3, 2), types=FLOATS),
    Case("aclnnMaxPool2dWithIndices",
         [x(1, 2, 6, 6), Skip([2, 2]), Skip([2, 2]), Skip([0, 0]), Skip([1, 1]), Skip(False),
          out(1, 2, 3, 3), out(1, 2, 3, 3, dtype="int64")],
         lambda a: (windows(a, 2, 2).max(-1), None)),
    Case("aclnnUpsampleNearest2d", [x(1, 2, 3, 3), Skip([6, 6]), out(1, 2, 6, 6)],
         lambda a: a.repeat(2, 2).repeat(2, 3), types=(*FLOATS, "uint8")),
    Case("aclnnUpsampleNearest2dBackward", [x(1, 2, 6, 6), Skip([6, 6]), Skip([1, 2, 3, 3]), Skip(2.0),
                                            Skip(2.0), out(1, 2, 3, 3)],
         lambda a: windows(a, 2, 2).sum(-1), types=FLOATS[:1]),
    Case("aclnnUpsampleBilinear2d", [x(1, 2, 2, 2), Skip([3, 3]), Skip(True), Skip(0.0), Skip(0.0),
                                     out(1, 2, 3, 3)],
         lambda a: np.einsum("oi,ncij,pj->ncop", [[1, 0], [.5, .5], [0, 1]], a,
                             [[1, 0], [.5, .5], [0, 1]])),
    Case("aclnnReflectionPad2d", [x(1, 2, 4, 4), Skip([1, 2, 0, 1]), out(1, 2, 5, 7)],
         lambda a: np.pad(a, ((0, 0), (0, 0), (0, 1), (1, 2)), "reflect"), types=(*FLOATS, "int64")),
    Case("aclnnReplicationPad2d", [x(1, 2, 4, 4), Skip([1, 2, 0, 1]), out(1, 2, 5, 7)],
         lambda a: np.pad(a, ((0, 0), (0, 0), (0, 1), (1, 2)), "edge"), types=(*FLOATS, "int64")),

    Case("aclnnCummax", [x(3, 5), Skip(1), out(3, 5), out(3, 5, dtype="int64")],
         lambda a: (np.maximum.accumulate(a, 1), None), types=(*FLOATS, "int64")),
    Case("aclnnSearchSorted", [x(5, like=[1, 3, 3, 5, 9]), x(2, 2, like=[0, 3, 9, 10]), Skip(False),
                               Skip(True), None, out(2, 2, dtype="int64")],
         lambda a, b, *_: np.searchsorted(a, b, "right")),
    Case("aclnnInverse", [x(2, 3, 3, like=MATRIX), out(2, 3, 3)], np.linalg.inv),
    Case("aclnnLinalgCholesky", [x(2, 3, 3, like=MATRIX), Skip(False), out(2, 3, 3)], np.linalg.cholesky),
    Case("aclnnLinalgCross", [x(4, 3), x(4, 3), Skip(1), out(4, 3)], np.cross),
    Case("aclnnCdist", [x(4, 3), x(5, 3), Skip(2.0), Skip(0), out(4, 5)],
         lambda a, b: np.linalg.norm(a[:, None] - b[None], axis=-1)),
    Case("aclnnBincount", [x(6, dtype="int64", like="small"), None, Skip(0), out(5, dtype="int64")],
         lambda a, *_: np.bincount(a, minlength=5)),
    Case("aclnnEye", [Skip(3), Skip(4), out(3, 4)], lambda: np.eye(3, 4), types=(*FLOATS, "int64")),
    Case("aclnnLinspace", [Skip(-1.0), Skip(2.0), Skip(7), out(7)], lambda: np.linspace(-1, 2, 7)),
    Case("aclnnComplex", [x(3, 4), x(4), out(3, 4, dtype="complex64")], lambda a, b: a + 1j * b),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_results(nn, case):
    case.check(nn)
