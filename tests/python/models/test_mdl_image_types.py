# SPDX-License-Identifier: Apache-2.0
"""Operators on pictures with elements that are no real numbers: complex, bool, integers of 64 bits.

Results are those of the onnx package's reference implementation; Resize, which is real there, is
taken part by part. All cases of a type are nodes of one model.
"""
import itertools

import numpy as np
import pytest
from flow_models import constant, info, model
from model_datasets import Model, convert
from onnx import helper
from onnx.reference import ReferenceEvaluator

pytestmark = pytest.mark.usefixtures("runtime")

COMPLEX = [np.complex64, np.complex128]
TOLERANCE = {np.complex64: 1e-5, np.complex128: 1e-12}


def values(dtype, shape, seed=3):
    """Small whole numbers, so that sums are exact; of 64 bits, those that no double holds."""
    random = np.random.default_rng(seed)
    whole = random.integers(-9, 10, shape)
    if np.issubdtype(dtype, np.complexfloating):
        return (whole + 1j * random.integers(-9, 10, shape)).astype(dtype)
    if dtype == np.bool_:
        return random.random(shape) < 0.3
    return random.integers(0, np.iinfo(dtype).max, shape, dtype, endpoint=True)


def reference(opset, op, inputs, **attributes):
    """The result of a node by the onnx package; inputs: arrays, None where one is left out."""
    fed = {f"i{i}": array for i, array in enumerate(inputs) if array is not None}
    node = helper.make_node(op, [f"i{i}" if f"i{i}" in fed else "" for i in range(len(inputs))],
                            ["y"], **attributes)
    graph = helper.make_graph(
        [node], "one", [info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
                        for n, a in fed.items()], [helper.make_empty_tensor_value_info("y")])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    with np.errstate(over="ignore"):
        return ReferenceEvaluator(made).run(None, fed)[0]


def run(folder, opset, x, cases):
    """What each case makes of x; cases: (operator, inputs after x, attributes, shape of output)."""
    kind = helper.np_dtype_to_tensor_dtype(x.dtype)
    nodes, weights, outputs = [], [], []
    for i, (op, inputs, attributes, shape) in enumerate(cases):
        names = [f"in {i} {k}" if array is not None else "" for k, array in enumerate(inputs)]
        weights += [constant(name, array) for name, array in zip(names, inputs) if name]
        nodes.append(helper.make_node(op, ["x", *names], [f"y{i}"], **attributes))
        outputs.append(info(f"y{i}", kind, shape))
    made = model(nodes, [info("x", kind, x.shape)], outputs, weights, opset=opset)
    loaded = Model(convert(folder, "net", made))
    loaded.feed(x)
    assert loaded.execute() == 0
    results = [loaded.read(i, case[3], x.dtype) for i, case in enumerate(cases)]
    loaded.close()
    return results


def ints(*numbers):
    return np.array(numbers, np.int64)


COLUMNS = [  # image, block, attributes, number of columns
    ((5, 5), (2, 2), {}, 16),
    ((5, 6), (3, 2), {"pads": [1, 0, 1, 2], "strides": [2, 1]}, 21),
    ((6, 6), (2, 3), {"dilations": [2, 1], "pads": [0, 1, 2, 1]}, 36),
    ((3, 4, 5), (1, 2, 3), {}, 27),
]


@pytest.mark.parametrize("dtype", [*COMPLEX, np.bool_, np.int64, np.uint64, np.int8])
@pytest.mark.parametrize("image, block, attributes, columns", COLUMNS)
def test_col2im_adds_elements_of_any_type(tmp_path, dtype, image, block, attributes, columns):
    """Complex ones part by part; integers wrap around; of bools any true one gives true."""
    x = values(dtype, (2, 3 * int(np.prod(block)), columns))
    inputs = [ints(*image), ints(*block)]
    want = reference(18, "Col2Im", [x, *inputs], **attributes)
    got, = run(tmp_path, 18, x, [("Col2Im", inputs, attributes, want.shape)])
    np.testing.assert_array_equal(got, want)


def grids(dims, mode, padding):
    """Points on, between and far from elements; where the reference moves the coordinate of a
    cubic sample to the border, and onnxruntime only its neighbours, those inside."""
    inside = mode == "cubic" and padding == "border"
    random = np.random.default_rng(dims)
    reach = 16 if inside else 40
    return random.integers(-reach, reach + 1, (2, *(1, 4, 5)[-dims:], dims)) / 16


@pytest.mark.parametrize("dims", [2, 3])
@pytest.mark.parametrize("dtype", [*COMPLEX, np.bool_])
def test_grid_sample_weights_elements_of_any_type(tmp_path, dtype, dims):
    """Weights are real; of bools, any true one that has a weight gives true."""
    x = values(dtype, (2, 2, *(3, 4, 5)[-dims:]))
    real = np.float64 if dtype == np.complex128 else np.float32
    cases = []
    for mode, padding, corners in itertools.product(
            ("nearest", "linear", "cubic"), ("zeros", "border", "reflection"), (0, 1)):
        grid = grids(dims, mode, padding).astype(real)
        cases.append(("GridSample", [grid], {"mode": mode, "padding_mode": padding,
                                             "align_corners": corners},
                      (2, 2, *grid.shape[1:-1])))
    for case, got in zip(cases, run(tmp_path, 20, x, cases)):
        want = reference(20, "GridSample", [x, *case[1]], **case[2])
        np.testing.assert_allclose(got, want, rtol=0, atol=TOLERANCE.get(dtype, 0) * 9,
                                   err_msg=str(case[2]))
        if case[2]["mode"] == "nearest":
            np.testing.assert_array_equal(got, want, err_msg=str(case[2]))


