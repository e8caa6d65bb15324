# SPDX-License-Identifier: Apache-2.0
"""Pooling, padding and interpolation. A gradient of a linear operator f is its transpose g:
sum(f(x) * y) = sum(x * g(y)) for all x and y."""
import numpy as np
import pytest
from aclnn_cases import Case, Skip, out, x

from aclnn import Failed

INT = {"dtype": "int64"}


def windows(a, begins, ends):
    """Pieces of the last axes."""
    return [[a[..., b0:e0, b1:e1] for b1, e1 in zip(begins[1], ends[1])]
            for b0, e0 in zip(begins[0], ends[0])]


def adaptive(n, size):
    return [i * n // size for i in range(size)], [-(-(i + 1) * n // size) for i in range(size)]


def pooled(a, sizes, how):
    (b0, e0), (b1, e1) = (adaptive(n, s) for n, s in zip(a.shape[-2:], sizes))
    return np.stack([np.stack([how(w) for w in row], -1)
                     for row in windows(a, (b0, b1), (e0, e1))], -2)


def average(a, kernel, stride, pad, count_pads):
    padded = np.pad(a, [(0, 0), (0, 0), (pad, pad), (pad, pad)])
    there = np.pad(np.ones(a.shape), [(0, 0), (0, 0), (pad, pad), (pad, pad)])
    size = (padded.shape[-1] - kernel) // stride + 1
    y = np.zeros((*a.shape[:2], size, size))
    for i, j in np.ndindex(size, size):
        at = (..., slice(i * stride, i * stride + kernel), slice(j * stride, j * stride + kernel))
        n = kernel * kernel if count_pads else there[at].sum((-1, -2))
        y[..., i, j] = padded[at].sum((-1, -2)) / n
    return y


def linear(a, size, corners):
    """Along the last axis."""
    n = a.shape[-1]
    o = np.arange(size, dtype=np.float64)
    at = o * (n - 1) / (size - 1) if corners else np.maximum((o + 0.5) * n / size - 0.5, 0)
    low = np.minimum(at.astype(int), n - 1)
    high, part = np.minimum(low + 1, n - 1), at - low
    return a[..., low] * (1 - part) + a[..., high] * part


CASES = [
    Case("aclnnAdaptiveAvgPool2d", [x(2, 3, 7, 5), Skip([3, 2]), out(2, 3, 3, 2)],
         lambda a: pooled(a, (3, 2), lambda w: w.mean((-1, -2)))),
    Case("aclnnAdaptiveMaxPool2d", [x(2, 7, 5), Skip([3, 2]), out(2, 3, 2), out(2, 3, 2, **INT)],
         lambda a: (pooled(a, (3, 2), lambda w: w.max((-1, -2))), None)),
    Case("aclnnAvgPool2d", [x(2, 3, 6, 6), Skip([3]), Skip([2]), Skip([1]), Skip(False),
                            Skip(True), Skip(0), Skip(0), out(2, 3, 3, 3)],
         lambda a: average(a, 3, 2, 1, True)),
    Case("aclnnAvgPool2d", [x(2, 3, 6, 6), Skip([3]), Skip([2]), Skip([1]), Skip(False),
                            Skip(False), Skip(0), Skip(0), out(2, 3, 3, 3)],
         lambda a: average(a, 3, 2, 1, False)),
    Case("aclnnMaxPool3dWithArgmax",
         [x(1, 2, 4, 4, 4), Skip([2]), Skip([2]), Skip([0]), Skip([1]), Skip(False),
          out(1, 2, 2, 2, 2), out(1, 2, 2, 2, 2, dtype="int32")],
         lambda a: (a.reshape(1, 2, 2, 2, 2, 2, 2, 2).max((3, 5, 7)), None)),
    Case("aclnnReflectionPad1d", [x(2, 5), Skip([2, 3]), out(2, 10)],
         lambda a: np.pad(a, [(0, 0), (2, 3)], "reflect")),
    Case("aclnnReflectionPad2d", [x(1, 2, 4, 5), Skip([2, -1, 3, 1]), out(1, 2, 8, 6)],
         lambda a: np.pad(a, [(0, 0), (0, 0), (3, 1), (2, 0)], "reflect")[..., :-1]),
    Case("aclnnReplicationPad2d", [x(1, 2, 3, 4), Skip([1, 2, 0, 3]), out(1, 2, 6, 7)],
         lambda a: np.pad(a, [(0, 0), (0, 0), (0, 3), (1, 2)], "edge")),
    Case("aclnnUpsampleNearest2d", [x(1, 2, 3, 4), Skip([6, 6]), out(1, 2, 6, 6)],
         lambda a: a[:, :, np.arange(6) * 3 // 6][..., np.arange(6) * 4 // 6]),
    Case("aclnnUpsampleLinear1d", [x(2, 3, 5), Skip([8]), Skip(False), Skip(0.0), out(2, 3, 8)],
         lambda a: linear(a, 8, False)),
    Case("aclnnUpsampleBilinear2d", [x(2, 3, 5, 4), Skip([8, 9]), Skip(True), Skip(0.0), Skip(0.0),
                                     out(2, 3, 8, 9)],
         lambda a: linear(linear(a, 9, True).swapaxes(-1, -2), 8, True).swapaxes(-1, -2)),
    Case("aclnnIm2col", [x(2, 3, 5, 5), Skip([2, 2]), Skip([1, 1]), Skip([0, 0]), Skip([1, 1]),
                         out(2, 12, 16)],
         lambda a: np.stack([a[:, c, i:i + 4, j:j + 4].reshape(2, 16) for c in range(3)
                             for i in range(2) for j in range(2)], 1)),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_results(nn, case):
    case.check(nn)


IN, OUT = (2, 3, 6, 7), (2, 3, 9, 5)
PAIRS = {
    "aclnnUpsampleNearest2dV2": (IN, OUT, [[9, 5], 0.0, 0.0], "aclnnUpsampleNearest2dBackward",
                                 [[9, 5], IN, 0.0, 0.0]),
    "aclnnUpsampleBilinear2d": (IN, OUT, [[9, 5], False, 0.0, 0.0],
                                "aclnnUpsampleBilinear2dBackwardV2",
                                [[9, 5], IN, False, 0.0, 0.0]),
    "aclnnUpsampleBicubic2d": (IN, OUT, [[9, 5], True, 0.0, 0.0], "aclnnUpsampleBicubic2dBackward",
                               [[9, 5], IN, True, 0.0, 0.0]),
    "aclnnUpsampleBilinear2dAA": (IN, OUT, [[9, 5], False, 0.0, 0.0],
                                  "aclnnUpsampleBilinear2dAABackward",
                                  [[9, 5], IN, False, 0.0, 0.0]),
    "aclnnReflectionPad1d": ((3, 6), (3, 11), [[2, 3]], "aclnnReflectionPad1dBackward",
                             ["self", [2, 3]]),
    "aclnnReflectionPad2d": (IN, (2, 3, 10, 8), [[2, -1, 1, 3]], "aclnnReflectionPad2dBackward",
                             ["self", [2, -1, 1, 3]]),
    "aclnnReplicationPad1d": ((3, 1), (3, 6), [[2, 3]], "aclnnReplicationPad1dBackward",
                              ["self", [2, 3]]),
    "aclnnReplicationPad3d": ((1, 2, 3, 4, 5), (1, 2, 5, 4, 7), [[-1, 3, 0, 0, 1, 1]],
                              "aclnnReplicationPad3dBackward", ["self", [-1, 3, 0, 0, 1, 1]]),
    "aclnnReplicationPad2d": (IN, (2, 3, 9, 8), [[1, 0, 1, 2]], "aclnnReplicationPad2dBackward",
                              ["self", [1, 0, 1, 2]]),
    "aclnnAvgPool2d": (IN, (2, 3, 4, 4), [[3], [2], [1], True, False, 0, 0],
                       "aclnnAvgPool2dBackward", ["self", [3], [2], [1], True, False, 0, 0]),
    "aclnnAdaptiveAvgPool2d": (IN, (2, 3, 4, 3), [[4, 3]], "aclnnAdaptiveAvgPool2dBackward",
                               ["self"]),
    "aclnnIm2col": ((2, 3, 6, 6), (2, 12, 9), [[2, 2], [1, 1], [0, 0], [2, 2]],
                    "aclnnIm2colBackward", [[6, 6], [2, 2], [1, 1], [0, 0], [2, 2]]),
}


@pytest.mark.parametrize("name", PAIRS)
def test_the_gradient_is_the_transpose(nn, name):
    shape, size, arguments, gradient, more = PAIRS[name]
    rng = np.random.default_rng(5)
    a, g = (rng.standard_normal(s).astype(np.float32) for s in (shape, size))
    tensor, y, da = nn.tensor(a), nn.empty(np.float32, size), nn.empty(np.float32, shape)
    nn.run(name, tensor, *arguments, y)
    nn.run(gradient, nn.tensor(g), *(tensor if m == "self" else m for m in more), da)
    left = (y.read().astype(np.float64) * g).sum()
    right = (a * da.read().astype(np.float64)).sum()
    np.testing.assert_allclose(left, right, rtol=1e-4, atol=1e-4)
    nn.clear()


def test_gradients_of_maxima_go_where_they_were(nn):
    rng = np.random.default_rng(5)
    a, g = rng.standard_normal((2, 3, 7, 5)).astype(np.float32), np.ones((2, 3, 3, 2), np.float32)
    y, places = nn.empty(np.float32, g.shape), nn.empty(np.int64, g.shape)
    da = nn.empty(np.float32, a.shape)
    tensor = nn.tensor(a)
    nn.run("aclnnAdaptiveMaxPool2d", tensor, [3, 2], y, places)
    nn.run("aclnnAdaptiveMaxPool2dBackward", nn.tensor(g), tensor, places, da)
    flat = a.reshape(2, 3, 35)
    np.testing.assert_array_equal(
        np.take_along_axis(flat, places.read().reshape(2, 3, 6), -1).reshape(g.shape), y.read())
    assert da.read().sum() == g.sum()
    assert ((da.read() > 0).reshape(2, 3, 35) <= np.isin(flat, y.read())).all()
    nn.clear()


@pytest.mark.parametrize("padding, dilation", [([1, 1], [1, 1]), ([0, 2], [3, 1])])
def test_gradients_of_a_transposed_convolution_with_output_padding(nn, padding, dilation):
    rng = np.random.default_rng(5)
    a, w = (rng.standard_normal(s).astype(np.float32) for s in ((2, 3, 4, 4), (3, 2, 3, 3)))
    extra = [1, 1]
    size = [3 * 2 - 2 * p + 2 * d + 1 + e for p, d, e in zip(padding, dilation, extra)]
    g = rng.standard_normal((2, 2, *size)).astype(np.float32)
    x_, w_, y = nn.tensor(a), nn.tensor(w), nn.empty(np.float32, g.shape)
    nn.run("aclnnConvolution", x_, w_, None, [2, 2], padding, dilation, True, extra, 1, y, 0)
    da, dw = nn.empty(np.float32, a.shape), nn.empty(np.float32, w.shape)
    db = nn.empty(np.float32, (2,))
    nn.run("aclnnConvolutionBackward", nn.tensor(g), x_, w_, [2], [2, 2], padding, dilation, True,
           extra, 1, [True, True, True], 0, da, dw, db)
    whole = (y.read() * g).sum()
    np.testing.assert_allclose((da.read() * a).sum(), whole, rtol=1e-4)
    np.testing.assert_allclose((dw.read() * w).sum(), whole, rtol=1e-4)
    np.testing.assert_allclose(db.read(), g.sum((0, 2, 3)), rtol=1e-4, atol=1e-5)
    nn.clear()


def test_nothing_is_padded_with_the_value(nn):
    y = nn.empty(np.float32, (5, 3))
    nn.run("aclnnConstantPadNd", nn.tensor(np.zeros((5, 0), np.float32)), [1, 2], 1.5, y)
    assert (y.read() == 1.5).all()
    nn.clear()


LONG = [
    ("aclnnReplicationPad1d", (2, 3), [[0, 2**30]], (2, 3)),
    ("aclnnReplicationPad1d", (2, 3), [[2**62, 2**62]], (2, 3)),
    ("aclnnReflectionPad1d", (2, 3), [[-2**63, 0]], (2, 3)),
    ("aclnnUpsampleNearest1d", (1, 2, 3), [[2**31]], (1, 2, 3)),
    ("aclnnUpsampleBicubic2d", (1, 2, 3, 3), [[2**31, 2**31], True, 0.0, 0.0], (1, 2, 3, 3)),
    ("aclnnAdaptiveAvgPool2d", (1, 2, 3, 3), [[2**40, 2]], (1, 2, 2, 2)),
    ("aclnnAvgPool2d", (1, 2, 4, 4), [[2], [2**62], [1], False, True, 0, 0], (1, 2, 2, 2)),
    ("aclnnDiag", (3,), [-2**63], (3, 3)),
    ("aclnnDiag", (3,), [2**31], (3, 3)),
]


@pytest.mark.parametrize("name, shape, arguments, size", LONG, ids=lambda v: str(v))
def test_arguments_that_ask_for_long_tables_are_refused(nn, name, shape, arguments, size):
    with pytest.raises(Failed) as failure:
        nn.run(name, nn.tensor(np.ones(shape, np.float32)), *arguments, nn.empty(np.float32, size))
    assert failure.value.sentence
    nn.clear()


@pytest.mark.parametrize("padding, dilation", [([2**62] * 3, [1]), ([0], [0]), ([0], [-1])])
def test_windows_that_are_none_are_refused(nn, padding, dilation):
    x_, y = nn.tensor(np.ones((1, 2, 4, 4, 4), np.float32)), nn.empty(np.float32, (1, 2, 2, 2, 2))
    places = nn.empty(np.int32, (1, 2, 2, 2, 2))
    with pytest.raises(Failed) as failure:
        nn.run("aclnnMaxPool3dWithArgmax", x_, [2], [2], padding, dilation, False, y, places)
    assert failure.value.sentence
    nn.clear()
