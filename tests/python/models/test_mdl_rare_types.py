# SPDX-License-Identifier: Apache-2.0
"""Types that ONNX allows where few expect them: complex and Boolean elements, integers in Erf,
regions and pads of every float."""
import math

import numpy as np
import pytest
from model_datasets import Model, convert
from onnx import TensorProto, helper
from onnx_models import network

COMPLEX = [np.complex64, np.complex128]

pytestmark = pytest.mark.usefixtures("runtime")


def typed(names, arrays):
    return [(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
            for name, array in zip(names, arrays)]


def check(folder, node, feeds, wanted, opset=16):
    """Runs a node; wanted: the arrays of its outputs."""
    net = network([node], typed(node.input, feeds), typed(node.output, wanted), opset=opset)
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


def largest_of_regions(x, regions, bins, scale):
    """MaxRoiPool as Caffe defines it: regions and bins of whole pixels, empty bins are 0."""
    y = np.zeros((len(regions), x.shape[1], bins, bins), x.dtype)
    for r, (image, *corners) in enumerate(regions):
        x1, y1, x2, y2 = (math.floor(corner * scale + 0.5) for corner in corners)
        for i, j in np.ndindex(bins, bins):
            spans = []
            for k, start, stop, extent in ((i, y1, y2, x.shape[2]), (j, x1, x2, x.shape[3])):
                size = max(stop - start + 1, 1) / bins
                begin, end = math.floor(k * size) + start, math.ceil((k + 1) * size) + start
                spans.append(slice(min(max(begin, 0), extent), min(max(end, 0), extent)))
            bin_of = x[int(image), :, spans[0], spans[1]]
            if bin_of.size:
                y[r, :, i, j] = bin_of.max((1, 2))
    return y


@pytest.mark.parametrize("kind", ["FLOAT", "FLOAT16", "BFLOAT16", "DOUBLE"])
def test_regions_are_pooled_in_every_float_type(tmp_path, kind):
    """The largest of numbers that each type holds: the same in all of them."""
    random = np.random.default_rng(4)
    x = random.integers(-128, 128, (2, 3, 9, 11)).astype(np.float32)
    regions = np.float32([[0, 0, 0, 15, 12], [1, 3, 2, 20, 17], [1, 8, 8, 8, 8], [0, 30, 2, 40, 9]])
    to = getattr(TensorProto, kind)
    net = network([helper.make_node("Cast", ["x"], ["short x"], to=to),
                   helper.make_node("Cast", ["regions"], ["short regions"], to=to),
                   helper.make_node("MaxRoiPool", ["short x", "short regions"], ["short y"],
                                    pooled_shape=[3, 3], spatial_scale=0.5),
                   helper.make_node("Cast", ["short y"], ["y"], to=TensorProto.FLOAT)],
                  typed(["x", "regions"], [x, regions]), [("y", TensorProto.FLOAT, (4, 3, 3, 3))],
                  opset=22)
    model = Model(convert(tmp_path, "net", net))
    model.run(x, regions)
    np.testing.assert_array_equal(model.read(0, (4, 3, 3, 3)),
                                  largest_of_regions(x, regions, 3, 0.5))
    model.close()


def test_regions_keep_the_digits_of_doubles(tmp_path):
    x = np.array([[[[1, 1 + 1e-12], [1 - 1e-12, 1 - 1e-13]]]])
    regions = np.array([[0, 0, 0, 1, 1.0]])
    check(tmp_path, helper.make_node("MaxRoiPool", ["x", "r"], ["y"], pooled_shape=[1, 1]),
          [x, regions], [x[:, :, :1, 1:]])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_pad_with_a_value_of_opset_2(tmp_path, dtype):
    x = np.arange(6).reshape(2, 3).astype(dtype) / 4
    check(tmp_path, helper.make_node("Pad", ["x"], ["y"], pads=[1, 0, 0, 2], value=0.1), [x],
          [np.pad(x, ((1, 0), (0, 2)), constant_values=dtype(np.float32(0.1)))], opset=10)
