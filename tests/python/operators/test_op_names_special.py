# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers, boxes, losses, steps of training and other operators that stand alone, under
their vendor's names, against numpy."""
import math
import re

import numpy as np
import pytest
import single_op
import test_op_names
import test_op_names_mindspore
import test_op_names_training
from build_tree import ROOT
from single_op import NCHW

RNG = np.random.default_rng(5)
F, I32 = np.float32, np.int32
T, B, N_IN, H = 5, 2, 3, 4  # steps, batch, inputs, hidden
# Names without a case in a table: drawn values (below), gradients (test_op_gradients.py).
ALONE = {"RandomUniform", "RandomStandardNormal", "Multinomial", "DropoutV2",
         "CdistGrad", "DynamicGRUV2Grad", "DynamicRNNGrad", "DynamicRNNV2Grad", "SearchSorted"}


def random(*shape):
    return RNG.standard_normal(shape).astype(F)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


X3, WX, WH, BIAS = random(T, B, N_IN), random(N_IN, 4 * H), random(H, 4 * H), random(4 * H)
H0, C0 = random(1, B, H), random(1, B, H)
GX, GH, GBX, GBH = random(N_IN, 3 * H), random(H, 3 * H), random(3 * H), random(3 * H)


def lstm(forget_bias=0.0):
    """y, h, c, i, j, f, o, tanh(c) of every step."""
    h, c, steps = H0[0], C0[0], []
    for x in X3:
        i, j, f, o = np.split(x @ WX + h @ WH + BIAS, 4, -1)
        i, j, f, o = sigmoid(i), np.tanh(j), sigmoid(f + forget_bias), sigmoid(o)
        c = f * c + i * j
        h = o * np.tanh(c)
        steps.append((h, h, c, i, j, f, o, np.tanh(c)))
    return [np.stack(s) for s in zip(*steps)]


def gru():
    """y, h, update, reset, new, hidden_new of every step."""
    h, steps = H0[0], []
    for x in X3:
        zx, rx, nx = np.split(x @ GX + GBX, 3, -1)
        zh, rh, nh = np.split(h @ GH + GBH, 3, -1)
        z, r = sigmoid(zx + zh), sigmoid(rx + rh)
        n = np.tanh(nx + r * nh)
        h = (1 - z) * n + z * h
        steps.append((h, h, z, r, n, nh))
    return [np.stack(s) for s in zip(*steps)]


def onnx_order(matrix, order, width=H):
    """Gates in ONNX's order, transposed, with one direction."""
    return np.concatenate([matrix[..., g * width:(g + 1) * width] for g in order], -1).T[None]


LSTM, GRU = lstm(), gru()
IOFC, ZRH = (0, 3, 2, 1), (0, 1, 2)
LSTM_BIAS = np.concatenate([onnx_order(BIAS, IOFC), np.zeros((1, 4 * H), F)], -1)
GRU_BIAS = np.concatenate([GBX, GBH])[None]


def cell():
    i, j, f, o = np.split(X3[0] @ WX + H0[0] @ WH + BIAS, 4, -1)
    i, j, f, o = sigmoid(i), np.tanh(j), sigmoid(f + 1), sigmoid(o)
    c = f * C0[0] + i * j
    return [c, o * np.tanh(c), i, j, f, o, np.tanh(c)]


IMG = random(1, 4, 6, 6)
BOXES = np.array([[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11]], F)
SCORES = np.array([0.9, 0.75, 0.6, 0.95], F)
ROIS = np.array([[0, 0, 0, 4, 4], [0, 1, 1, 5, 4]], F)
LOGITS, CLASSES = random(3, 5), np.array([1, 4, 0], I32)
ONE_HOT = np.eye(5, dtype=F)[CLASSES]
LOSS = -np.log(softmax(LOGITS))[np.arange(3), CLASSES]
WEIGHT = np.array([1, 2, 3, 4, 5], F)
VAR, ACCUM, GRAD = random(2, 3), np.abs(random(2, 3)), random(2, 3)
SQUARE = random(2, 3, 3)


