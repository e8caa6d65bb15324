# SPDX-License-Identifier: Apache-2.0
"""Operators that MindSpore asks for by name, against numpy: Fourier transforms, bands of matrices,
draws, boxes. Draws are tested by what must hold for every outcome."""
import numpy as np
import pytest
import single_op

pytestmark = pytest.mark.usefixtures("runtime")
RNG = np.random.default_rng(29)
F, C, I32, L = np.float32, np.complex64, np.int32, np.int64
X = RNG.standard_normal((3, 5)).astype(F)
T = RNG.standard_normal((2, 3, 6)).astype(F)
Z = (RNG.standard_normal((2, 3, 4)) + 1j * RNG.standard_normal((2, 3, 4))).astype(C)
A, B = RNG.integers(1, 30, (3, 5)).astype(I32), RNG.integers(1, 30, (3, 5)).astype(I32)
SQUARE = RNG.standard_normal((4, 4))
FACTOR = np.linalg.cholesky(SQUARE @ SQUARE.T + 4 * np.eye(4)).astype(F)
VOLUME = RNG.standard_normal((2, 3, 4, 6, 6)).astype(F)
PICTURE = RNG.standard_normal((2, 3, 5, 6)).astype(F)
BACKWARD, FORWARD, ORTHO = ("backward", 0), ("forward", 1), ("ortho", 2)


def fourier(function, x, length=None, axis=-1, norm=None):
    """One axis: the input, how many points, the axis, the way of scaling."""
    made = function(x, n=length, axis=axis, norm=norm and norm[0])
    made = made.astype(C) if np.iscomplexobj(made) else made.astype(F)
    given = [x, None if length is None else L(length), L(axis),
             None if norm is None else L(norm[1])]
    return given, [made], {}, tuple(i for i in (1, 2, 3) if given[i] is not None)


def several(function, x, lengths=None, axes=None, norm=None):
    made = function(x, lengths, axes, norm and norm[0])
    made = made.astype(C) if np.iscomplexobj(made) else made.astype(F)
    given = [x, lengths and np.array(lengths, L), axes and np.array(axes, L), norm and L(norm[1])]
    return given, [made], {}, tuple(i for i in (1, 2, 3) if given[i] is not None)


OPPOSITE = {"backward": "forward", "forward": "backward", "ortho": "ortho", None: "forward"}


def hfftn(x, lengths, axes, norm):
    """Transforms of the other axes, then that of half a spectrum."""
    axes = list(axes or range(x.ndim))
    lengths = list(lengths or [x.shape[a] for a in axes[:-1]] + [2 * (x.shape[axes[-1]] - 1)])
    return np.fft.irfftn(np.conj(np.fft.fftn(x, lengths[:-1], axes[:-1], norm) if axes[:-1] else x),
                         lengths[-1:], axes[-1:], OPPOSITE[norm])


def ihfftn(x, lengths, axes, norm):
    axes = list(axes or range(x.ndim))
    lengths = list(lengths or [x.shape[a] for a in axes])
    half = np.conj(np.fft.rfft(x, lengths[-1], axes[-1], OPPOSITE[norm]))
    return np.fft.ifftn(half, lengths[:-1], axes[:-1], norm) if axes[:-1] else half


def pairs_of(x, p):
    return np.array([(np.abs(x[i] - x[j])**p).sum()**(1 / p)
                     for i in range(len(x)) for j in range(i + 1, len(x))], F)


def margin(x, classes, p, how):
    rows = []
    for row, own in zip(x.astype(float), classes, strict=True):
        near = np.maximum(0, 1 - row[own] + row)**p
        near[own] = 0
        rows.append(near.sum() / x.shape[1])
    return {"none": np.array(rows, F), "mean": F(np.mean(rows)), "sum": F(np.sum(rows))}[how]


def strided(shape, begin, end, steps):
    dy = RNG.standard_normal(np.zeros(shape)[tuple(map(slice, begin, end, steps))].shape).astype(F)
    whole = np.zeros(shape, F)
    whole[tuple(map(slice, begin, end, steps))] = dy
    given = [np.array(v, I32) for v in (shape, begin, end, steps)]
    return [*given, dy], [whole], {}, (0, 1, 2, 3)


def windows(x, size):
    n, c, h, w = x.shape
    out = [[x[:, :, i:h - size + 1 + i, j:w - size + 1 + j].reshape(n, c, -1) for j in range(size)]
           for i in range(size)]
    return np.stack([part for row in out for part in row], 2)


