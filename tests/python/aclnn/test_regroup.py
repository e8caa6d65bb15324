# SPDX-License-Identifier: Apache-2.0
"""Elements in other places: slices, diagonals, circular pads, coordinates; operators of lists."""
import numpy as np
import pytest
from aclnn_cases import Case, Skip, inout, out, x

from aclnn import Failed

ANY = ("float32", "int32", "float16")


def circular_gradient(dy, a):
    d = np.zeros(a.shape)
    index = np.pad(np.arange(a.size).reshape(a.shape), ((0, 0), (0, 0), (2, 1), (0, 3)),
                   mode="wrap")
    np.add.at(d.reshape(-1), index.ravel(), dy.ravel())
    return d


def filled(a, value, wrap):
    b = a.copy()
    np.fill_diagonal(b, value, wrap)
    return b


def scattered(a, at, u):
    b = a.copy()
    b[tuple(at.T)] = u
    return b


AT = [[0, 1], [3, 2], [1, 0]]
CASES = [
    Case("aclnnFlatten", [x(2, 3, 4), Skip(1), out(2, 12)], lambda a: a.reshape(2, 12), types=ANY),
    Case("aclnnExpand", [x(3, 1), Skip([2, 3, 4]), out(2, 3, 4)],
         lambda a: np.broadcast_to(a, (2, 3, 4)), types=ANY),
    Case("aclnnConfusionTranspose", [x(2, 3, 4), Skip([1, 0, 2]), Skip([3, 8]), Skip(True),
                                     out(3, 8)],
         lambda a: a.transpose(1, 0, 2).reshape(3, 8)),
    Case("aclnnConfusionTranspose", [x(6, 4), Skip([1, 0, 2]), Skip([2, 3, 4]), Skip(False),
                                     out(3, 2, 4)],
         lambda a: a.reshape(2, 3, 4).transpose(1, 0, 2)),
    *[Case("aclnnDiag", [x(4), k, out(4 + abs(k), 4 + abs(k))], np.diag, types=ANY) for k in (0, 1,
                                                                                              -2)],
    *[Case("aclnnDiag", [x(4, 6), k, out(n)], np.diag) for k, n in ((0, 4), (3, 3), (-2, 2))],
    Case("aclnnDiagFlat", [x(2, 3), 1, out(7, 7)], np.diagflat),
    *[Case("aclnnInplaceFillDiagonal", [inout(*s), 5, w], filled)
      for s in ((4, 4), (3, 5), (8, 3), (3, 3, 3)) for w in (False, True)],
    Case("aclnnCircularPad2d", [x(1, 2, 4, 5), Skip([0, 3, 2, 1]), out(1, 2, 7, 8)],
         lambda a: np.pad(a, ((0, 0), (0, 0), (2, 1), (0, 3)), mode="wrap"), types=ANY),
    Case("aclnnCircularPad2dBackward", [x(1, 2, 7, 8), x(1, 2, 4, 5), Skip([0, 3, 2, 1]),
                                        out(1, 2, 4, 5)],
         circular_gradient),
    Case("aclnnCircularPad3d", [x(1, 2, 3, 4, 5), Skip([1, 1, 0, 2, 3, 0]), out(1, 2, 6, 6, 7)],
         lambda a: np.pad(a, ((0, 0), (0, 0), (3, 0), (0, 2), (1, 1)), mode="wrap")),
    Case("aclnnGatherNd", [x(4, 5, 2), x(3, 2, dtype="int64", like=AT), Skip(True), out(3, 2)],
         lambda a, at: a[at[:, 0], at[:, 1]], types=ANY),
    Case("aclnnScatterNd", [x(4, 5), x(3, 2, dtype="int64", like=AT), x(3), out(4, 5)], scattered),
    Case("aclnnScatterNdUpdate", [inout(4, 5), x(3, 2, dtype="int64", like=AT), x(3)], scattered),
    Case("aclnnTfScatterAdd", [inout(4, 5), x(3, 2, dtype="int64", like=[[0, 1], [3, 2], [0, 1]]),
                               x(3)],
         lambda a, at, u: a + np.stack([np.bincount(at @ [5, 1], u, 20)]).reshape(4, 5)),
    Case("aclnnGatherV3", [x(4, 5), Skip(1), x(3, dtype="int64", like=[4, 0, 2]), Skip(0), Skip(0),
                           out(4, 3)],
         lambda a, at: a[:, at]),
    Case("aclnnStridedSlice", [x(6, 5, 4), Skip([1, 0, -1]), Skip([5, 3, 9]), Skip([2, 1, 1]),
                               Skip(0), Skip(2), Skip(0),
                               Skip(0), Skip(4), out(2, 5)], lambda a: a[1:5:2, 0:, -1]),
    Case("aclnnRepeatInterleaveTensor", [x(3, dtype="int64", like=[2, 0, 3]), Skip(5),
                                         out(5, dtype="int64")],
         lambda n: np.repeat(np.arange(3), n)),
    Case("aclnnMaxN", [[x(3, 4), x(3, 4), x(3, 4)], out(3, 4)], lambda v: np.maximum.reduce(v),
         types=ANY),
    Case("aclnnMinN", [[x(3, 4), x(3, 4)], out(3, 4)], lambda v: np.minimum.reduce(v)),
    Case("aclnnSum", [[x(3, 4), x(3, 4), x(3, 4)], out(3, 4)], lambda v: sum(v)),
    Case("aclnnEinsum", [[x(2, 3, 4), x(2, 4, 5)], Skip("bik,bkj->bij"), out(2, 3, 5)],
         lambda v: v[0] @ v[1]),
    Case("aclnnGemm", [x(4, 3), x(4, 5), x(3, 5), Skip(0.5), Skip(2.0), Skip(1), Skip(0), out(3, 5),
                       Skip(0)],
         lambda a, b, c: 0.5 * a.T @ b + 2 * c),
    Case("aclnnGlobalAveragePool", [x(2, 3, 4, 5), out(2, 3, 1, 1)],
         lambda a: a.mean((2, 3), keepdims=True)),
    Case("aclnnGlobalMaxPool", [x(2, 3, 4, 5), out(2, 3, 1, 1)],
         lambda a: a.max((2, 3), keepdims=True)),
    Case("aclnnReduceLogSum", [x(2, 3, 4, like="positive"), Skip([1]), Skip(False), Skip(False),
                               out(2, 4)],
         lambda a: np.log(a.sum(1))),
    Case("aclnnInplaceXLogYTensor", [inout(3, 4, like="positive"), x(3, 4, like="positive")],
         lambda a, b: a * np.log(b)),
    Case("aclnnLogdet", [x(3, 3, like=[[2, 1, 0], [0, 3, 1], [1, 0, 1]]), out()],
         lambda a: np.log(np.linalg.det(a.astype(np.float64)))),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_results(nn, case):
    case.check(nn)


def test_grids_and_regions(nn):
    theta = np.array([[[1, 0, 0.5], [0, 2, 0]]], np.float32)
    grid = nn.empty(np.float32, (1, 3, 2, 2))
    nn.run("aclnnAffineGrid", nn.tensor(theta), [1, 1, 3, 2], True, grid)
    ys, xs = np.meshgrid(np.linspace(-1, 1, 3), np.linspace(-1, 1, 2), indexing="ij")
    np.testing.assert_allclose(grid.read()[0], np.stack([xs + 0.5, 2 * ys], -1), atol=1e-6)
    picture = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
    boxes, got = nn.tensor(np.array([[0, 0, 0, 4, 4]], np.float32)), nn.empty(np.float32,
                                                                              (1, 1, 2, 2))
    nn.run("aclnnRoiAlignV2", nn.tensor(picture), boxes, 2, 2, 1.0, 2, True, got)
    np.testing.assert_allclose(got.read()[0, 0], picture[0, 0].reshape(2, 2, 2, 2).mean((1, 3)),
                               atol=1e-5)
    nn.clear()


@pytest.mark.parametrize("aligned,ratio", [(True, 2), (False, 0)])
def test_the_gradient_of_regions_is_the_way_back(nn, aligned, ratio):
    """Averages are linear: what a picture gives to an output, the output gives back to it."""
    rng = np.random.default_rng(2)
    picture, dy = (
        rng.standard_normal((2, 3, 7, 6)).astype(np.float32),
        rng.standard_normal((4, 3, 2, 3)).astype(np.float32),
    )
    boxes = np.array(
        [[0, 0, 0, 9, 9], [1, 2.5, 1, 7, 13], [1, -4, -4, 30, 30], [0, 3, 3, 3, 3]], np.float32
    )
    y, dx = nn.empty(np.float32, (4, 3, 2, 3)), nn.empty(np.float32, (2, 3, 7, 6), 5)
    nn.run("aclnnRoiAlignV2", nn.tensor(picture), nn.tensor(boxes), 2, 3, 0.5, ratio, aligned, y)
    nn.run(
        "aclnnRoiAlignV2Backward",
        nn.tensor(dy),
        nn.tensor(boxes),
        [2, 3, 7, 6],
        2,
        3,
        0.5,
        ratio,
        aligned,
        dx,
    )
    for channel in range(3):  # channels do not mix
        np.testing.assert_allclose(
            (y.read() * dy)[:, channel].sum(), (dx.read() * picture)[:, channel].sum(), rtol=1e-4
        )
    with pytest.raises(Failed, match=r"input_shape .* expected R, C, h, w"):
        nn.run(
            "aclnnRoiAlignV2Backward",
            nn.tensor(dy),
            nn.tensor(boxes),
            [2, 4, 7, 6],
            2,
            3,
            0.5,
            2,
            True,
            dx,
        )
    nn.clear()


@pytest.mark.parametrize("mode", ["iou", "iof"])
def test_boxes_overlap(nn, mode):
    boxes = np.array([[0, 0, 10, 10], [10, 10, 20, 20], [32, 32, 38, 42]], np.float32)
    targets = np.array([[0, 0, 10, 20], [20, 0, 30, 5]], np.float32)
    got = nn.empty(np.float32, (2, 3))
    nn.run("aclnnIou", nn.tensor(boxes), nn.tensor(targets), mode, 1e-6, False, got)
    np.testing.assert_allclose(got.read(), [[0.5, 0, 0], [0, 0, 0]], atol=1e-6)
    pairs = nn.empty(np.float32, (3, 1))
    nn.run("aclnnIou", nn.tensor(boxes), nn.tensor(boxes + 5), mode, 0.0, True, pairs)
    common = np.array([25, 25, 5]), np.array([100, 100, 60])
    np.testing.assert_allclose(
        pairs.read()[:, 0],
        common[0] / (2 * common[1] - common[0] if mode == "iou" else common[1]),
        rtol=1e-6,
    )
    with pytest.raises(Failed, match="mode is 'giou'; expected iou or iof"):
        nn.run("aclnnIou", nn.tensor(boxes), nn.tensor(targets), "giou", 0.0, False, got)
    with pytest.raises(Failed, match="as many where they are aligned"):
        nn.run("aclnnIou", nn.tensor(boxes), nn.tensor(targets), mode, 0.0, True, got)
    nn.clear()


def test_the_first_version_of_regions_has_pictures_apart(nn):
    picture = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
    for mode in ("avg", "max"):
        got = nn.empty(np.float32, (1, 1, 2, 2))
        nn.run(
            "aclnnRoiAlign",
            nn.tensor(picture),
            nn.tensor(np.array([[0, 0, 4, 4]], np.float32)),
            nn.tensor(np.array([0], np.int32)),
            mode,
            2,
            2,
            2,
            1.0,
            got,
        )
        # Samples lie half a step into their bins, and pixels have their centres on whole numbers.
        at = np.minimum(np.arange(4) + 0.5, 3)
        if mode == "avg":
            between = (at[:, None] * 4 + at[None]).reshape(2, 2, 2, 2)
            np.testing.assert_allclose(got.read()[0, 0], between.mean((1, 3)), atol=1e-5)
        else:  # the largest share of a corner
            assert (got.read() > 0).all() and got.read().max() <= 15
    with pytest.raises(Failed, match="mode is 'min'; expected avg or max"):
        nn.run("aclnnRoiAlign", nn.tensor(picture), nn.tensor(np.zeros((1, 4), np.float32)),
               nn.tensor(np.zeros(1, np.int32)), "min", 2, 2, 2, 1.0, got)
    nn.clear()


def test_what_does_not_fit_is_said(nn):
    a, b = nn.tensor(np.zeros((1, 1, 2, 2), np.float32)), nn.empty(np.float32, (1, 1, 5, 2))
    with pytest.raises(Failed, match="padding is 3 and 0 for an axis of 2"):
        nn.run("aclnnCircularPad2d", a, [0, 0, 3, 0], b)
    with pytest.raises(Failed, match="padding has 3 numbers"):
        nn.run("aclnnCircularPad2d", a, [0, 0, 3], b)
    with pytest.raises(Failed, match="stride 0 is 0"):
        nn.run("aclnnStridedSlice", a, [0], [1], [0], 0, 0, 0, 0, 0, b)
    nn.clear()