def bilinear(image, y, x):
    y, x = min(max(y, 0), image.shape[1] - 1), min(max(x, 0), image.shape[2] - 1)
    y0, x0 = min(int(y), image.shape[1] - 1), min(int(x), image.shape[2] - 1)
    y1, x1 = min(y0 + 1, image.shape[1] - 1), min(x0 + 1, image.shape[2] - 1)
    a, b = y - y0, x - x0
    return ((1 - a) * (1 - b) * image[:, y0, x0] + (1 - a) * b * image[:, y0, x1]
            + a * (1 - b) * image[:, y1, x0] + a * b * image[:, y1, x1])


def roi_align(end, shift=0.0, size=2, samples=2):
    out = np.zeros((len(ROIS), IMG.shape[1], size, size), F)
    for n, (image, x1, y1, x2, y2) in enumerate(ROIS):
        x1, y1, x2, y2 = x1 - shift, y1 - shift, x2 + end - shift, y2 + end - shift
        h, w = (y2 - y1) / size, (x2 - x1) / size
        for i in range(size):
            for j in range(size):
                total = sum(bilinear(IMG[int(image)], y1 + h * (i + (a + 0.5) / samples),
                                     x1 + w * (j + (b + 0.5) / samples))
                            for a in range(samples) for b in range(samples))
                out[n, :, i, j] = total / samples**2
    return out


def mvn(x, axes, eps):
    mean = x.mean(axes, keepdims=True)
    return (x - mean) / (np.sqrt(((x - mean) ** 2).mean(axes, keepdims=True)) + eps)


ROI = {"pooled_height": 2, "pooled_width": 2, "sample_num": 2, "spatial_scale": 1.0}
N = np.arange(8)
COMPLEX, ANGLE = random(2, 8, 1), 2 * math.pi * (np.outer(N, N) % 8) / 8
DFT = [np.einsum("bn,nk->bk", COMPLEX[..., 0], wave) for wave in (np.cos(ANGLE), -np.sin(ANGLE))]

# The way back of 2 x 2 windows of ones at a distance of 2, into 5 x 5.
WINDOW = np.ones((3, 2, 2, 2), F)
BACK = np.zeros((2, 2, 5, 5), F)
SMALL = random(2, 3, 2, 2)
BACK[:, :, :4, :4] = SMALL.sum(1, keepdims=True).repeat(2, 2).repeat(2, 3).repeat(2, 1)
SIZE, STRIDES = np.array([2, 2, 5, 5], I32), {"strides": [1, 1, 2, 2], "pads": [0, 0, 0, 0]}
LIST = {**STRIDES, "input_size": [2, 2, 5, 5]}



def area(size):
    """Means of the areas that the pixels of a smaller picture cover."""
    def shares(n, m):
        table = np.zeros((m, n))
        for o in range(m):
            begin, end = o * n / m, (o + 1) * n / m
            for i in range(n):
                table[o, i] = max(0.0, min(end, i + 1) - max(begin, i)) * m / n
        return table

    return np.einsum("oh,nchw,pw->ncop", shares(6, size[0]), IMG, shares(6, size[1])).astype(F)


def bicubic(size, half):
    """Four taps along each axis, as TensorFlow has them: with half-pixel centres the share of those
    outside is 0, else they repeat the border. A share of 0 counts: times infinity it is NaN."""
    a = -0.5 if half else -0.75

    def curve(t):
        t = abs(t)
        return ((a + 2) * t**3 - (a + 3) * t**2 + 1 if t <= 1 else
                a * t**3 - 5 * a * t**2 + 8 * a * t - 4 * a if t < 2 else 0.0)

    def along(x, axis, m):
        n, parts = x.shape[axis], []
        for o in range(m):
            at = (o + 0.5) * n / m - 0.5 if half else o * n / m
            places = [math.floor(at) + k for k in (-1, 0, 1, 2)]
            shares = [curve(at - i) if not half or 0 <= i < n else 0.0 for i in places]
            parts.append(sum(share / sum(shares) * x.take(min(max(i, 0), n - 1), axis)
                             for i, share in zip(places, shares, strict=True)))
        return np.stack(parts, axis)

    return along(along(IMG.astype(np.float64), 2, size[0]), 3, size[1]).astype(F)


