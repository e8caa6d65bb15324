# SPDX-License-Identifier: Apache-2.0
"""Single operators on integers at the ends of 64 bits and beyond what a double can hold: every
result is exact. Also what a minimum or maximum over nothing is, for every integer type."""
import numpy as np
import pytest
import single_op

pytestmark = pytest.mark.usefixtures("device_0")

LOWEST, HIGHEST = -(2**63), 2**63 - 1
ODD = 2**53 + 1  # the first integer that no double is
A = np.array([LOWEST, LOWEST + 1, -ODD, -1, 3, 1, ODD, ODD + 2, HIGHEST - 1, HIGHEST], np.int64)
B = np.array([HIGHEST, 1, 3, HIGHEST, ODD, -1, 2, ODD, HIGHEST, LOWEST + 1], np.int64)
M = A.reshape(2, 5)
KEEP = np.array([1, 0] * 5, bool)
PLACES = np.array([0, 4, 9], np.int32)
NEW = np.array([5, HIGHEST, LOWEST], np.int64)


def i32(*values):
    return np.array(values, np.int32)


def i64(*values):
    return np.array(values, np.int64)


def exact(rule, *arrays):
    """Python integers, the bits beyond 64 cut off."""
    return np.array([(rule(*map(int, row)) - LOWEST) % 2**64 + LOWEST for row in zip(*arrays)],
                    np.int64)


def truncated(a, b):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def rest(a, b):
    return a - truncated(a, b) * b


def changed(rule):
    out = A.copy()
    out[PLACES] = rule(out[PLACES], NEW)
    return out


