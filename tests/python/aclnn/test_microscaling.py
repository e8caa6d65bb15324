# SPDX-License-Identifier: Apache-2.0
"""Blocks of 32 elements that share a power of two (OCP MX), blocks with a float scale, one scale
for all. The oracle is numpy with the 8-bit floats of ml_dtypes."""
import ml_dtypes
import numpy as np
import pytest

E4M3, E5M2, E8M0 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.float8_e8m0fnu
NUMBER = {E4M3: 36, E5M2: 35}
LARGEST, EXPONENT = {E4M3: 448.0, E5M2: 57344.0}, {E4M3: 8, E5M2: 15}


def floats(seed, *shape):
    rng = np.random.default_rng(seed)
    return (rng.standard_normal(shape) * np.exp(rng.standard_normal(shape) * 3)).astype(np.float32)


def exponent(largest, dtype, algorithm=0):
    """Of the scale of a block."""
    with np.errstate(divide="ignore"):
        if algorithm == 0:
            e = np.floor(np.log2(largest)) - EXPONENT[dtype]
        else:
            e = np.ceil(np.log2(largest.astype(np.float32) * np.float32(1 / LARGEST[dtype])))
    return np.clip(np.where(largest == 0, -127, e), -127, 127)


def cut_off(a, dtype):
    return np.clip(a, -LARGEST[dtype], LARGEST[dtype]).astype(np.float32).astype(dtype)


