# SPDX-License-Identifier: Apache-2.0
"""Operators that few programs call, each against numpy in double precision."""
import numpy as np
import pytest

from aclnn import Failed


def rng(seed=1):
    return np.random.default_rng(seed)


def floats(seed, *shape, dtype=np.float32):
    return rng(seed).standard_normal(shape).astype(dtype)


def close(got, want, tolerance=2e-5):
    np.testing.assert_allclose(got.astype(np.float64), want, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.int8, np.uint8])
def test_greatest_common_divisors(nn, dtype):
    low = 0 if dtype is np.uint8 else -100
    a = rng(1).integers(low, 100, (5, 7)).astype(dtype)
    b = rng(2).integers(low, 100, (7,)).astype(dtype)
    y = nn.empty(dtype, (5, 7))
    nn.run("aclnnGcd", nn.tensor(a), nn.tensor(b), y)
    np.testing.assert_array_equal(y.read(), np.gcd(a, b))
    nn.clear()


@pytest.mark.parametrize("mode,oracle", [
    (1, np.round), (2, np.floor), (3, np.ceil), (4,
                                                 lambda a: np.sign(a) * np.floor(np.abs(a) + 0.5)),
    (5, np.trunc), (7, lambda a: a - np.trunc(a))])
def test_a_list_is_rounded_as_a_tensor_says(nn, mode, oracle):
    a, b = np.array([-2.5, -0.5, 0.5, 1.5, 2.3], np.float32), floats(3, 2, 3) * 4
    ya, yb = nn.empty(np.float32, a.shape), nn.empty(np.float32, b.shape)
    nn.run("aclnnForeachRoundOffNumber", nn.tensors([nn.tensor(a), nn.tensor(b)]),
           nn.tensor(np.array([mode], np.int8)), nn.tensors([ya, yb]))
    close(ya.read(), oracle(a), 1e-6)
    close(yb.read(), oracle(b), 1e-6)
    nn.clear()


@pytest.mark.parametrize("pad", [0, 2])
def test_the_gradient_of_a_convolution_of_time_batch_channels(nn, pad):
    x, w = floats(1, 9, 2, 3), floats(2, 3, 3, 4)  # time, batch, in; taps, in, out
    dy = floats(3, 9 + 2 * pad - 2, 2, 4)
    dx, dw, db = nn.empty(np.float32, x.shape), nn.empty(np.float32, w.shape), nn.empty(np.float32,
                                                                                        (4,))
    nn.run("aclnnConvTbcBackward", nn.tensor(dy), nn.tensor(x), nn.tensor(w),
           nn.tensor(floats(4, 4)), pad, 0, dx, dw, db)
    wide = np.pad(x, [(pad, pad), (0, 0), (0, 0)]).astype(np.float64)
    of_x, of_w = np.zeros(wide.shape), np.zeros(w.shape)
    for t in range(dy.shape[0]):
        for k in range(3):
            of_x[t + k] += dy[t] @ w[k].T
            of_w[k] += wide[t + k].T @ dy[t]
    close(dx.read(), of_x[pad:pad + 9])
    close(dw.read(), of_w)
    close(db.read(), dy.sum((0, 1)))
    nn.clear()


@pytest.mark.parametrize("groups,stride", [(1, 1), (2, 2)])
def test_a_convolution_of_bytes(nn, groups, stride):
    x = rng(1).integers(-128, 128, (2, 4, 6, 5)).astype(np.int8)
    w = rng(2).integers(-128, 128, (6, 4 // groups, 3, 3)).astype(np.int8)
    bias, scale = rng(3).integers(-1000, 1000, 6).astype(np.int32), np.abs(floats(4, 6)) * 1e-3
    size = [(n - 1) // stride + 1 for n in (6, 5)]
    y = nn.empty(np.float16, (2, 6, *size))
    nn.run("aclnnQuantConvolution", nn.tensor(x), nn.tensor(w), nn.tensor(bias), nn.tensor(scale),
           None,
           nn.ints([stride] * 2), nn.ints([1, 1]), nn.ints([1, 1]), False, nn.ints([0, 0]), groups,
           0, "rint", y)
    wide = np.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)]).astype(np.int64)
    want = np.zeros((2, 6, *size))
    for o in range(6):
        first = o // (6 // groups) * (4 // groups)
        for i, j in np.ndindex(*size):
            seen = wide[:, first:first + 4 // groups, i * stride:i * stride + 3,
                        j * stride:j * stride + 3]
            want[:, o, i, j] = ((seen * w[o]).sum((1, 2, 3)) + bias[o]) * scale[o]
    close(y.read(), want, 2e-3)
    with pytest.raises(Failed, match="offsetx is 3; expected 0"):
        nn.run("aclnnQuantConvolution", nn.tensor(x), nn.tensor(w), None, nn.tensor(scale), None,
               nn.ints([stride] * 2), nn.ints([1, 1]), nn.ints([1, 1]), False, nn.ints([0, 0]),
               groups, 3, "rint", y)
    nn.clear()


