# SPDX-License-Identifier: Apache-2.0
"""Deformable convolutions: taps that read between pixels, where an offset says, against numpy in
double precision; gradients against differences."""

import numpy as np
import pytest

from aclnn import Failed

PADS, STRIDE, DILATION, PARTS, GROUPS = (1, 0, 2, 1), (2, 1), (1, 2), 2, 2


def pixel(x, part, rows, columns):
    """x[n, channels of part, rows, columns] with 0 outside; rows and columns: (N, ...)."""
    each = x.shape[1] // PARTS
    own = x[:, part * each : (part + 1) * each]
    inside = (rows >= 0) & (rows < x.shape[2]) & (columns >= 0) & (columns < x.shape[3])
    at = np.clip(rows, 0, x.shape[2] - 1), np.clip(columns, 0, x.shape[3] - 1)
    picked = own[np.arange(len(x))[:, None, None], :, at[0], at[1]]  # N, rows, columns, each
    return np.moveaxis(picked * inside[..., None], -1, 1)


def between(x, part, rows, columns):
    top, left = np.floor(rows).astype(int), np.floor(columns).astype(int)
    down, right = rows - top, columns - left
    return sum(
        pixel(x, part, top + i, left + j)
        * ((down if i else 1 - down) * (right if j else 1 - right))[:, None]
        for i in (0, 1)
        for j in (0, 1)
    )


def read(x, offset, tall, wide):
    """What all taps read: (N, C, rows * tall, columns * wide)."""
    n, _, rows, columns = offset.shape
    taps = offset.reshape(n, 3, PARTS, tall, wide, rows, columns)
    found = np.zeros((n, x.shape[1], rows, tall, columns, wide))
    each = x.shape[1] // PARTS
    for part in range(PARTS):
        for i in range(tall):
            for j in range(wide):
                across, down, scale = taps[:, :, part, i, j].swapaxes(0, 1)
                y = np.arange(rows)[:, None] * STRIDE[0] - PADS[0] + i * DILATION[0] + down
                z = np.arange(columns)[None] * STRIDE[1] - PADS[2] + j * DILATION[1] + across
                found[:, part * each : (part + 1) * each, :, i, :, j] = (
                    between(x, part, y, z) * scale[:, None]
                )
    return found.reshape(n, x.shape[1], rows * tall, columns * wide)


def convolve(x, weight, offset, bias):
    outs, ins, tall, wide = weight.shape
    n, _, rows, columns = offset.shape
    seen = read(x, offset, tall, wide).reshape(n, GROUPS, ins, rows, tall, columns, wide)
    y = np.einsum(
        "ngcripj,gocij->ngorp", seen, weight.reshape(GROUPS, outs // GROUPS, ins, tall, wide)
    )
    return y.reshape(n, outs, rows, columns) + bias[:, None, None]


def case():
    rng = np.random.default_rng(3)
    x, weight, bias = (
        rng.standard_normal((2, 4, 5, 4)),
        rng.standard_normal((6, 2, 2, 3)),
        rng.standard_normal(6),
    )
    rows = (5 + PADS[0] + PADS[1] - DILATION[0] - 1) // STRIDE[0] + 1
    columns = (4 + PADS[2] + PADS[3] - 2 * DILATION[1] - 1) // STRIDE[1] + 1
    offset = rng.uniform(0.1, 0.9, (2, 3 * PARTS * 6, rows, columns)) + rng.integers(
        -2, 2, (2, 1, rows, columns)
    )
    return x, weight, offset, bias


def numbers(modulated=True, parts=PARTS):
    return ([2, 3], [1, 1, *STRIDE], list(PADS), [1, 1, *DILATION], GROUPS, parts, modulated)


def close(tensor, want):
    np.testing.assert_allclose(tensor.read().astype(np.float64), want, rtol=1e-4, atol=1e-4)


def test_taps_read_where_the_offset_says(nn):
    x, weight, offset, bias = case()
    want = convolve(x, weight, offset, bias)
    given = [nn.tensor(a.astype(np.float32)) for a in (x, weight, offset, bias)]
    y = nn.empty(np.float32, want.shape)
    seen = nn.empty(np.float32, (2, 4, want.shape[2] * 2, want.shape[3] * 3))
    nn.run("aclnnDeformableConv2d", *given, *numbers(), y, seen)
    close(y, want)
    close(seen, read(x, offset, 2, 3))
    y = nn.empty(np.float32, want.shape)
    nn.run("aclnnDeformableConv2d", *given[:3], None, *numbers(), y, None)
    close(y, want - bias[:, None, None])


def test_gradients_are_those_of_differences(nn):
    x, weight, offset, bias = case()
    rng = np.random.default_rng(5)
    dy = rng.standard_normal(convolve(x, weight, offset, bias).shape)
    seen = read(x, offset, 2, 3)
    grads = [nn.empty(np.float32, a.shape) for a in (x, weight, offset, bias)]
    given = [nn.tensor(a.astype(np.float32)) for a in (x, dy, seen, weight, offset)]
    nn.run("aclnnDeformableConv2dBackward", *given, *numbers(), *grads)
    arrays, step = [x, weight, offset, bias], 1e-5
    for k, array in enumerate(arrays):
        ours = grads[k].read().astype(np.float64)
        for at in rng.choice(array.size, min(array.size, 60), replace=False):
            ends = []
            for sign in (step, -step):
                moved = [a.copy() for a in arrays]
                moved[k].flat[at] += sign
                ends.append((convolve(*moved) * dy).sum())
            assert (
                abs((ends[0] - ends[1]) / (2 * step) - ours.flat[at]) < 2e-3
            ), f"array {k}, place {at}"


@pytest.mark.parametrize(
    "change,words",
    [
        ({"modulated": False}, "modulated is false; expected true"),
        ({"parts": 3}, "expected divisors of the channels"),
        ({"parts": 1}, "expected 2x18x3x3"),
    ],
)
def test_what_does_not_fit_is_refused(nn, change, words):
    x, weight, offset, bias = (nn.tensor(a.astype(np.float32)) for a in case())
    y = nn.empty(np.float32, (2, 6, 3, 3))
    with pytest.raises(Failed, match=words):
        nn.run("aclnnDeformableConv2d", x, weight, offset, bias, *numbers(**change), y, None)


def test_the_numbers_of_windows_are_checked(nn):
    x, weight, offset, bias = (nn.tensor(a.astype(np.float32)) for a in case())
    y = nn.empty(np.float32, (2, 6, 3, 3))
    huge = [1, 1, 1 << 62, 1]
    for place, wrong in (
        (0, [3, 2]),
        (1, [1, 1, 0, 1]),
        (1, [2, 1, 1, 1]),
        (2, [1, 1]),
        (2, huge),
        (3, huge),
    ):
        given = list(numbers())
        given[place] = wrong
        with pytest.raises(Failed, match="expected"):
            nn.run("aclnnDeformableConv2d", x, weight, offset, bias, *given, y, None)