# name -> (inputs, outputs, attributes[, constant inputs[, formats]]); "name/word" is another case
CASES = {
    "Crop": ([IMG, np.zeros((1, 2, 3, 4), F)], [IMG[:, 1:3, 2:5, 0:4]],
             {"axis": 1, "offsets": [1, 2, 0]}),
    "Crop/one offset": ([IMG, np.zeros((1, 4, 3, 2), F)], [IMG[:, :, 2:5, 2:4]], {"offsets": [2]}),
    "ResizeArea": ([IMG, np.array([3, 4], I32)], [area((3, 4))], {}, (1,), ([NCHW, 2], [NCHW])),
    "ResizeBicubic": ([IMG, np.array([9, 4], I32)], [bicubic((9, 4), False)], {}, (1,),
                      ([NCHW, 2], [NCHW])),
    "ResizeBicubic/half": ([IMG, np.array([9, 4], I32)], [bicubic((9, 4), True)],
                           {"half_pixel_centers": True}, (1,), ([NCHW, 2], [NCHW])),
    "ReverseV2/axes at run time": ([IMG, np.array([3, 1], I32)], [IMG[:, ::-1, :, ::-1]], {}),
    "CommonLSTM": ([X3, onnx_order(WX, IOFC), onnx_order(WH, IOFC), LSTM_BIAS,
                    np.full(B, T, I32), H0, C0],
                   [LSTM[0][:, None], LSTM[0][-1:], LSTM[2][-1:]],
                   {"hidden_size": H, "direction": "forward"}),
    "CommonGRU": ([X3, onnx_order(GX, ZRH), onnx_order(GH, ZRH), GRU_BIAS, np.full(B, T, I32), H0],
                  [GRU[0][:, None], GRU[0][-1:]], {"hidden_size": H, "linear_before_reset": 1}),
    "DynamicRNN": ([X3, np.concatenate([WX, WH]), BIAS, None, H0, C0], LSTM, {}),
    "DynamicRNN/forget": ([X3, np.concatenate([WX, WH]), BIAS, None, H0, C0], lstm(1.0),
                          {"forget_bias": 1.0}),
    "DynamicRNN/y": ([X3, np.concatenate([WX, WH]), BIAS, None, H0, C0], LSTM[:2], {}),
    "DynamicRNNV2": ([X3, WX, WH, BIAS, None, H0, C0], LSTM, {}),
    "DynamicGRUV2": ([X3, GX, GH, GBX, GBH, None, H0], GRU, {}),
    "BasicLSTMCell": ([X3[0], H0[0], C0[0], np.concatenate([WX, WH]), BIAS], cell(), {}),
    "ROIAlign": ([IMG, ROIS], [roi_align(1)], ROI, (), ([NCHW, 2], [NCHW])),
    "ROIAlign/legacy": ([IMG, ROIS], [roi_align(0)], {**ROI, "roi_end_mode": 0}, (),
                        ([NCHW, 2], [NCHW])),
    "ROIAlign/aligned": ([IMG, ROIS], [roi_align(0, 0.5)], {**ROI, "roi_end_mode": 2}, (),
                         ([NCHW, 2], [NCHW])),
    "ROIPooling": ([IMG, np.array([[0, 0, 0, 3, 3]], F)],
                   [IMG[:, :, :4, :4].reshape(1, 4, 2, 2, 2, 2).max((3, 5))],
                   {"pooled_h": 2, "pooled_w": 2, "spatial_scale_h": 1.0, "spatial_scale_w": 1.0},
                   (), ([NCHW, 2], [NCHW])),
    "PSROIPooling": ([IMG, np.array([[0, 0, 0, 3, 3]], F)],
                     [np.array([IMG[0, 0, :2, :2].mean(), IMG[0, 1, :2, 2:4].mean(),
                                IMG[0, 2, 2:4, :2].mean(), IMG[0, 3, 2:4, 2:4].mean()],
                               F).reshape(1, 1, 2, 2)],
                     {"output_dim": 1, "group_size": 2, "spatial_scale": 1.0}, (),
                     ([NCHW, 2], [NCHW])),
    "NonMaxSuppression": ([BOXES, SCORES, np.array([3], I32)], [np.array([3, 0], I32)],
                          {"iou_threshold": 0.5}),
    "NonMaxSuppressionV2": ([BOXES, SCORES, np.array([3], I32), np.array([0.5], F)],
                            [np.array([3, 0], I32)], {}),
    "NonMaxSuppressionV3": ([BOXES, SCORES, np.array([3], I32), np.array([0.5], F),
                             np.array([0.92], F)], [np.array([3], I32)], {}),
    "NonMaxSuppressionV6": ([BOXES[None], SCORES[None, None], np.array([3], I32),
                             np.array([0.5], F), np.array([0.0], F)],
                            [np.array([[0, 0, 3], [0, 0, 0]], I32)], {}),
    "GridSampler2D": ([IMG, np.zeros((1, 1, 1, 2), F)],
                      [IMG[:, :, 2:4, 2:4].mean((2, 3), keepdims=True)], {}, (),
                      ([NCHW, 2], [NCHW])),
    "GridSampler3D": ([np.full((1, 2, 4, 4, 4), 3, F), np.zeros((1, 1, 1, 1, 3), F)],
                      [np.full((1, 2, 1, 1, 1), 3, F)], {}),
    "AffineGrid": ([np.array([[[1, 0, 0], [0, 1, 0]]], F), np.array([1, 1, 2, 2], I32)],
                   [np.array([[[[-.5, -.5], [.5, -.5]], [[-.5, .5], [.5, .5]]]], F)], {}, (1,)),
    "Conv2DTranspose": ([SIZE, SMALL, WINDOW], [BACK], STRIDES, (0,), ([2, NCHW, NCHW], [NCHW])),
    "Conv2DTransposeD": ([SMALL, WINDOW], [BACK], LIST, (), ([NCHW, NCHW], [NCHW])),
    "Conv2DBackpropInput": ([SIZE, WINDOW, SMALL], [BACK], STRIDES, (0,),
                            ([2, NCHW, NCHW], [NCHW])),
    "Conv2DBackpropInputD": ([WINDOW, SMALL], [BACK], LIST, (), ([NCHW, NCHW], [NCHW])),
    "Upsample": ([IMG], [IMG.repeat(2, 2).repeat(3, 3) * 2], {"scale": 2.0, "stride_w": 3}, (),
                 ([NCHW], [NCHW])),
    "Col2im": ([np.ones((1, 4, 4), F), np.array([3, 3], I32)],
               [np.array([[1, 2, 1], [2, 4, 2], [1, 2, 1]], F)[None, None]],
               {"kernel_size": [2, 2]}, (1,)),
    "HardMax": ([LOGITS], [np.eye(5, dtype=F)[LOGITS.argmax(-1)]], {}),
    "MatrixDeterminant": ([SQUARE], [np.linalg.det(SQUARE)], {}),
    "ReverseSequence": ([np.arange(6, dtype=F).reshape(2, 3), np.array([2, 3], I32)],
                        [np.array([[1, 0, 2], [5, 4, 3]], F)], {"seq_dim": 1, "batch_dim": 0}),
    "LeftShift": ([np.array([1, -3, 7], I32), np.array([1, 2, 0], I32)],
                  [np.array([2, -12, 7], I32)], {}),
    "RightShift": ([np.array([8, -3, 7], I32), np.array([1, 1, 0], I32)],
                   [np.array([4, -2, 7], I32)], {}),
    "RightShift/unsigned": ([np.array([255, 8], np.uint8), np.array([4, 1], np.uint8)],
                            [np.array([15, 4], np.uint8)], {}),
    "MVN": ([IMG], [mvn(IMG, (2, 3), 1e-9)], {}, (), ([NCHW], [NCHW])),
    "MVN/across": ([IMG], [IMG - IMG.mean((1, 2, 3), keepdims=True)],
                   {"across_channels": True, "normalize_variance": False}, (), ([NCHW], [NCHW])),
    "MVNV2": ([IMG], [mvn(IMG, (0, 2, 3), 1e-9)], {"axes": [0, 2, 3]}, (), ([NCHW], [NCHW])),
    "NLLLoss": ([np.log(softmax(LOGITS)), CLASSES, WEIGHT],
                [F((LOSS * WEIGHT[CLASSES]).sum() / WEIGHT[CLASSES].sum()),
                 F(WEIGHT[CLASSES].sum())], {}),
    "SoftmaxCrossEntropyLoss": ([LOGITS, CLASSES], [F(LOSS.mean()), np.log(softmax(LOGITS))], {}),
    "SoftmaxCrossEntropyWithLogits": ([LOGITS, ONE_HOT], [LOSS, softmax(LOGITS) - ONE_HOT], {}),
    "SparseSoftmaxCrossEntropyWithLogits": ([LOGITS, CLASSES], [LOSS, softmax(LOGITS) - ONE_HOT],
                                            {}),
    "BlackmanWindow": ([np.array([8], I32)],
                       [0.42 - 0.5 * np.cos(2 * math.pi * N / 8) + 0.08 * np.cos(
                           4 * math.pi * N / 8)], {}, (0,)),
    "HammingWindow": ([np.array([8], I32)],
                      [25 / 46 - 21 / 46 * np.cos(2 * math.pi * N / 8)], {}, (0,)),
    "HannWindow": ([np.array([8], I32)], [0.5 - 0.5 * np.cos(2 * math.pi * N / 7)],
                   {"periodic": 0}, (0,)),
    "Eye": ([], [np.broadcast_to(np.eye(2, 3, dtype=F), (2, 2, 3))],
            {"num_rows": 2, "num_columns": 3, "batch_shape": [2], "dtype": 0}),
    "MaskedSelect": ([VAR, VAR > 0], [VAR[VAR > 0]], {}),
    "MaskedFill": ([VAR, VAR > 0, F(7)], [np.where(VAR > 0, F(7), VAR)], {}),
    "Quantize": ([np.array([[0.5, -1], [2, 300]], F), np.array([0.5, 2], F),
                  np.array([1, 0], I32)], [np.array([[2, -1], [1, 127]], np.int8)],
                 {"dtype": "torch.qint8", "axis": 0}),
    "AscendAntiQuant": ([np.array([1, -2, 127], np.int8)],
                        [np.array([2, -1, 128], np.float16) * np.float16(0.5)],
                        {"scale": 0.5, "offset": 1.0}),
    "ApplyMomentum": ([VAR, ACCUM, F(0.1), GRAD, F(0.9)],
                      [VAR - F(0.1) * (ACCUM * F(0.9) + GRAD)], {}),
    "ApplyMomentumD": ([VAR, ACCUM, F(0.1), GRAD, F(0.9)],
                       [VAR - F(0.1) * (GRAD + F(0.9) * (ACCUM * F(0.9) + GRAD)),
                        ACCUM * F(0.9) + GRAD], {"use_nesterov": True}),
    "ApplyAdagrad": ([VAR, ACCUM, F(0.1), GRAD],
                     [VAR - F(0.1) * GRAD / np.sqrt(ACCUM + GRAD**2)], {}),
    "ApplyAdagradD": ([VAR, ACCUM, F(0.1), GRAD], [VAR - F(0.1) * GRAD / np.sqrt(ACCUM), ACCUM],
                      {"update_slots": False}),
    "ApplyGradientDescent": ([VAR, F(0.1), GRAD], [VAR - F(0.1) * GRAD], {}),
    "DropOutDoMask": ([VAR, np.packbits((GRAD > 0).ravel(), bitorder="little"), F(0.5)],
                      [VAR * (GRAD > 0) * 2], {}),
    "DropOutDoMaskV3": ([VAR, (GRAD > 0).astype(np.uint8), F(0.5)], [VAR * (GRAD > 0) * 2], {}),
    "Eltwise": ([VAR, GRAD, ACCUM], [VAR * 2 + GRAD - ACCUM],
                {"mode": 1, "coeff": [2.0, 1.0, -1.0]}),
    "Eltwise/max": ([VAR, GRAD], [np.maximum(VAR, GRAD)], {"mode": 2}),
    "GlobalLpPool": ([IMG], [np.sqrt((IMG**2).sum((2, 3), keepdims=True))], {"p": 2.0}, (),
                     ([NCHW], [NCHW])),
    "DFT": ([COMPLEX], [np.stack(DFT, -1)], {"axis": 1}),
    "ShuffleChannel": ([IMG], [IMG.reshape(1, 2, 2, 6, 6).swapaxes(1, 2).reshape(IMG.shape)],
                       {"group": 2}, (), ([NCHW], [NCHW])),
}  # fmt: skip