@pytest.mark.parametrize("name,more", [("aclnnFlatQuant", []), ("aclnnFlatQuantV2", [0.0])])
def test_matrices_between_two_others_as_integers_of_4_bits(nn, name, more):
    x, p1, p2 = floats(1, 3, 4, 16), floats(2, 4, 4), floats(3, 16, 16)
    words, scale = nn.empty(np.int32, (3, 4, 2)), nn.empty(np.float32, (3,))
    nn.run(name, nn.tensor(x), nn.tensor(p1), nn.tensor(p2), 0.8, *more, words, scale)
    y = p1.astype(np.float64) @ x @ p2
    want = np.abs(y).max((1, 2)) * 0.8 / 7
    close(scale.read(), want)
    got = words.read().view(np.uint8).reshape(3, 4, 8)
    got = np.stack([got & 15, got >> 4], -1).reshape(3, 4, 16).astype(np.int64)
    got = np.where(got > 7, got - 16, got)
    exact = np.clip(y / want[:, None, None], -8, 7)
    assert np.abs(got - exact).max() < 0.501
    if more:
        with pytest.raises(Failed, match="dstTypeMax is 6; expected 0"):
            nn.run(name, nn.tensor(x), nn.tensor(p1), nn.tensor(p2), 0.8, 6.0, words, scale)
    nn.clear()


@pytest.mark.parametrize("gamma", [True, False])
def test_the_gradient_of_groups_through_swish(nn, gamma):
    x, dy = floats(1, 2, 6, 3, 4), floats(2, 2, 6, 3, 4)
    g, b = (floats(3, 6), floats(4, 6)) if gamma else (np.ones(6, np.float32),
                                                       np.zeros(6, np.float32))

    def forward(x, g, b):
        rows = x.astype(np.float64).reshape(2, 3, -1)
        mean, var = rows.mean(-1, keepdims=True), rows.var(-1, keepdims=True)
        z = ((rows - mean) / np.sqrt(var + 1e-5)).reshape(x.shape) * g[:, None, None] + b[:, None,
                                                                                          None]
        return z / (1 + np.exp(-1.5 * z)), mean[..., 0], 1 / np.sqrt(var[..., 0] + 1e-5)

    _, mean, inverse = forward(x, g, b)
    dx, dg, db = nn.empty(np.float32, x.shape), nn.empty(np.float32, (6,)), nn.empty(np.float32,
                                                                                     (6,))
    nn.run("aclnnGroupNormSwishGrad", nn.tensor(dy), nn.tensor(mean.astype(np.float32)),
           nn.tensor(inverse.astype(np.float32)), nn.tensor(x), nn.tensor(g), nn.tensor(b), 3,
           "NCHW", 1.5, True, True, dx, dg, db)

    def measured(of):
        """The slope of sum(dy * y) in each element of `of`."""
        made = np.zeros(of.shape)
        for at in np.ndindex(of.shape):
            sums = []
            for step in (1e-4, -1e-4):
                moved = of.astype(np.float64).copy()
                moved[at] += step
                args = [moved if v is of else v for v in (x, g, b)]
                sums.append((dy * forward(*args)[0]).sum())
            made[at] = (sums[0] - sums[1]) / 2e-4
        return made

    close(dx.read(), measured(x), 1e-3)
    close(dg.read(), measured(g), 1e-3)
    close(db.read(), measured(b), 1e-3)
    nn.clear()


def test_products_with_axes_in_another_order_and_a_weight_in_blocks(nn):
    a, b = floats(1, 5, 3, 4, dtype=np.float16), floats(2, 3, 4, 6, dtype=np.float16)
    y = nn.empty(np.float16, (5, 3, 6))
    nn.run("aclnnTransposeBatchMatMulWeightNz", nn.tensor(a), nn.tensor(b), None, None,
           nn.ints([1, 0, 2]), nn.ints([0, 1, 2]), nn.ints([1, 0, 2]), 0, 1, y)
    close(y.read(), np.einsum("mbk,bkn->mbn", a.astype(np.float64), b.astype(np.float64)), 4e-3)
    nn.clear()


def test_a_format_is_changed(nn):
    x = floats(1, 3, 5)
    y = nn.empty(np.float32, (3, 5))
    nn.run("aclnnNpuFormatCast", nn.tensor(x), y)
    np.testing.assert_array_equal(y.read(), x)
    nn.clear()


