# SPDX-License-Identifier: Apache-2.0
"""64-bit integers keep all digits: operators at both ends of the range and around 2^53, where a
double would round, with scalars at these places too."""
import numpy as np
import pytest

HIGHEST, LOWEST, ODD = 2**63 - 1, -2**63, 2**53 + 1
X = np.array([LOWEST, LOWEST + 1, -ODD, -1, 0, 1, ODD, ODD + 2, HIGHEST - 1, HIGHEST])
Y = np.array([HIGHEST, 1, 3, HIGHEST, ODD, -1, 2, ODD, HIGHEST, LOWEST + 1])
TABLE = X.reshape(2, 5)

# operator -> (arguments behind x and the scalar, what numpy says)
WITH_SCALARS = {
    "aclnnAdds": ([1], lambda v: X + v),
    "aclnnSubs": ([1], lambda v: X - v),
    "aclnnRsubs": ([1], lambda v: v - X),
    "aclnnMuls": ([], lambda v: X * v),
    "aclnnFloorDivides": ([], lambda v: X // v),
    "aclnnDivMods": ([2], lambda v: X // v),
    "aclnnRemainderTensorScalar": ([], lambda v: X % v),
    "aclnnFmodScalar": ([], lambda v: np.fmod(X, v)),
    "aclnnClampMin": ([], lambda v: np.maximum(X, v)),
    "aclnnClampMax": ([], lambda v: np.minimum(X, v)),
    "aclnnBitwiseAndScalar": ([], lambda v: X & v),
    "aclnnBitwiseXorScalar": ([], lambda v: X ^ v),
    "aclnnEqScalar": ([], lambda v: X == v),
    "aclnnGtScalar": ([], lambda v: X > v),
    "aclnnLeScalar": ([], lambda v: X <= v),
}
# operator -> (arguments without the output, what numpy says)
CALLS = {
    "aclnnAdd": ([X, Y, ODD], X + Y * np.int64(ODD)),
    "aclnnSub": ([X, Y, 1], X - Y),
    "aclnnMul": ([X, Y], X * Y),
    "aclnnFloorDivide": ([X, Y], X // Y),
    "aclnnMaximum": ([X, Y], np.maximum(X, Y)),
    "aclnnMinimum": ([X, Y], np.minimum(X, Y)),
    "aclnnNeg": ([X], -X),
    "aclnnAbs": ([X], np.abs(X)),
    "aclnnSign": ([X], np.sign(X)),
    "aclnnGtTensor": ([X, Y], X > Y),
    "aclnnEqTensor": ([X, Y], X == Y),
    "aclnnSWhere": ([X > Y, X, Y], np.where(X > Y, X, Y)),
    "aclnnAddcmul": ([X, Y, Y, 3], X + np.int64(3) * Y * Y),
    "aclnnArange": ([ODD, ODD + 10, 1], np.arange(ODD, ODD + 10)),
    "aclnnCumsum": ([X, 0, 9], np.cumsum(X)),
    "aclnnReduceSum": ([TABLE, [1], False, 9], TABLE.sum(1)),
    "aclnnProd": ([X, 9], np.prod(X)),
    "aclnnAmax": ([TABLE, [1], False], TABLE.max(1)),
    "aclnnAmin": ([TABLE, [1], False], TABLE.min(1)),
    "aclnnArgMax": ([TABLE, 1, False], TABLE.argmax(1)),
    "aclnnPowTensorScalar": ([np.array([3037000499, -ODD]), 2],
                             np.array([3037000499, -ODD]) ** 2),
    "aclnnConstantPadNd": ([X, [1, 2], ODD], np.pad(X, (1, 2), constant_values=ODD)),
    "aclnnCast": ([X, 11], X.astype(np.float64)),
}


def check(nn, name, given, want):
    got = nn.empty(want.dtype, want.shape)
    nn.run(name, *(nn.tensor(g) if isinstance(g, np.ndarray) else g for g in given), got)
    np.testing.assert_array_equal(got.read(), want)


@pytest.fixture(autouse=True)
def wrapping():
    with np.errstate(all="ignore"):
        yield


@pytest.mark.parametrize("value", [ODD, HIGHEST, LOWEST, 3, -1])
@pytest.mark.parametrize("name", WITH_SCALARS)
def test_a_scalar_has_all_its_digits(nn, name, value):
    behind, oracle = WITH_SCALARS[name]
    check(nn, name, [X, value, *behind], oracle(np.int64(value)))


@pytest.mark.parametrize("name", CALLS)
def test_tensors_have_all_their_digits(nn, name):
    given, want = CALLS[name]
    check(nn, name, given, np.asarray(want))
