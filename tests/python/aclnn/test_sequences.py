# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: E501
"""Losses of sequences and labels, equal neighbours, short-time spectra, gradients of sampled pictures."""
import itertools

import numpy as np
import pytest
from aclnn_cases import Case, Skip, inout, out, x

LOG = np.log(np.random.default_rng(3).dirichlet(np.ones(4), size=(5, 2)))  # [T, N, C]
TARGETS = [[1, 2, 2], [3, 1, 0]]
LENGTHS, COUNTS = [5, 4], [3, 2]


def collapsed(path, blank=0):
    return [label for label, _ in itertools.groupby(path) if label != blank]


def ctc(log):
    """By definition: the sum over all paths that become the target."""
    losses = []
    for n, (length, count) in enumerate(zip(LENGTHS, COUNTS)):
        total = sum(np.exp(sum(log[t, n, label] for t, label in enumerate(path)))
                    for path in itertools.product(range(4), repeat=length)
                    if collapsed(path) == TARGETS[n][:count])
        losses.append(-np.log(total))
    return np.array(losses)


def ctc_slope(log):
    """By differences, along scores in front of a log_softmax whose values these are."""
    slope, step = np.zeros_like(log), 1e-5
    for place in np.ndindex(*log.shape):
        ends = []
        for sign in (1, -1):
            scores = log.copy()
            scores[place] += sign * step
            ends.append(ctc(scores - np.log(np.exp(scores).sum(-1, keepdims=True)))[place[1]])
        slope[place] = (ends[0] - ends[1]) / (2 * step)
    return slope


def margins(a, labels):
    rows, marks = np.zeros(len(a)), np.zeros(a.shape)
    for n, row in enumerate(labels):
        meant = list(itertools.takewhile(lambda label: label >= 0, row))
        marks[n, meant] = 1
        rows[n] = sum(max(0, 1 - a[n, y] + a[n, c]) for y in meant for c in range(a.shape[1])
                      if c not in meant) / a.shape[1]
    return rows.mean(), marks


def renormed(table, rows):
    made = table.astype(np.float64)
    for row in set(rows):
        length = np.sqrt((made[row] ** 2).sum())
        if length > 1:
            made[row] *= 1 / (length + 1e-7)
    return made


def frames(a, window):
    cut = np.stack([a[:, i:i + 8] * window for i in range(0, a.shape[1] - 7, 3)], 1)
    return np.fft.rfft(cut).swapaxes(1, 2)


WINDOW = np.hanning(6)
CASES = [
    Case("aclnnCtcLoss", [x(5, 2, 4, like=LOG), x(2, 3, dtype="int64", like=TARGETS), Skip(LENGTHS), Skip(COUNTS), Skip(0),
                          Skip(False), out(2), out(2, 5, 7)], lambda *_: (ctc(LOG), None)),
    Case("aclnnCtcLossBackward",
         [x(2, like=[1, 1]), x(5, 2, 4, like=LOG), x(2, 3, dtype="int64", like=TARGETS), Skip(LENGTHS), Skip(COUNTS),
          x(2), x(2, 5, 7), Skip(0), Skip(False), out(5, 2, 4)],
         lambda *_: ctc_slope(LOG), tolerance=1e-4),
    Case("aclnnMultilabelMarginLoss",
         [x(2, 4), x(2, 4, dtype="int64", like=[[3, 0, -1, 1], [-1, 2, 2, 2]]), Skip(1), out(), out(2, 4)],
         margins),
    Case("aclnnEmbeddingRenorm", [inout(5, 3), x(4, dtype="int64", like=[0, 2, 2, 4]), Skip(1.0), Skip(2.0)],
         renormed),
    Case("aclStft", [x(2, 20), x(6, like=WINDOW), out(2, 5, 5, dtype="complex64"), Skip(8), Skip(3), Skip(6),
                     Skip(False), Skip(True), Skip(True)],
         lambda a, w: frames(a, np.pad(w, 1)), tolerance=1e-4),
    Case("aclRfft1D", [x(3, 8), Skip(8), Skip(-1), Skip(1), out(3, 5, 2)],
         lambda a: np.stack([np.fft.rfft(a).real, np.fft.rfft(a).imag], -1), tolerance=1e-4),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_results(nn, case):
    case.check(nn)


@pytest.mark.parametrize("dim", [None, 0])
def test_equal_neighbours_become_one(nn, dim):
    values = np.array([[1, 1], [1, 1], [2, 0], [1, 1]], np.float32)
    out_values, inverse, counts = (nn.tensor(np.zeros(8, t)) for t in (np.float32, np.int64, np.int64))
    shape = values.shape if dim is None else (4,)
    if dim == 0:
        out_values = nn.tensor(np.zeros((4, 2), np.float32))
    inverse = nn.tensor(np.zeros(shape, np.int64))
    nn.run("aclnnUniqueConsecutive", nn.tensor(values), True, True, 1000 if dim is None else dim, out_values,
           inverse, counts)
    nn.synchronize()
    expected = {None: ([1, 2, 0, 1], [[0, 0], [0, 0], [1, 2], [3, 3]], [4, 1, 1, 2]),
                0: ([[1, 1], [2, 0], [1, 1]], [0, 0, 1, 2], [2, 1, 1])}[dim]
    count = len(expected[2])
    np.testing.assert_array_equal(out_values.read()[:count], expected[0])
    np.testing.assert_array_equal(inverse.read(), expected[1])
    np.testing.assert_array_equal(counts.read()[:count], expected[2])


def bilinear(a, grid):
    """Samples of one plane; zeros around, corners of pixels at -1 and 1."""
    rows, columns = a.shape
    made = np.zeros(grid.shape[:2])
    for place in np.ndindex(*grid.shape[:2]):
        at = [((grid[place][1] + 1) * rows - 1) / 2, ((grid[place][0] + 1) * columns - 1) / 2]
        for i in range(int(np.floor(at[0])), int(np.floor(at[0])) + 2):
            for j in range(int(np.floor(at[1])), int(np.floor(at[1])) + 2):
                if 0 <= i < rows and 0 <= j < columns:
                    made[place] += a[i, j] * (1 - abs(at[0] - i)) * (1 - abs(at[1] - j))
    return made


def slope_of(function, at, towards):
    made, step = np.zeros_like(at), 1e-6
    for place in np.ndindex(*at.shape):
        ends = []
        for sign in (1, -1):
            moved = at.copy()
            moved[place] += sign * step
            ends.append((function(moved) * towards).sum())
        made[place] = (ends[0] - ends[1]) / (2 * step)
    return made


def test_gradients_of_a_sampled_picture(nn):
    rng = np.random.default_rng(0)
    picture, grid, g = rng.standard_normal((4, 5)), rng.uniform(-1.2, 1.2, (3, 2, 2)), rng.standard_normal((3, 2))
    tensors = [nn.tensor(a[None].astype(np.float32)) for a in (g[None], picture[None], grid)]
    to_picture, to_grid = (nn.tensor(np.zeros(s, np.float32)) for s in ((1, 1, 4, 5), (1, 3, 2, 2)))
    nn.run("aclnnGridSampler2DBackward", *tensors, 0, 0, False, [True, True], to_picture, to_grid)
    nn.synchronize()
    np.testing.assert_allclose(to_picture.read()[0, 0], slope_of(lambda p: bilinear(p, grid), picture, g),
                               rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(to_grid.read()[0], slope_of(lambda p: bilinear(picture, p), grid, g), rtol=1e-4,
                               atol=1e-4)
