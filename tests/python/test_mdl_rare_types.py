# SPDX-License-Identifier: Apache-2.0
"""Types that ONNX allows where few expect them: complex and Boolean elements, integers in Erf."""
import math

import numpy as np
import pytest
from model_datasets import Model, convert
from onnx import helper
from onnx_models import network

COMPLEX = [np.complex64, np.complex128]

pytestmark = pytest.mark.usefixtures("runtime")


def typed(names, arrays):
    return [(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
            for name, array in zip(names, arrays)]


def check(folder, node, feeds, wanted):
    """Runs a node; wanted: the arrays of its outputs."""
    net = network([node], typed(node.input, feeds), typed(node.output, wanted), opset=16)
    model = Model(convert(folder, "net", net))
    model.run(*feeds)
    for index, want in enumerate(wanted):
        np.testing.assert_array_equal(model.read(index, want.shape, want.dtype), want)
    model.close()


def complex_values(dtype, shape):
    random = np.random.default_rng(2)
    return (random.integers(-2, 3, shape) + 1j * random.integers(-1, 2, shape)).astype(dtype)


@pytest.mark.parametrize("dtype", COMPLEX)
def test_where_chooses_complex_elements(tmp_path, dtype):
    x, y = complex_values(dtype, (4, 1, 3)), complex_values(dtype, (5, 3)) + 7
    choice = np.arange(20).reshape(4, 5, 1) % 3 == 0
    check(tmp_path, helper.make_node("Where", ["c", "x", "y"], ["z"]), [choice, x, y],
          [np.where(choice, x, y)])


@pytest.mark.parametrize("dtype", COMPLEX)
def test_nonzero_looks_at_both_parts(tmp_path, dtype):
    x = complex_values(dtype, (20, 30))
    x[0, :4] = [0, 1j, 1, complex(-0.0, 0.0)]
    check(tmp_path, helper.make_node("NonZero", ["x"], ["y"]), [x],
          [np.array(np.nonzero(x), np.int64)])


@pytest.mark.parametrize("dtype", [*COMPLEX, np.bool_])
def test_unique_orders_by_the_first_part_then_the_second(tmp_path, dtype):
    x = complex_values(dtype, (40,))
    want = np.unique(x, return_index=True, return_inverse=True, return_counts=True)
    check(tmp_path, helper.make_node("Unique", ["x"], ["y", "first", "inverse", "counts"]), [x],
          list(want))


@pytest.mark.parametrize("dtype", COMPLEX)
def test_unique_slices_of_complex_elements(tmp_path, dtype):
    x = complex_values(dtype, (3, 4))[:, [0, 1, 0, 3, 2, 1]]
    values, first = np.unique(x, axis=1, return_index=True)
    check(tmp_path, helper.make_node("Unique", ["x"], ["y", "first"], axis=1), [x],
          [values, first])


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32,
                                   np.int64, np.uint64])
def test_erf_of_integers_is_cut_to_an_integer(tmp_path, dtype):
    limit = np.iinfo(dtype)
    x = np.array([0, 1, 2, 5, 6, 100, limit.max, limit.min], dtype)
    want = np.array([int(math.erf(int(value))) for value in x]).astype(dtype)
    check(tmp_path, helper.make_node("Erf", ["x"], ["y"]), [x], [want])