def adam(nesterov):
    m, v = ACCUM * F(0.9) + GRAD * F(0.1), ACCUM * F(0.99) + GRAD**2 * F(0.01)
    rate = 0.1 * np.sqrt(1 - 0.99**3) / (1 - 0.9**3)
    top = m * F(0.9) + GRAD * F(0.1) if nesterov else m
    return [VAR - rate * top / (np.sqrt(v) + 1e-3), m, v]


ADAM = [VAR, ACCUM, ACCUM, F(0.9**3), F(0.99**3), F(0.1), F(0.9), F(0.99), F(1e-3), GRAD]
CASES["ApplyAdam"] = (ADAM, adam(True)[:1], {"use_nesterov": True})
CASES["ApplyAdamD"] = (ADAM, adam(False), {})

pytestmark = pytest.mark.usefixtures("runtime")


def case_of(name):
    """As test_op_names.case_of."""
    inputs, outputs, attrs, const, forms = (*CASES[name], (), None)[:5]
    return inputs, outputs, attrs, const, *(forms or (None, None))


@pytest.mark.parametrize("name", sorted(CASES))
def test_operator_agrees_with_numpy(name):
    single_op.agree(name.partition("/")[0], *case_of(name))


@pytest.mark.parametrize("name", ["RandomUniform", "RandomStandardNormal"])
def test_random_numbers_follow_their_seed(name):
    shape, like = np.array([64, 64], I32), [np.zeros((64, 64), F)]
    first, again, other = (single_op.run(name, [shape], like, {"seed": s}, (0,))[0]
                           for s in (3, 3, 4))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()
    mean, deviation = (0.5, math.sqrt(1 / 12)) if name == "RandomUniform" else (0, 1)
    assert abs(first.mean() - mean) < 0.05
    assert abs(first.std() - deviation) < 0.05