def pooled_volume():
    parts = VOLUME.reshape(2, 3, 2, 2, 3, 2, 3, 2).transpose(0, 1, 2, 4, 6, 3, 5, 7).reshape(2, 3,
        2, 3, 3, 8)
    tap = parts.argmax(-1)
    d, h, w = np.indices((2, 3, 3))
    place = ((2 * d + tap // 4) * 6 + 2 * h + tap // 2 % 2) * 6 + 2 * w + tap % 2
    return [parts.max(-1), place.astype(L)]


BOXES = np.sort(RNG.uniform(0, 20, (4, 2, 2)), 1).reshape(4, 4).astype(F)
TRUTH = np.sort(RNG.uniform(0, 20, (4, 2, 2)), 1).reshape(4, 4).astype(F)


def iou(of_truth):
    out = np.zeros((4, 4))
    for i, t in enumerate(TRUTH.astype(float)):
        for j, b in enumerate(BOXES.astype(float)):
            sides = np.maximum(np.minimum(t[2:], b[2:]) - np.maximum(t[:2], b[:2]) + 1, 0)
            own, other = np.prod(b[2:] - b[:2] + 1), np.prod(t[2:] - t[:2] + 1)
            out[i, j] = np.prod(sides) / (other if of_truth else own + other - np.prod(sides))
    return out.astype(F)


def encoded():
    b, t = BOXES.astype(float), TRUTH.astype(float)
    size, wanted = b[:, 2:] - b[:, :2] + 1, t[:, 2:] - t[:, :2] + 1
    shift = ((t[:, :2] + t[:, 2:]) - (b[:, :2] + b[:, 2:])) / 2 / size
    made = np.concatenate([shift, np.log(wanted / size)], 1)
    return ((made - 0.1) / [0.1, 0.1, 0.2, 0.2]).astype(F)


def diagonals_of(x, low, high):
    """RIGHT_LEFT: above the main diagonal to the right, below it to the left."""
    lines = [np.diagonal(x, k) for k in range(high, low - 1, -1)]
    longest = max(map(len, lines))
    out = np.zeros((len(lines), longest), F)
    for row, line, k in zip(out, lines, range(high, low - 1, -1), strict=True):
        row[longest - len(line) if k >= 0 else 0:][:len(line)] = line
    return out


def banded(x, low, high):
    i, j = np.indices(x.shape)
    return np.where((j - i >= low) & (j - i <= high), x, 0).astype(F)


CLASSES = np.array([1, 4, 0], L)
K = np.array([-1, 1], I32)
CASES = {
    "FFT": fourier(np.fft.fft, X), "FFT/complex": fourier(np.fft.fft, Z, 6, 1, ORTHO),
    "IFFT": fourier(np.fft.ifft, Z), "IFFT/shorter": fourier(np.fft.ifft, Z, 3, -1, FORWARD),
    "RFFT": fourier(np.fft.rfft, X), "RFFT/forward": fourier(np.fft.rfft, T, 4, 1, FORWARD),
    "IRFFT": fourier(np.fft.irfft, Z), "IRFFT/odd": fourier(np.fft.irfft, Z, 5, -1, ORTHO),
    "HFFT": fourier(np.fft.hfft, Z), "HFFT/forward": fourier(np.fft.hfft, Z, 5, 1, FORWARD),
    "IHFFT": fourier(np.fft.ihfft, X), "IHFFT/forward": fourier(np.fft.ihfft, T, 4, 1, FORWARD),
    "FFT2": several(np.fft.fftn, T, None, (-2, -1)),
    "IFFT2": several(np.fft.ifftn, Z, (4, 5), (0, 2)),
    "FFTN": several(np.fft.fftn, T, None, None, ORTHO), "IFFTN": several(np.fft.ifftn, Z),
    "RFFT2": several(np.fft.rfftn, T, None, (-2, -1)),
    "RFFTN": several(np.fft.rfftn, T, None, None, FORWARD),
    "IRFFT2": several(np.fft.irfftn, Z, None, (-2, -1)),
    "IRFFTN": several(np.fft.irfftn, Z, (3, 7), (1, 2), FORWARD),
    "HFFT2": several(hfftn, Z, None, (-2, -1)), "HFFTN": several(hfftn, Z, (4, 5), (1, 2), ORTHO),
    "IHFFT2": several(ihfftn, T, None, (-2, -1)), "IHFFTN": several(ihfftn, T, None, None, FORWARD),
    "FFTFreq": ([L(5), F(0.5)], [np.fft.fftfreq(5, 0.5)], {}, (0, 1)),
    "RFFTFreq": ([L(6), F(0.5)], [np.fft.rfftfreq(6, 0.5)], {}, (0, 1)),
    "FFTShift": ([T, np.array([1, 2], L)], [np.fft.fftshift(T, (1, 2))], {}, (1,)),
    "IFFTShift": ([X, None], [np.fft.ifftshift(X)], {}),
    "STFT": ([T[0]], [np.stack([np.fft.rfft(T[0][:, s:s + 4]) for s in (0, 2)], 2).astype(C)],
             {"n_fft": 4, "hop_length": 2, "win_length": 4, "return_complex": True}),
    "CholeskyInverse": ([FACTOR], [np.linalg.inv(FACTOR @ FACTOR.T)], {"upper": False}),
    "CholeskyInverse/upper": ([FACTOR.T.copy()], [np.linalg.inv(FACTOR @ FACTOR.T)],
                              {"upper": True}),
    "MatrixBandPart": ([X, L(1), L(-1)], [banded(X, -1, 9)], {}),
    "MatrixDiagV3": ([X[0, :3], I32(1), I32(-1), I32(-1), F(7)],
                     [np.where(np.eye(4, k=1) > 0, np.diag(X[0, :3], 1), 7)], {}, (1, 2, 3)),
    "MatrixDiagPartV3": ([X, K, F(0)], [diagonals_of(X, -1, 1)], {"align": "RIGHT_LEFT"}, (1,)),
    "MatrixSetDiagV3": ([X, diagonals_of(X * 2, -1, 1), K], [X + banded(X, -1, 1)],
                        {"align": "RIGHT_LEFT"}, (2,)),
    "TrilIndices": ([], [np.stack(np.tril_indices(3, 1, 5)).astype(I32)],
                    {"row": 3, "col": 5, "offset": 1}),
    "TriuIndices": ([], [np.stack(np.triu_indices(3, -1, 5)).astype(I32)],
                    {"row": 3, "col": 5, "offset": -1}),
    "BoundingBoxEncode": ([BOXES, TRUTH], [encoded()],
                          {"means": [0.1] * 4, "stds": [0.1, 0.1, 0.2, 0.2]}),
    "Iou": ([BOXES, TRUTH], [iou(False)], {}), "Iou/iof": ([BOXES, TRUTH], [iou(True)],
                                                           {"mode": "iof"}),
    "InTopKD": ([X, CLASSES.astype(I32)], [(X > X[[0, 1, 2], CLASSES][:, None]).sum(1) < 2],
                {"k": 2}),
    "Lcm": ([A, B], [np.lcm(A, B)], {}),
    "LogSpace": ([F(0), F(2)], [np.logspace(0, 2, 5, base=3)], {"steps": 5, "base": 3}),
    "MultiMarginLoss": ([X, CLASSES], [margin(X, CLASSES, 1, "mean")], {}),
    "MultiMarginLoss/none": ([X, CLASSES], [margin(X, CLASSES, 2, "none")],
                             {"p": 2, "reduction": "none"}),
    "Pdist": ([X], [pairs_of(X, 3.0)], {"p": 3.0}),
    "AdaptiveAvgPool3d": ([VOLUME], [VOLUME.reshape(2, 3, 2, 2, 3, 2, 2, 3).mean((3, 5, 7))],
                          {"output_size": [2, 3, 2]}),
    "Im2col": ([PICTURE], [windows(PICTURE, 2)], {"ksizes": [2, 2], "strides": [1, 1]}),
    "MaxPool3DWithArgmax": ([VOLUME], pooled_volume(), {"ksize": [2, 2, 2], "strides": [2, 2, 2]}),
    "StridedSliceGrad": strided((4, 5), (1, 0), (3, 5), (1, 2)),
    "StridedSliceGrad/backwards": strided((6, 5), (-1, 4), (-7, 1), (-2, -1)),
    "StridedSliceGrad/one": ([np.array(v, I32) for v in ((2, 5, 3), (1, 0, 1), (2, 0, 2),
                                                         (1, 1, 1))] + [X[0]],
                             [np.stack([np.zeros((5, 3)), np.outer(X[0], [0, 1, 0])])],
                             {"ellipsis_mask": 2, "shrink_axis_mask": 0b101}, (0, 1, 2, 3)),
    "Svd/values": ([X], [np.linalg.svd(X, compute_uv=False), np.zeros(1, F), np.zeros(1, F)],
                   {"compute_uv": False}),
    "Addcdiv/whole": ([X, X, X + 9, L(3)], [X + 3 * X / (X + 9)], {}),
    "Angle/complex": ([Z], [np.angle(Z)], {}),
    "HammingWindow/shares": ([np.array([6], I32)],
                             [0.5 - 0.3 * np.cos(2 * np.pi * np.arange(6) / 6)],
                             {"periodic": True, "alpha": 0.5, "beta": 0.3}, (0,)),
}
MOVED = RNG.standard_normal((2, 5)).astype(F)
ROWS = np.array([2, 0], I32)


def with_rows(sign):
    out = X.copy()
    out[[2, 0]] += sign * MOVED
    return out


def unpooled(x, at, points):
    out = np.zeros((x.shape[0] * x.shape[1], points), F)
    np.put_along_axis(out, at.reshape(len(out), -1), x.reshape(len(out), -1), 1)
    return out


def to_batch(x):
    """Blocks of 1 x 2 x 2 over channels, height and width."""
    n, c, h, w = x.shape
    return x.reshape(n, c, h // 2, 2, w // 2, 2).transpose(3, 5, 0, 1, 2, 4).reshape(4 * n, c,
                                                                                     h // 2, w // 2)


def decoded():
    b, s = BOXES.astype(float), MOVED4.astype(float) * [0.1, 0.1, 0.2, 0.2]
    size, middle = b[:, 2:] - b[:, :2] + 1, (b[:, :2] + b[:, 2:]) / 2
    centre, new = middle + size * s[:, :2], size * np.exp(s[:, 2:])
    made = np.concatenate([centre - (new - 1) / 2, centre + (new - 1) / 2], 1)
    return np.clip(made, 0, [14, 9, 14, 9]).astype(F)


def reflections(x):
    """A matrix as LAPACK's geqrf leaves it, and how far each reflection reflects."""
    x, reach = x.astype(float).copy(), []
    for i in range(min(x.shape)):
        v = x[i:, i].copy()
        if not v[1:].any():
            reach.append(0)
            continue
        beta = -np.copysign(np.linalg.norm(v), v[0])
        tau = (beta - v[0]) / beta
        v = np.concatenate([[1], v[1:] / (v[0] - beta)])
        x[i:, i:] -= tau * np.outer(v, v @ x[i:, i:])
        x[i + 1:, i] = v[1:]
        reach.append(tau)
    return x.astype(F), np.array(reach, F)


def renormed():
    norm = (np.abs(X.astype(float))**3).sum(1, keepdims=True)**(1 / 3)
    return (X * np.where(norm > 1.5, 1.5 / norm, 1)).astype(F)


def crop():
    """Rows 1 to 4 and columns 1 to 3 of the first picture, 6 x 5 points between them."""
    rows, columns = np.linspace(1, 4, 6), np.linspace(1, 3, 5)
    x, out = PICTURE_LAST[0].astype(float), np.zeros((6, 5, 3))
    for i, y in enumerate(rows):
        for j, z in enumerate(columns):
            a, c = int(y), int(z)
            d, e = y - a, z - c
            b, f = min(a + 1, 5), min(c + 1, 4)
            out[i, j] = ((1 - d) * ((1 - e) * x[a, c] + e * x[a, f]) + d * ((1 - e) * x[b,
                c] + e * x[b, f]))
    return out.astype(F)


def first_columns():
    """Of the product of the reflections of TALL."""
    q = np.eye(5)
    for i, tau in enumerate(REACH.astype(float)):
        v = np.concatenate([np.zeros(i), [1], TALL[i + 1:, i]])
        q = q @ (np.eye(5) - tau * np.outer(v, v))
    return q[:, :3].astype(F)


MOVED4 = RNG.standard_normal((4, 4)).astype(F)
SMALL, PLACES = RNG.standard_normal((2, 3, 2, 2)).astype(F), np.array([[0, 3], [9, 14]] * 6,
                                                                      L).reshape(2, 3, 2, 2)
BLOCKY = RNG.standard_normal((2, 3, 4, 6)).astype(F)
TALL, REACH = reflections(RNG.standard_normal((5, 3)))
WIDE = RNG.standard_normal((3, 5)).astype(F)
PICTURE_LAST = RNG.standard_normal((2, 6, 5, 3)).astype(F)
CASES |= {
    "BartlettWindow": ([I32(7)], [np.bartlett(8)[:7]], {"periodic": True}, (0,)),
    "SpaceToBatchND": ([BLOCKY, np.array([1, 2, 2], I32), np.zeros((3, 2), L)], [to_batch(BLOCKY)],
                       {}, (1, 2)),
    "BatchToSpaceND": ([to_batch(BLOCKY), np.array([1, 2, 2], I32),
                        np.array([[0, 0], [1, 0], [0, 2]], L)],
                       [BLOCKY[:, :, 1:, :4]], {}, (1, 2)),
    "BoundingBoxDecode": ([BOXES, MOVED4], [decoded()],
                          {"stds": [0.1, 0.1, 0.2, 0.2], "max_shape": [10, 15]}),
    "CheckValid": ([BOXES, F([12, 20, 1])],
                   [(BOXES[:, 0] >= 0) & (BOXES[:, 1] >= 0) & (BOXES[:, 2] <= 19) & (BOXES[:,
                       3] <= 11)], {}),
    "CholeskySolve": ([SQUARE[:, :2].astype(F), FACTOR],
                      [np.linalg.solve(FACTOR @ FACTOR.T, SQUARE[:, :2])], {}),
    "CholeskySolve/upper": ([SQUARE[:, :2].astype(F), FACTOR.T.copy()],
                            [np.linalg.solve(FACTOR @ FACTOR.T, SQUARE[:, :2])], {"upper": True}),
    "Geqrf": ([WIDE], [*reflections(WIDE)], {}),
    "Orgqr": ([TALL, REACH], [first_columns()], {}),
    "IndexFill": ([X, I32(-2), np.array([0, -1], I32), F(7)],
                  [np.where([[True], [False], [True]], 7, X)], {}),
    "InplaceAddD": ([X, MOVED], [with_rows(1)], {"indices": [2, 0]}),
    "InplaceSubD": ([X, MOVED], [with_rows(-1)], {"indices": [2, 0]}),
    "InplaceUpdateD": ([X, MOVED], [np.stack([MOVED[1], X[1], MOVED[0]])], {"indices": [2, 0]}),
    "InplaceIndexAdd": ([X, ROWS, MOVED], [with_rows(1)], {"axis": 0}),
    "MaxUnpool2D": ([SMALL, PLACES], [unpooled(SMALL, PLACES, 16).reshape(2, 3, 4, 4)], {}),
    "MaxUnpool3D": ([SMALL[:, :, None], PLACES[:, :, None]],
                    [unpooled(SMALL, PLACES, 16).reshape(2, 3, 1, 4, 4)], {}),
    "MirrorPad/symmetric": ([X, np.array([[1, 2], [3, 0]], L)],
                            [np.pad(X, ((1, 2), (3, 0)), "symmetric")],
                            {"mode": "SYMMETRIC"}, (1,)),
    "Padding": ([X[:, :1].copy()], [np.pad(X[:, :1], ((0, 0), (0, 3)))], {"pad_dim_size": 4}),
    "Polygamma": ([I32(1), F([1, 2])], [F([1.6449340668, 0.6449340668])], {}),
    "Renorm": ([X], [renormed()], {"p": 3.0, "dim": 0, "maxnorm": 1.5}),
    "CropAndResize": ([PICTURE_LAST, F([[0, 0, 1, 1], [0.2, 0.25, 0.8, 0.75]]),
                       np.array([1, 0], I32),
                       np.array([6, 5], I32)], [np.stack([PICTURE_LAST[1], crop()])], {}, (3,)),
}
DRAWS = {"RandomUniformInt", "Dropout2D", "Dropout3D", "RandomCategorical", "RandomChoiceWithMask",
         "RandomShuffle", "StandardLaplace", "StatelessRandperm"}


def names():
    """The names of the table that this file covers."""
    return {name.partition("/")[0] for name in CASES} | DRAWS


@pytest.mark.parametrize("name", sorted(CASES))
def test_operator_agrees_with_numpy(name):
    inputs, outputs, attrs, *rest = CASES[name]
    whole = (np.dtype(I32), np.dtype(L), np.dtype(bool), np.dtype(C))
    outputs = [np.asarray(x) for x in outputs]
    outputs = [x if x.dtype in whole else x.astype(F) for x in outputs]
    single_op.agree(name.partition("/")[0], [None if x is None else np.asarray(x,
        x.dtype) for x in inputs],
                    outputs, attrs, *rest[:1])


@pytest.mark.parametrize("name, shape", [("Dropout2D", (4, 50, 3, 3)),
                                         ("Dropout3D", (4, 50, 2, 3, 3))])
def test_dropout_leaves_out_whole_channels(name, shape):
    x = np.ones(shape, F)
    y, kept = single_op.run(name, [x], [x, np.zeros(shape, bool)], {"keep_prob": 0.8})
    rows = kept.reshape(200, -1)
    assert (rows.all(1) | ~rows.any(1)).all() and 120 < rows[:, 0].sum() < 195
    np.testing.assert_allclose(y, np.where(kept, 1.25, 0), rtol=1e-6)


def test_classes_are_drawn_by_their_logits():
    logits = np.log(np.array([[1, 0.5, 1e-12]], F))
    drawn, = single_op.run("RandomCategorical", [logits, L(3000), L(5)], [np.zeros((1, 3000), L)],
                           {}, (1, 2))
    share = np.bincount(drawn[0], minlength=3) / 3000
    np.testing.assert_allclose(share, [2 / 3, 1 / 3, 0], atol=0.05)


def test_a_choice_with_a_mask_takes_true_elements_once():
    mask = RNG.uniform(size=(5, 6)) > 0.5
    index, there = single_op.run("RandomChoiceWithMask", [mask],
                                 [np.zeros((40, 2), I32), np.zeros(40, bool)], {"count": 40})
    chosen = set(map(tuple, index[there].tolist()))
    assert chosen == set(map(tuple, np.argwhere(mask).tolist())) and there.sum() == mask.sum()
    assert (index[~there] == 0).all()
    few, all_ = single_op.run("RandomChoiceWithMask", [mask],
                              [np.zeros((3, 2), I32), np.zeros(3, bool)], {"count": 3})
    assert all_.all() and mask[tuple(few.T)].all() and len(set(map(tuple, few.tolist()))) == 3


def test_a_shuffle_keeps_the_rows_and_an_order_has_each_number_once():
    x = np.arange(60, dtype=F).reshape(20, 3)
    y, = single_op.run("RandomShuffle", [x], [x], {"seed": 3})
    assert (np.sort(y[:, 0]) == x[:, 0]).all() and (y[:, 1] == y[:, 0] + 1).all() and (y != x).any()
    order, = single_op.run("StatelessRandperm", [L(50), L(1), L(0)], [np.zeros(50, L)], {},
                           (0, 1, 2))
    assert (np.sort(order) == np.arange(50)).all() and (order != np.arange(50)).any()


def test_whole_numbers_are_drawn_below_the_end():
    drawn, = single_op.run("RandomUniformInt", [np.array([2000], L), L(-2), L(3)],
                           [np.zeros(2000, L)], {"seed": 5}, (0,))
    assert set(drawn.tolist()) == {-2, -1, 0, 1, 2}


def test_laplace_numbers_have_their_mean_and_variance():
    made, = single_op.run("StandardLaplace", [np.array([5000], L)], [np.zeros(5000, F)],
                          {"seed": 7}, (0,))
    assert abs(made.mean()) < 0.1 and 1.7 < made.var() < 2.3


@pytest.mark.parametrize("name, inputs, output, attrs, sentence", [
    ("FFT", [X, L(0), L(1)], np.zeros((3, 5), C), {}, "a length is 0"),
    ("FFT2", [X, None, np.array([0, 0], L)], np.zeros((3, 5), C), {}, "more than once"),
    ("Pdist", [X], np.zeros(3, F), {"p": -1.0}, "p is -1"),
    ("Iou", [X, X], np.zeros((3, 3), F), {}, "expected 4 columns"),
    ("MatrixDiagV3", [X[0], np.array([2, 1], I32)], np.zeros((5, 5), F), {}, "k has 2 numbers"),
    ("StridedSliceGrad", [np.array(v, I32) for v in ((4, 5), (0, 0), (2, 2), (1, 1))] + [X],
     np.zeros((4, 5), F), {}, "the gradient"),
])
def test_wrong_arguments_are_named(name, inputs, output, attrs, sentence):
    const = tuple(range(4 if name.startswith("S") else 0)) or tuple(
        i for i in range(1, len(inputs)) if inputs[i] is not None and name not in ("Iou", "Pdist"))
    with pytest.raises(single_op.Refused) as caught:
        single_op.run(name, inputs, [output], attrs, const)
    assert sentence in caught.value.message
