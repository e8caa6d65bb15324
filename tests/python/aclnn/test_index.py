# SPDX-License-Identifier: Apache-2.0
"""Elements by index, sorting and running sums."""
import numpy as np
import pytest
from aclnn_cases import Case, Skip, inout, out, x

ONE = ("contiguous",)
INDEX = np.array([[0, 1, 3, 2], [3, 3, 0, 1]])


def scatter(a, i, s, how):
    y = a.astype(np.float64).copy()
    for r, c in np.ndindex(i.shape):
        at = (r, i[r, c])
        y[at] = s[r, c] if how == "none" else how(y[at], s[r, c])
    return y


def scatter_mean(a, i, s):
    sums, counts = scatter(a, i, s, np.add), scatter(np.ones(a.shape), i, np.ones(i.shape), np.add)
    return sums / counts


def stable_order(a, axis, descending):
    return np.argsort(-a if descending else a, axis, kind="stable")


INT = {"dtype": "int64"}
CASES = [
    Case("aclnnScatter", [x(2, 4), Skip(1), x(2, 4, like=np.array([[0, 1, 3, 2], [3, 2, 0, 1]]),
                                              **INT), x(2, 5), Skip(0), out(2, 4)],
         lambda a, i, s: scatter(a, i, s, "none")),
    Case("aclnnInplaceScatter", [inout(2, 4), Skip(1), x(2, 4, like=INDEX, **INT), x(2, 4),
                                 Skip(1)], lambda a, i, s: scatter(a, i, s, np.add)),
    Case("aclnnScatterAdd", [x(2, 4), Skip(1), x(2, 4, like=INDEX, **INT), x(2, 4), out(2, 4)],
         lambda a, i, s: scatter(a, i, s, np.add), types=("float32", "float16", "int64"),
         tolerance=2e-3),
    Case("aclnnScatterValue", [x(2, 4), Skip(1), x(2, 2, like=[[0, 1], [3, 2]], **INT), 2.5,
                               Skip(2), out(2, 4)],
         lambda a, i, v: scatter(a, i, np.full(i.shape, v), np.multiply)),
    Case("aclnnScatterReduce", [x(2, 4), Skip(1), x(2, 4, like=INDEX, **INT), x(2, 4), Skip(1),
                                Skip(True), out(2, 4)],
         lambda a, i, s: scatter(a, i, s, np.add)),
    Case("aclnnScatterReduce", [x(2, 4), Skip(1), x(2, 4, like=INDEX, **INT), x(2, 4), Skip(5),
                                Skip(True), out(2, 4)], scatter_mean),
    Case("aclnnScatterReduce", [x(2, 4), Skip(1), x(2, 4, like=INDEX, **INT), x(2, 4), Skip(3),
                                Skip(True), out(2, 4)],
         lambda a, i, s: scatter(a, i, s, max)),
    Case("aclnnScatterReduce", [x(2, 4), Skip(1), x(2, 4, like=INDEX, **INT), x(2, 4), Skip(4),
                                Skip(False), out(2, 4)],
         lambda a, i, s: np.stack([[min([s[r, c] for c in range(4) if i[r, c] == k],
                                        default=a[r, k]) for k in range(4)] for r in range(2)])),
    Case("aclnnIndexAdd", [x(3, 4), Skip(0), x(3, like=[0, 2, 0], **INT), x(3, 4), 2, out(3, 4)],
         lambda a, i, s, f: a + 2 * np.stack([s[0] + s[2], 0 * s[0], s[1]])),
    Case("aclnnInplaceIndexCopy", [inout(3, 4), Skip(1), x(2, like=[3, 0], **INT), x(3, 2)],
         lambda a, i, s: np.stack([s[:, 1], a[:, 1], a[:, 2], s[:, 0]], 1)),
    Case("aclnnIndexFill", [x(3, 4), Skip(1), x(2, like=[3, 0], **INT), 7.0, out(3, 4)],
         lambda a, i, v: np.stack([a[:, 0] * 0 + v, a[:, 1], a[:, 2], a[:, 0] * 0 + v], 1)),
    Case("aclnnInplaceIndexFillTensor", [inout(3, 4), Skip(0), Skip([1]), 7.0],
         lambda a, v: np.stack([a[0], a[1] * 0 + v, a[2]])),
    Case("aclnnTake", [x(3, 4), x(2, 2, like=[[0, 11], [5, 5]], **INT), out(2, 2)],
         lambda a, i: a.ravel()[i]),
    Case("aclnnInplacePut", [inout(3, 4), x(3, like=[0, 11, 0], **INT), x(3), Skip(True)],
         lambda a, i, s: (a.ravel() + np.bincount(i, s, 12)).reshape(3, 4)),
    Case("aclnnInplaceMaskedScatter", [inout(2, 3), x(2, 3, dtype="bool", like=[1, 0, 1, 0, 1, 1]),
                                       x(5)],
         lambda a, m, s: np.float32([s[0], a[0, 1], s[1], a[1, 0], s[2], s[3]]).reshape(2, 3)),
    Case("aclnnIndex", [x(3, 4, 5), [x(2, like=[2, 0], **INT)], out(2, 4, 5)],
         lambda a, i: a[i[0]]),
    Case("aclnnIndex", [x(3, 4, 5), [x(2, 2, like=[[2, 0], [1, 1]], **INT),
                                     x(2, like=[3, 0], **INT)], out(2, 2, 5)],
         lambda a, i: a[i[0], i[1]]),
    Case("aclnnIndexPutImpl", [inout(3, 4), [x(2, like=[2, 0], **INT), x(2, like=[3, 0], **INT)],
                               x(2), Skip(False), Skip(False)],
         lambda a, i, v: np.float32([[v[1], *a[0, 1:]], [*a[1]], [*a[2, :3], v[0]]])),
    Case("aclnnIndexPutImpl", [inout(3, 4), [x(3, like=[2, 0, 2], **INT)], x(4), Skip(True),
                               Skip(False)],
         lambda a, i, v: a + v * np.array([[1], [0], [2]])),
    Case("aclnnSort", [x(3, 7), Skip(True), Skip(1), Skip(True), out(3, 7), out(3, 7, **INT)],
         lambda a: (-np.sort(-a, 1), stable_order(a, 1, True)), types=("float32", "int32")),
    Case("aclnnArgsort", [x(3, 7), Skip(0), Skip(False), out(3, 7, **INT)],
         lambda a: stable_order(a, 0, False)),
    Case("aclnnTopk", [x(3, 7), Skip(2), Skip(-1), Skip(True), Skip(True), out(3, 2),
                       out(3, 2, **INT)],
         lambda a: (-np.sort(-a, 1)[:, :2], stable_order(a, 1, True)[:, :2])),
    Case("aclnnMaxDim", [x(3, 7), Skip(1), Skip(False), out(3), out(3, **INT)],
         lambda a: (a.max(1), a.argmax(1))),
    Case("aclnnArgMin", [x(3, 7), Skip(0), Skip(True), out(1, 7, **INT)],
         lambda a: a.argmin(0)[None]),
    Case("aclnnKthvalue", [x(3, 7), Skip(3), Skip(1), Skip(False), out(3), out(3, **INT)],
         lambda a: (np.sort(a, 1)[:, 2], stable_order(a, 1, False)[:, 2])),
    Case("aclnnMedian", [x(3, 4), out()], lambda a: np.sort(a.ravel())[5]),
    Case("aclnnCumsum", [x(3, 4), Skip(1), Skip(0), out(3, 4)], lambda a: a.cumsum(1),
         types=("float32", "float16", "int64"), tolerance=2e-3),
    Case("aclnnCumprod", [x(3, 4), 1, Skip(0), out(3, 4)], lambda a, d: a.cumprod(1)),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_results(nn, case):
    case.check(nn)


def test_indices_left_out_take_their_axis_whole(nn):
    a = np.arange(60, dtype=np.float32).reshape(3, 4, 5)
    i = np.array([4, 0])
    y = nn.empty(np.float32, (3, 4, 2))
    nn.run("aclnnIndex", nn.tensor(a), nn.tensors([None, None, nn.tensor(i)]), y)
    np.testing.assert_array_equal(y.read(), a[:, :, i])