def test_multinomial_draws_likely_classes():
    logits = np.log(np.array([[0.7, 0.3, 1e-9]], F))
    drawn, = single_op.run("Multinomial", [logits, np.array(4000, I32)],
                           [np.zeros((1, 4000), I32)], {"seed": 9}, (1,))
    assert abs((drawn == 0).mean() - 0.7) < 0.05
    assert not (drawn == 2).any()


def test_dropout_leaves_out_its_share_and_says_which():
    x, seed = np.arange(1, 4097, dtype=F).reshape(64, 64), np.arange(8, dtype=F)
    y, mask, state = single_op.run("DropoutV2", [x, seed], [x, x, seed], {"p": 0.25})
    assert set(np.unique(mask)) == {0, 1} and abs(mask.mean() - 0.75) < 0.05
    np.testing.assert_allclose(y, x * mask / F(0.75), rtol=1e-6)
    np.testing.assert_array_equal(state, seed)
    with pytest.raises(single_op.Refused, match="p is 1"):
        single_op.run("DropoutV2", [x, seed], [x, x, seed], {"p": 1.0})


def test_every_name_of_the_table_has_a_case():
    with open(f"{ROOT}/docs/operator_names.md") as file:
        names = set(re.findall(r"^\| (\w+) \|", file.read(), re.M)) - {"name"}
    elsewhere = {"TransData"}  # test_op.py, with every format
    tried = {n.partition("/")[0] for n in CASES} | ALONE | elsewhere
    for others in (test_op_names_mindspore, test_op_names_training):
        tried |= others.names()
    assert not names - set(test_op_names.CASES) - tried


@pytest.mark.parametrize("name, change, words", [
    ("DynamicRNN", {"cell_type": "GRU"}, "cell_type is 'GRU'"),
    ("DynamicRNN", {"direction": "BIDIRECTIONAL"}, "BIDIRECTIONAL"),
    ("DynamicGRUV2", {"reset_after": False}, "reset_after"),
    ("ROIAlign", {"roi_end_mode": 3}, "roi_end_mode is 3"),
    ("Quantize", {"dtype": "torch.qint32"}, "torch.qint32"),
    ("Eltwise", {"coeff": [1.0]}, "1 factors for 3 inputs"),
    ("Conv2DTransposeD", {"input_size": [2, 2, 6, 5]}, "expected 4 to 5"),
    ("ShuffleChannel", {"group": 3}, "3 groups")])
def test_what_an_operator_does_not_take_is_told(name, change, words):
    inputs, outputs, attrs, const, forms = (*CASES[name], (), None)[:5]
    with pytest.raises(single_op.Refused) as refused:
        single_op.agree(name, inputs, outputs, {**attrs, **change}, const,
                        *(forms or (None, None)))
    assert words in refused.value.message