# name: (inputs, outputs, attributes, which inputs are constants)
CASES = {
    "Add": ([A, B], [A + B]), "Sub": ([A, B], [A - B]), "Mul": ([A, B], [A * B]),
    "FloorDiv": ([A, B], [exact(lambda a, b: a // b, A, B)]),
    "FloorMod": ([A, B], [exact(lambda a, b: a % b, A, B)]),
    "TruncateDiv": ([A, B], [exact(truncated, A, B)]),
    "RealDiv": ([A, B], [exact(truncated, A, B)]),
    "TruncateMod": ([A, B], [exact(rest, A, B)]), "Mod": ([A, B], [exact(rest, A, B)]),
    "Maximum": ([A, B], [np.maximum(A, B)]), "Minimum": ([A, B], [np.minimum(A, B)]),
    "Equal": ([A, A[::-1]], [A == A[::-1]]), "NotEqual": ([A, A[::-1]], [A != A[::-1]]),
    "Less": ([A, A[::-1]], [A < A[::-1]]), "GreaterEqual": ([A, A[::-1]], [A >= A[::-1]]),
    "BitwiseAnd": ([A, B], [A & B]), "BitwiseXor": ([A, B], [A ^ B]), "Invert": ([A], [~A]),
    "LeftShift": ([A, np.arange(10)], [A << np.arange(10)]),
    "RightShift": ([A, np.arange(10)], [A >> np.arange(10)]),
    "Abs": ([A], [np.abs(A)]), "Neg": ([A], [-A]), "Sign": ([A], [np.sign(A)]),
    "Square": ([A], [A * A]), "SquaredDifference": ([A, B], [(A - B) * (A - B)]),
    "AddN": ([A, B, A], [A + B + A], {"N": 3}), "Muls": ([A], [A * 3], {"value": 3.0}),
    "ClipByValue": ([A, np.array(-ODD), np.array(HIGHEST - 1)], [np.clip(A, -ODD, HIGHEST - 1)]),
    "CumsumD": ([M], [np.cumsum(M, 1)], {"axis": 1}),
    "CumprodD": ([M], [np.cumprod(M, 1)], {"axis": 1}),
    "ReduceSumD": ([M], [M.sum(1)], {"axes": [1], "keep_dims": False}),
    "ReduceMaxD": ([M], [M.max(1)], {"axes": [1], "keep_dims": False}),
    "ReduceMinD": ([M], [M.min(1)], {"axes": [1], "keep_dims": False}),
    "ReduceProdD": ([M], [M.prod(1)], {"axes": [1], "keep_dims": False}),
    "ReduceMeanD": ([i64([4 * ODD + 1, 4 * ODD + 1])], [i64(4 * ODD + 1)],
                    {"axes": [1], "keep_dims": False}),
    "ArgMaxD": ([A], [np.array(9, np.int32)], {"dimension": 0}),
    "UnsortedSegmentSum": ([A, i32(*KEEP), np.array(2, np.int32)],
                           [i64(A[1::2].sum(), A[::2].sum())], {}, (2,)),
    "UnsortedSegmentMin": ([i64(HIGHEST, ODD, HIGHEST), i32(1, 1, 2), np.array(3, np.int32)],
                           [i64(HIGHEST, ODD, HIGHEST)], {}, (2,)),
    "UnsortedSegmentMax": ([i64(LOWEST, -ODD, LOWEST + 1), i32(1, 1, 2), np.array(3, np.int32)],
                           [i64(LOWEST, -ODD, LOWEST + 1)], {}, (2,)),
    "Range": ([np.array(HIGHEST - 3), np.array(HIGHEST), np.array(1)],
              [i64(HIGHEST - 3, HIGHEST - 2, HIGHEST - 1)], {}, (0, 1, 2)),
    "Fill": ([i64(3), np.array(HIGHEST)], [np.full(3, HIGHEST)], {}, (0,)),
    "GatherV2D": ([A, PLACES], [A[PLACES]], {"axis": 0}),
    "ScatterNdUpdate": ([A, PLACES.reshape(3, 1), NEW], [changed(lambda old, new: new)]),
    "ScatterNdAdd": ([A, PLACES.reshape(3, 1), NEW], [changed(np.add)]),
    "SelectV2": ([KEEP, A, B], [np.where(KEEP, A, B)]),
    "TopKD": ([A], [A[::-1][:4], i32(9, 8, 7, 6)], {"k": 4}),
    "Sort": ([B[:3]], [np.sort(B[:3]), i32(1, 2, 0)], {"axis": -1}),
    "OneHot": ([i32(0, 2), np.array(3, np.int32), np.array(HIGHEST), np.array(LOWEST)],
               [i64([HIGHEST, LOWEST, LOWEST], [LOWEST, LOWEST, HIGHEST])], {"axis": -1}, (1,)),
    "Pow": ([i64(3037000499, 7, -3), i64(2, 22, 39)], [i64(3037000499**2, 7**22, (-3)**39)]),
    "MaskedFill": ([A, KEEP, np.array(HIGHEST - 5)], [np.where(KEEP, HIGHEST - 5, A)]),
    "Tril": ([M], [np.tril(M)]), "ReverseV2D": ([A], [A[::-1]], {"axis": [0]}),
    "PadV3": ([A, i64(1, 1), np.array(HIGHEST)], [np.pad(A, 1, constant_values=HIGHEST)],
              {"mode": "constant"}, (1,)),
    "Unique": ([i64(HIGHEST, ODD, HIGHEST - 1, ODD)],
               [i64(HIGHEST, ODD, HIGHEST - 1), i32(0, 1, 2, 1)], {"out_idx": 3}),
    "MatMul": ([i64([ODD, 2]), i64([3], [HIGHEST])], [i64([ODD, 2]) @ i64([3], [HIGHEST])]),
    "GatherNd": ([A, i64([9], [0])], [A[[9, 0]]]),
    "AxpyV2": ([A, B, np.array(3)], [A + 3 * B]),
}


@pytest.mark.parametrize("name", CASES)
def test_every_digit_is_kept(name):
    inputs, wanted, *more = CASES[name]
    attrs, const = (*more, {}, ())[:2] if more else ({}, ())
    found = single_op.run(name, inputs, [np.zeros_like(w) for w in wanted], attrs, const)
    for got, want in zip(found, wanted):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("kind,code", [
    (np.float32, 0), (np.float16, 1), (np.int32, 3), (np.int8, 2), (np.uint8, 4), (np.float64, 11),
    (np.uint64, 10), (np.bool_, 12)])
def test_casts_round_once(kind, code):
    with np.errstate(over="ignore"):
        want = A.astype(kind)
    (got,) = single_op.run("Cast", [A], [np.zeros_like(want)], {"dst_type": code})
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.int32, np.int64])
def test_a_segment_of_nothing_is_the_end_of_its_type(kind):
    ends = np.iinfo(kind)
    x = np.array([ends.max, ends.min], kind)
    ids, count = i32(1, 2), np.array(3, np.int32)
    for name, nothing in (("UnsortedSegmentMax", ends.min), ("UnsortedSegmentMin", ends.max)):
        want = np.array([nothing, *x], kind)
        (got,) = single_op.run(name, [x, ids, count], [np.zeros_like(want)], {}, (2,))
        np.testing.assert_array_equal(got, want)