@pytest.mark.parametrize("turned", [False, True])
def test_products_of_complex_matrices(nn, turned):
    a = (floats(1, 2, 3, 4) + 1j * floats(2, 2, 3, 4)).astype(np.complex64)
    b = (floats(3, 2, 4, 5) + 1j * floats(4, 2, 4, 5)).astype(np.complex64)
    given = np.ascontiguousarray(b.swapaxes(1, 2)).swapaxes(1, 2) if turned else b
    y, one = nn.empty(np.complex64, (2, 3, 5)), nn.empty(np.complex64, (3,))
    nn.run("aclnnMatmul", nn.tensor(a), nn.tensor(given), y, 0)
    np.testing.assert_allclose(y.read(), a.astype(np.complex128) @ b, rtol=1e-5, atol=1e-5)
    nn.run("aclnnMv", nn.tensor(a[0]), nn.tensor(np.ascontiguousarray(b[0, :, 0])), one, 0)
    np.testing.assert_allclose(one.read(), a[0].astype(np.complex128) @ b[0, :, 0], rtol=1e-5,
                               atol=1e-5)
    nn.clear()


def test_boxes_that_do_not_overlap(nn):
    boxes = np.array([[[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11],
                       [0, 10.1, 1, 11.1]]],
                     np.float32)
    scores = np.array([[[0.9, 0.75, 0.6, 0.95, 0.5]]], np.float32)
    found = nn.empty(np.int64, (5, 3))
    nn.run("aclnnNonMaxSuppression", nn.tensor(boxes), nn.tensor(scores), nn.ints([3]),
           nn.floats([0.5]), nn.floats([0.0]), 0, found)
    nn.synchronize()
    assert found.shape() == (2, 3)
    np.testing.assert_array_equal(found.read_storage()[:48].view(np.int64).reshape(2, 3),
                                  [[0, 0, 3], [0, 0, 0]])
    nn.clear()


@pytest.mark.parametrize("axis,shape", [(1, (3,)), (1, (3, 4)), (-1, (5,)), (0, (1,))])
def test_a_scale_along_some_axes(nn, axis, shape):
    x, s, b = floats(1, 2, 3, 4, 5), floats(2, *shape), floats(3, *shape)
    y = nn.empty(np.float32, x.shape)
    nn.run("aclnnScale", nn.tensor(x), nn.tensor(s), nn.tensor(b), axis, len(shape), True, y)
    wide = [1] * 4
    if s.size > 1:
        wide[axis % 4:axis % 4 + len(shape)] = shape
    close(y.read(), x.astype(np.float64) * s.reshape(wide) + b.reshape(wide))
    with pytest.raises(Failed, match="expected its extents"):
        nn.run("aclnnScale", nn.tensor(x), nn.tensor(floats(2, 7)), None, 1, 1, True, y)
    nn.clear()


@pytest.mark.parametrize("keep", [False, True])
def test_quantised_products_of_a_batch_are_added_up(nn, keep):
    a = rng(1).integers(-128, 128, (3, 4, 16)).astype(np.int8)
    b = rng(2).integers(-128, 128, (3, 16, 8)).astype(np.int8)
    rows, columns = np.abs(floats(3, 3, 4)), np.abs(floats(4, 8))
    y = nn.empty(np.float32, (1, 4, 8) if keep else (4, 8))
    nn.run("aclnnQuantMatmulReduceSumWeightNz", nn.tensor(a), nn.tensor(b), nn.tensor(rows),
           nn.tensor(columns), None, None, None, None, None, False, False, 0, nn.ints([0]), keep, y)
    want = (a.astype(np.int64) @ b * rows[..., None].astype(np.float64) * columns).sum(0,
        keepdims=keep)
    np.testing.assert_allclose(y.read(), want, rtol=1e-5)
    nn.clear()


def test_a_quantised_product_through_an_activation(nn):
    a = rng(1).integers(-128, 128, (4, 16)).astype(np.int8)
    b = rng(2).integers(-128, 128, (16, 8)).astype(np.int8)
    rows, columns = np.abs(floats(3, 4)), np.abs(floats(4, 8)) * 1e-3
    y = nn.empty(np.float32, (4, 8))
    nn.run("aclnnFusedQuantMatmulWeightNz", nn.tensor(a), nn.tensor(b), nn.tensor(rows),
           nn.tensor(columns), None, None, None, None, None, None, "relu", 0, y)
    want = np.maximum(a.astype(np.int64) @ b * rows[:, None].astype(np.float64) * columns, 0)
    np.testing.assert_allclose(y.read(), want, rtol=1e-5)
    nn.clear()