def mx(a, axis, dtype, algorithm=0):
    """(elements, scales in pairs)."""
    x = np.moveaxis(a.astype(np.float64), axis, -1)
    width = x.shape[-1]
    blocks = -(-width // 64) * 2
    wide = np.zeros((*x.shape[:-1], blocks * 32))
    wide[..., :width] = x
    parts = wide.reshape(*x.shape[:-1], blocks, 32)
    e = exponent(np.abs(parts).max(-1), dtype, algorithm)
    y = cut_off((parts / 2.0 ** e[..., None]).reshape(wide.shape)[..., :width], dtype)
    pairs = np.moveaxis((2.0 ** e).reshape(*x.shape[:-1], blocks // 2, 2), -2,
                        axis if axis >= 0 else axis - 1)
    return np.moveaxis(y, -1, axis), pairs


def same(tensor, want):
    np.testing.assert_array_equal(tensor.read().astype(np.float64),
                                  np.asarray(want).astype(np.float64))


@pytest.mark.parametrize("dtype", [E4M3, E5M2])
@pytest.mark.parametrize("shape,axis", [((3, 128), -1), ((2, 5, 70), -1), ((70, 6), 0),
                                        ((2, 64, 3), 1)])
@pytest.mark.parametrize("algorithm", [0, 1])
def test_blocks_share_a_power_of_two(nn, dtype, shape, axis, algorithm):
    a = floats(1, *shape)
    a.reshape(-1)[:5] = [0, 1e-45, -3e38, 1e-30, 448]
    want, scales = mx(a, axis if axis == -1 else axis - len(shape), dtype, algorithm)
    y, s = nn.empty(dtype, shape), nn.empty(E8M0, scales.shape)
    nn.run("aclnnDynamicMxQuant", nn.tensor(a), axis, "rint", NUMBER[dtype], 32, algorithm, y, s)
    same(s, scales)
    same(y, want)
    back = nn.empty(np.float32, shape)
    nn.run("aclnnAntiMxQuant", y, s, axis, 0, back)
    if shape[-1] == 128 and algorithm == 0:
        expanded = np.repeat(scales.reshape(3, 4), 32, 1)
        np.testing.assert_array_equal(back.read(),
                                      (want.astype(np.float64) * expanded).astype(np.float32))
    nn.clear()


def test_blocks_of_zeros_have_the_smallest_scale(nn):
    y, s = nn.empty(E4M3, (1, 64)), nn.empty(np.uint8, (1, 1, 2), value=9)
    nn.run("aclnnDynamicMxQuantV2", nn.empty(np.float32, (1, 64)), -1, "rint", 36, 32, 0, 0.0, y, s)
    assert not y.read().astype(np.float32).any() and not s.read().any()
    nn.clear()


def test_elements_of_four_bits(nn):
    a = np.tile(np.array([0, .5, -1, 1.5, 2, -3, 4, 6, 5, 2.5, .25, .75, 7, -.2, 3.4, 1.2],
                         np.float32), (1, 4))
    y, s = nn.bits4((1, 64)), nn.empty(E8M0, (1, 1, 2))
    nn.run("aclnnDynamicMxQuantV3", nn.tensor(a), -1, "rint", 40, 32, 0, 0.0, 0.0, y, s)
    same(s, [[[1, 1]]])  # 7 is 1.75 * 4
    grid = np.array([0, .5, 1, 1.5, 2, 3, 4, 6])
    codes = y.read()
    got = np.stack([codes & 15, codes >> 4], 1).reshape(-1)
    got = grid[got & 7] * np.where(got & 8, -1, 1)
    want = np.array([0, .5, -1, 1.5, 2, -3, 4, 6, 4, 2, 0, 1, 6, 0, 3, 1])  # ties go to even codes
    np.testing.assert_array_equal(got, np.tile(want, 4))
    nn.clear()


@pytest.mark.parametrize("name,more", [("aclnnDynamicMxQuantWithDualAxis", []),
                                       ("aclnnDynamicMxQuantWithDualAxisV2", [0.0])])
def test_both_axes_at_once(nn, name, more):
    a = floats(2, 96, 70)
    (y1, s1), (y2, s2) = mx(a, -1, E5M2), mx(a, -2, E5M2)
    outs = [nn.empty(E5M2, a.shape), nn.empty(E8M0, s1.shape), nn.empty(E5M2, a.shape),
            nn.empty(E8M0, s2.shape)]
    nn.run(name, nn.tensor(a), "rint", 35, 0, *more, *outs)
    for got, want in zip(outs, (y1, s1, y2, s2)):
        same(got, want)
    nn.clear()


def test_squares_share_a_power_of_two(nn):
    a = floats(3, 70, 40)
    wide = np.zeros((96, 64))
    wide[:70, :40] = a
    squares = wide.reshape(3, 32, 2, 32)
    e = 2.0 ** exponent(np.abs(squares).max((1, 3)), E4M3)
    want = cut_off((squares / e[:, None, :, None]).reshape(96, 64)[:70, :40], E4M3)
    rows = np.repeat(e, 32, 0)[:70].reshape(70, 1, 2)
    columns = np.zeros((4, 64))
    columns[:3] = np.repeat(e, 32, 1)
    columns[3] = 2.0 ** -127
    y, s1, s2 = nn.empty(E4M3, (70, 40)), nn.empty(E8M0, (70, 1, 2)), nn.empty(E8M0, (2, 40, 2))
    nn.run("aclnnDynamicBlockMxQuant", nn.tensor(a), "rint", 36, 0, 0.0, y, s1, s2)
    same(y, want)
    same(s1, rows)
    same(s2, columns[:, :40].reshape(2, 2, 40).transpose(0, 2, 1))
    nn.clear()


def test_blocks_stay_within_groups(nn):
    a, ends = floats(4, 200, 3), [50, 50, 170, 200]
    want, scales = np.zeros(a.shape, E4M3), np.full((200 // 64 + 4, 3, 2), 2.0 ** -127)
    begin = 0
    for g, end in enumerate(ends):
        if end > begin:
            y, s = mx(a[begin:end], -2, E4M3)
            want[begin:end] = y
            scales[begin // 64 + g:begin // 64 + g + len(s)] = s
        begin = end
    y, s = nn.empty(E4M3, a.shape), nn.empty(E8M0, scales.shape)
    groups = nn.tensor(np.array(ends, np.int32))
    for name, more in (("aclnnGroupedDynamicMxQuant", []),
                       ("aclnnGroupedDynamicMxQuantV2", [0, 0.0])):
        nn.run(name, nn.tensor(a), groups, "rint", 36, 32, *more, y, s)
        same(y, want)
        same(s, scales)
    nn.clear()


def near(tensor, want):
    """Elements of 8 bits; a sum in another order may be on the other side of a half."""
    got, want = tensor.read().astype(np.float64), want.astype(np.float64)
    assert (got == want).mean() > 0.98
    np.testing.assert_allclose(got, want, rtol=0.26, atol=1e-3)


def test_norms_whose_results_are_quantised(nn):
    rng = np.random.default_rng(5)
    a, b = (rng.standard_normal((4, 64)).astype(np.float32) for _ in range(2))
    gamma, beta = (rng.standard_normal(64).astype(np.float32) for _ in range(2))
    total = (a + b).astype(np.float64)
    rstd = 1 / np.sqrt((total ** 2).mean(-1, keepdims=True) + 1e-5)
    want, scales = mx(total * rstd * gamma + beta, -1, E4M3)
    y, s, x, r = (nn.empty(E4M3, a.shape), nn.empty(E8M0, scales.shape),
                  nn.empty(np.float32, a.shape),
                  nn.empty(np.float32, (4, 1)))
    nn.run("aclnnAddRmsNormDynamicMxQuant", nn.tensor(a), nn.tensor(b), nn.tensor(gamma),
           nn.tensor(beta), 1e-5, 0, "rint",
           36, True, y, x, s, r)
    near(y, want)
    same(s, scales)
    np.testing.assert_allclose(r.read(), rstd, rtol=1e-5)
    np.testing.assert_array_equal(x.read(), a + b)
    plain = nn.tensor((a + b).astype(np.float32))
    nn.run("aclnnRmsNormDynamicMxQuant", plain, nn.tensor(gamma), None, 1e-5, 0, "rint", 36, False,
           y, s, None)
    near(y, mx(total * rstd * gamma, -1, E4M3)[0])
    nn.clear()


def silu(a):
    return a / (1 + np.exp(-a))


@pytest.mark.parametrize("left", [True, False])
def test_gates_whose_results_are_quantised(nn, left):
    rng = np.random.default_rng(6)
    x = rng.standard_normal((64, 128)).astype(np.float32)
    first, second = np.split(x.astype(np.float64), 2, 1)
    gate, other = (first, second) if left else (second, first)
    want, scales = mx(silu(gate) * other, -1, E4M3)
    y, s = nn.empty(E4M3, (64, 64)), nn.empty(E8M0, scales.shape)
    nn.run("aclnnSwigluMxQuant", nn.tensor(x), None, -1, left, 0, 0.0, 0.0, 0.0, 0, -1, 36, "rint",
           0, 0.0, y, s)
    near(y, want)
    same(s, scales)
    y2, s2 = nn.empty(E4M3, (64, 64)), nn.empty(E8M0, (1, 64, 2))
    nn.run("aclnnSwigluMxQuantWithDualAxis", nn.tensor(x), None, left, "rint", 0, 36, 0.0, y, s, y2,
           s2)
    near(y2, mx(silu(gate) * other, -2, E4M3)[0])
    dy = rng.standard_normal((64, 64)).astype(np.float32)
    share = 1 / (1 + np.exp(-gate))
    of_gate, of_other = dy * other * (share + silu(gate) * (1 - share)), dy * silu(gate)
    dx = np.concatenate([of_gate, of_other] if left else [of_other, of_gate], 1)
    outs = [nn.empty(E4M3, (64, 128)), nn.empty(E8M0, (64, 2, 2)), nn.empty(E4M3, (64, 128)),
            nn.empty(E8M0, (1, 128, 2))]
    nn.run("aclnnSwigluBackwardMxQuantWithDualAxis", nn.tensor(x), nn.tensor(dy), None, left,
           "rint", 0, 36, 0.0, *outs)
    near(outs[0], mx(dx, -1, E4M3)[0])
    near(outs[2], mx(dx, -2, E4M3)[0])
    nn.clear()


# --- scales that are floats

@pytest.mark.parametrize("rows,columns", [(1, 32), (16, 16), (128, 128)])
def test_blocks_with_a_float_scale(nn, rows, columns):
    a = floats(7, 50, 70)
    down, across = -(-50 // rows), -(-70 // columns)
    wide = np.zeros((down * rows, across * columns))
    wide[:50, :70] = a
    squares = wide.reshape(down, rows, across, columns)
    scale = np.maximum(np.abs(squares).max((1, 3)) / 448, 1e-4)
    want = cut_off((squares / scale[:, None, :, None]).reshape(wide.shape)[:50, :70], E4M3)
    y, s = nn.empty(E4M3, a.shape), nn.empty(np.float32, scale.shape)
    for name, more in (("aclnnDynamicBlockQuant", []), ("aclnnDynamicBlockQuantV2", [0.0])):
        nn.run(name, nn.tensor(a), 1e-4, "rint", 36, rows, columns, *more, y, s)
        np.testing.assert_allclose(s.read(), scale, rtol=1e-6)
        near(y, want)
    nn.clear()


def test_blocks_with_a_float_scale_stay_within_groups(nn):
    a, ends = floats(8, 90, 40), [30, 70, 90]
    want, scales = np.zeros(a.shape, E4M3), np.zeros((90 // 16 + 3, 2))
    begin = 0
    for g, end in enumerate(ends):
        for i, top in enumerate(range(begin, end, 16)):
            for j in range(2):
                block = a[top:min(top + 16, end), j * 32:(j + 1) * 32].astype(np.float64)
                scale = scales[begin // 16 + g + i, j] = np.abs(block).max() / 448
                want[top:min(top + 16, end), j * 32:(j + 1) * 32] = cut_off(block / scale, E4M3)
        begin = end
    y, s = nn.empty(E4M3, a.shape), nn.empty(np.float32, scales.shape)
    for name, more in (("aclnnGroupedDynamicBlockQuant", []),
                       ("aclnnGroupedDynamicBlockQuantV2", [0.0])):
        nn.run(name, nn.tensor(a), nn.tensor(np.array(ends, np.int64)), 0.0, "rint", 36, 16, 32, 0,
               *more, y, s)
        np.testing.assert_allclose(s.read(), scales, rtol=1e-6)
        near(y, want)
    nn.clear()


def test_one_scale_and_the_largest_element(nn):
    a = floats(9, 5, 7)
    y, most = nn.empty(E5M2, a.shape), nn.empty(np.float32, (1,))
    nn.run("aclnnQuantMax", nn.tensor(a), nn.tensor(np.array([0.5], np.float32)), "rint", 35, y,
           most)
    same(y, cut_off(a * 0.5, E5M2))
    assert most.read()[0] == np.abs(a).max()
    nn.clear()


def test_a_scale_and_the_largest_element_of_each_group(nn):
    a, ends = floats(9, 6, 7), np.array([2, 2, 6], np.int64)
    scale = np.array([0.5, 3, 2], np.float32)
    y, most = nn.empty(E5M2, a.shape), nn.empty(np.float32, (3,))
    nn.run("aclnnGroupedQuantMax", nn.tensor(a), nn.tensor(scale), nn.tensor(ends), "rint", 35, y,
           most)
    same(y, cut_off(a * np.array([0.5, 0.5, 2, 2, 2, 2], np.float32)[:, None], E5M2))
    np.testing.assert_array_equal(most.read(), [np.abs(a[:2]).max(), 0, np.abs(a[2:]).max()])
    nn.clear()


def test_updates_of_a_cache_become_integers(nn):
    rng = np.random.default_rng(10)
    cache = rng.integers(-128, 128, (2, 6, 8)).astype(np.int8)
    updates = rng.standard_normal((2, 2, 8)).astype(np.float32)
    scale = (rng.random(8) * 0.05 + 0.01).astype(np.float32)
    zero = rng.integers(-3, 4, 8).astype(np.float32)
    want = cache.copy()
    for i, at in enumerate((3, 1)):
        want[i, at:at + 2] = np.clip(np.round(updates[i] / scale + zero), -128, 127)
    for name, more in (("aclnnInplaceQuantScatter", []), ("aclnnInplaceQuantScatterV2", ["rint"])):
        got = nn.tensor(cache)
        nn.run(name, got, nn.tensor(np.array([3, 1], np.int32)), nn.tensor(updates),
               nn.tensor(scale), nn.tensor(zero), 1, -1,
               1, *more)
        np.testing.assert_array_equal(got.read(), want)
    nn.clear()


@pytest.mark.parametrize("change,words", [({2: "floor"}, "roundMode"), ({3: 35}, "dstType is 35"),
                                          ({5: 7}, "scaleAlg is 7"),
                                          ({4: 20}, "blocksize is 20"), ({1: 2}, "axis")])
def test_what_is_not_taken_is_told(nn, change, words):
    from aclnn import Failed
    arguments = [nn.empty(np.float32, (2, 64)), -1, "rint", 36, 32, 0, nn.empty(E4M3, (2, 64)),
                 nn.empty(E8M0, (2, 1, 2))]
    for at, value in change.items():
        arguments[at] = value
    with pytest.raises(Failed) as failed:
        nn.run("aclnnDynamicMxQuant", *arguments)
    assert failed.value.number == 161002 and words in failed.value.sentence
    nn.clear()