RESIZED = [  # attributes, sizes or scales of a 4 x 6 picture
    *[({"mode": mode, "coordinate_transformation_mode": where}, size)
      for mode in ("linear", "cubic")
      for where in ("half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
                    "asymmetric")
      for size in (ints(7, 9), np.float32([0.75, 1.5]))],
    *[({"mode": mode, "antialias": 1}, size) for mode in ("linear", "cubic")
      for size in (ints(3, 2), np.float32([0.5, 2.5]))],
    *[({"mode": "nearest", "nearest_mode": how, "coordinate_transformation_mode": where}, size)
      for how in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
      for where in ("half_pixel", "align_corners", "asymmetric")
      for size in (ints(7, 9), np.float32([0.5, 2]))],
    ({"mode": "cubic", "cubic_coeff_a": -0.5, "exclude_outside": 1}, ints(9, 8)),
    ({"mode": "linear", "keep_aspect_ratio_policy": "not_larger"}, ints(7, 9)),
    ({"mode": "linear", "axes": [1]}, ints(11)),
    *[({"mode": mode, "coordinate_transformation_mode": "tf_crop_and_resize",
        "extrapolation_value": 2.5}, ints(5, 7)) for mode in ("nearest", "linear", "cubic")],
]
REGION = np.float32([0.25, -0.5, 1.25, 0.75])  # part of it lies outside


@pytest.mark.parametrize("dtype", COMPLEX)
def test_resize_weights_both_parts(tmp_path, dtype):
    """What lies outside of the picture is a real number."""
    x = values(dtype, (4, 6))
    cases, wanted = [], []
    for attributes, size in RESIZED:
        crop = attributes.get("coordinate_transformation_mode") == "tf_crop_and_resize"
        inputs = [REGION if crop else None, *([None, size] if size.dtype == np.int64 else [size])]
        parts = [reference(19, "Resize", [part.astype(np.float64), *inputs], **attributes | more)
                 for part, more in ((x.real, {}), (x.imag, {"extrapolation_value": 0.0}))]
        wanted.append(parts[0] + 1j * parts[1])
        cases.append(("Resize", inputs, attributes, wanted[-1].shape))
    for case, got, want in zip(cases, run(tmp_path, 19, x, cases), wanted):
        np.testing.assert_allclose(got, want, rtol=0, atol=TOLERANCE[dtype] * 9,
                                   err_msg=str(case[2]))


@pytest.mark.parametrize("dtype", COMPLEX)
def test_upsample_weights_both_parts(tmp_path, dtype):
    x = values(dtype, (1, 2, 3, 4))
    scales = np.float32([1, 1, 2, 1.5])
    cases = [("Upsample", [scales], {"mode": mode}, (1, 2, 6, 6)) for mode in ("nearest", "linear")]
    got = run(tmp_path, 9, x, cases)
    for (_, inputs, attributes, _), result in zip(cases, got):
        parts = [reference(11, "Resize", [part.astype(np.float64), None, *inputs], **attributes,
                           coordinate_transformation_mode="asymmetric", nearest_mode="floor")
                 for part in (x.real, x.imag)]
        np.testing.assert_allclose(result, parts[0] + 1j * parts[1], rtol=0,
                                   atol=TOLERANCE[dtype] * 9)


@pytest.mark.parametrize("dtype", [*COMPLEX, np.bool_, np.int64, np.uint64, np.float32])
def test_nearest_elements_keep_every_bit(tmp_path, dtype):
    """Whole numbers that no double holds, zeros with a sign, the bits of a NaN."""
    if np.issubdtype(dtype, np.integer) or dtype == np.bool_:
        x = values(dtype, (1, 1, 3, 4))
    else:
        bits = np.random.default_rng(5).integers(0, 2**32, (1, 1, 3, np.dtype(dtype).itemsize))
        x = bits.astype(np.uint32).view(dtype)
        x[0, 0, 0] = -x.dtype.type(0)
    twice = x.repeat(2, 2).repeat(2, 3)
    at = [(2 * (np.arange(n) // 2) + 1) / (n // 2) - 1 for n in (6, 8)]
    grid = np.stack(np.meshgrid(at[1], at[0]), axis=-1)[None].astype(np.float32)
    scales = np.float32([1, 1, 2, 2])
    sampled, resized = run(tmp_path, 20, x, [
        ("GridSample", [grid], {"mode": "nearest"}, twice.shape),
        ("Resize", [None, scales], {}, twice.shape)])
    upsampled, = run(tmp_path, 9, x, [("Upsample", [scales], {}, twice.shape)])
    assert sampled.tobytes() == resized.tobytes() == upsampled.tobytes() == twice.tobytes()
