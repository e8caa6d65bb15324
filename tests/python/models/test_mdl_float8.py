# SPDX-License-Identifier: Apache-2.0
"""8-bit floats in models: E5M2 and E4M3FN, which ONNX has and AscendCL describes.

The numbers of the codes come from the package ml_dtypes, which onnx converts with; rounding is
checked against the nearest of them, so neither side shares code with the other.
"""
import ml_dtypes
import numpy as np
import pytest
from model_datasets import Model, atc_over, convert
from onnx import TensorProto, helper, numpy_helper
from onnx_models import network

import acl

E4M3, E5M2 = TensorProto.FLOAT8E4M3FN, TensorProto.FLOAT8E5M2
KINDS = {E4M3: "E4M3FN", E5M2: "E5M2"}
ACL_TYPE = {E4M3: 36, E5M2: 35}
CODES = np.arange(256, dtype=np.uint8)
NUMBERS = {E4M3: CODES.view(ml_dtypes.float8_e4m3fn).astype(np.float64),
           E5M2: CODES.view(ml_dtypes.float8_e5m2).astype(np.float64)}
NUMPY = {TensorProto.FLOAT: np.float32, TensorProto.FLOAT16: np.float16,
         TensorProto.DOUBLE: np.float64, TensorProto.INT8: np.int8, TensorProto.UINT8: np.uint8,
         TensorProto.INT32: np.int32, TensorProto.INT64: np.int64, TensorProto.UINT64: np.uint64,
         TensorProto.BOOL: np.bool_}

pytestmark = pytest.mark.usefixtures("runtime")


def run(folder, nodes, feeds, outputs, weights=(), opset=21):
    """The bytes of each output. feeds: (name, type, array); outputs: (name, type, shape)."""
    net = network(nodes, [(name, kind, array.shape) for name, kind, array in feeds], outputs,
                  weights, opset)
    model = Model(convert(folder, "net", net))
    for index, (_, kind, array) in enumerate(feeds):
        if kind in ACL_TYPE:
            assert acl.mdl.get_input_data_type(model.desc, index) == ACL_TYPE[kind]
            assert acl.mdl.get_input_size_by_index(model.desc, index) == array.size
    model.run(*(array for _, _, array in feeds))
    results = []
    for index, (_, kind, shape) in enumerate(outputs):
        if kind in ACL_TYPE:
            assert acl.mdl.get_output_data_type(model.desc, index) == ACL_TYPE[kind]
            assert acl.mdl.get_output_size_by_index(model.desc, index) == np.prod(shape)
        numpy_type = np.uint16 if kind == TensorProto.BFLOAT16 else NUMPY.get(kind, np.uint8)
        results.append(model.read(index, shape, numpy_type))
    model.close()
    return results


def nearest(values, kind, saturate):
    """Codes of the numbers next to `values`, halves to the even code; what lies beyond by ONNX."""
    values = np.asarray(values, np.float64)
    largest = 0x7E if kind == E4M3 else 0x7B
    table = NUMBERS[kind][:largest + 1]
    # One more step of the largest exponent, where a half is the end of what rounds down.
    table = np.append(table, 2 * table[-1] - table[-2])
    size = np.where(np.isnan(values), 0, np.minimum(np.abs(values), table[-1]))
    high = np.clip(np.searchsorted(table, size), 1, len(table) - 1)
    below, above = size - table[high - 1], table[high] - size
    code = np.where((below < above) | ((below == above) & ((high - 1) % 2 == 0)), high - 1, high)
    beyond = largest if saturate else (0x7F if kind == E4M3 else 0x7C)
    code = np.where(code > largest, beyond, code)
    code = np.where(np.isnan(values), 0x7F, code)
    return (code | np.where(np.signbit(values), 0x80, 0)).astype(np.uint8)


def interesting_floats(numpy_type):
    """Every code, every half between two and its neighbours, extremes, and much in between."""
    exact = np.concatenate([table[np.isfinite(table)] for table in NUMBERS.values()])
    exact = np.sort(exact)
    halves = (exact[:-1] + exact[1:]) / 2
    limit = np.finfo(numpy_type)
    ends = [np.inf, -np.inf, np.nan, -np.nan, limit.max, limit.min, limit.tiny, -limit.tiny,
            limit.smallest_subnormal, 0.0, -0.0, 448, 464, 464.25, 479, 480, 495, 496, 512, 57344,
            61440, 61408, 61472, 65504]
    every_half = np.arange(65536, dtype=np.uint16).view(np.float16).astype(np.float64)
    with np.errstate(all="ignore"):
        values = np.concatenate([exact, halves, -halves, ends, every_half]).astype(numpy_type)
        return np.concatenate([values, np.nextafter(values, numpy_type(0)),
                               np.nextafter(values, numpy_type(np.inf))])


def source_values(kind):
    """(what is fed, the numbers it stands for)"""
    if kind in NUMBERS:
        return CODES, NUMBERS[kind]
    if kind == TensorProto.BFLOAT16:
        bits = np.arange(65536, dtype=np.uint16)
        with np.errstate(invalid="ignore"):  # of NaNs that signal
            return bits, (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    if kind == TensorProto.BOOL:
        values = np.array([True, False])
    elif np.issubdtype(NUMPY[kind], np.floating):
        values = interesting_floats(NUMPY[kind])
    else:
        limit = np.iinfo(NUMPY[kind])
        few = np.arange(max(limit.min, -600), min(limit.max, 600) + 1).astype(NUMPY[kind])
        values = np.concatenate([few, np.array([limit.min, limit.max], NUMPY[kind])])
    return values, values.astype(np.float64)


SOURCES = [TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE, TensorProto.BFLOAT16,
           TensorProto.INT8, TensorProto.UINT8, TensorProto.INT32, TensorProto.INT64,
           TensorProto.UINT64, TensorProto.BOOL, E4M3, E5M2]


@pytest.mark.parametrize("source", SOURCES, ids=TensorProto.DataType.Name)
def test_casts_to_float8_round_to_nearest_even_and_saturate_when_asked(tmp_path, source):
    fed, values = source_values(source)
    wanted = [(kind, saturate) for kind in KINDS for saturate in (1, 0)]
    nodes = [helper.make_node("Cast", ["x"], [f"y{i}"], to=kind, saturate=saturate)
             for i, (kind, saturate) in enumerate(wanted)]
    nodes += [helper.make_node("CastLike", ["x", f"like{kind}"], [f"z{i}"], saturate=saturate)
              for i, (kind, saturate) in enumerate(wanted)]
    likes = [helper.make_tensor(f"like{kind}", kind, [1], b"\0", raw=True) for kind in KINDS]
    got = run(tmp_path, nodes, [("x", source, fed)],
              [(f"{letter}{i}", kind, fed.shape) for letter in "yz"
               for i, (kind, _) in enumerate(wanted)], likes)
    for actual, (kind, saturate) in zip(got, wanted * 2):
        np.testing.assert_array_equal(actual, nearest(values, kind, saturate),
                                      f"{KINDS[kind]}, saturate {saturate}")


@pytest.mark.parametrize("kind", KINDS, ids=KINDS.get)
@pytest.mark.parametrize("saturate", [True, False])
def test_the_nearest_code_is_the_one_of_the_onnx_package(kind, saturate):
    values = interesting_floats(np.float32)
    values = values[~np.isnan(values)]  # the sign of a NaN is not kept there
    element = ml_dtypes.float8_e4m3fn if kind == E4M3 else ml_dtypes.float8_e5m2
    theirs = (numpy_helper.saturate_cast(values, np.dtype(element)) if saturate
              else values.astype(element))
    np.testing.assert_array_equal(nearest(values, kind, saturate), theirs.view(np.uint8))


@pytest.mark.parametrize("kind", KINDS, ids=KINDS.get)
def test_every_code_of_a_float8_becomes_its_number_in_other_types(tmp_path, kind):
    targets = [TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE, TensorProto.BFLOAT16,
               TensorProto.INT32, TensorProto.BOOL, kind]
    nodes = [helper.make_node("Cast", ["x"], [f"y{i}"], to=target)
             for i, target in enumerate(targets)]
    got = run(tmp_path, nodes, [("x", kind, CODES)],
              [(f"y{i}", target, [256]) for i, target in enumerate(targets)])
    numbers = NUMBERS[kind]
    for actual, numpy_type in zip(got[:3], (np.float32, np.float16, np.float64)):
        np.testing.assert_array_equal(actual, numbers.astype(numpy_type))
        np.testing.assert_array_equal(np.signbit(actual), CODES >= 128)
    np.testing.assert_array_equal((got[3].astype(np.uint32) << 16).view(np.float32), numbers)
    finite = np.isfinite(numbers)
    np.testing.assert_array_equal(got[4][finite], numbers[finite].astype(np.int32))
    np.testing.assert_array_equal(got[5], (CODES & 0x7F) != 0)
    special = np.isinf(numbers)
    np.testing.assert_array_equal(got[6][finite], CODES[finite])
    np.testing.assert_array_equal(got[6][special], [0x7B, 0xFB] if kind == E5M2 else [])


@pytest.mark.parametrize("kind", KINDS, ids=KINDS.get)
@pytest.mark.parametrize("scale_shape,attributes", [
    ((), {}), ((6,), {"axis": 1}), ((4, 2, 5), {"axis": 1, "block_size": 3})],
    ids=["per tensor", "per axis", "blocked"])
def test_quantize_and_dequantize_by_float8(tmp_path, kind, scale_shape, attributes):
    random = np.random.default_rng(3)
    x = (random.standard_normal((4, 6, 5)) * 300).astype(np.float32)
    x.flat[::7] *= 10000  # beyond the largest
    scale = random.uniform(0.1, 4, scale_shape).astype(np.float32)
    point = helper.make_tensor("point", kind, scale_shape, bytes(int(scale.size)), raw=True)
    nodes = [helper.make_node("QuantizeLinear", ["x", "s", "point"], ["q"], **attributes),
             helper.make_node("QuantizeLinear", ["x", "s", "point"], ["n"], saturate=0,
                              **attributes),
             helper.make_node("DequantizeLinear", ["q", "s", "point"], ["y"], **attributes)]
    q, n, y = run(tmp_path, nodes, [("x", TensorProto.FLOAT, x), ("s", TensorProto.FLOAT, scale)],
                  [("q", kind, x.shape), ("n", kind, x.shape),
                   ("y", TensorProto.FLOAT, x.shape)], [point])
    wide = scale
    if scale.ndim == 1:
        wide = scale.reshape(1, 6, 1)
    elif scale.ndim == 3:
        wide = np.repeat(scale, 3, axis=1)
    np.testing.assert_array_equal(q, nearest(x / wide, kind, True))
    np.testing.assert_array_equal(n, nearest(x / wide, kind, False))
    assert (q != n).any()
    np.testing.assert_array_equal(y, NUMBERS[kind][q].astype(np.float32) * wide)


@pytest.mark.parametrize("kind", KINDS, ids=KINDS.get)
def test_the_type_of_a_quantised_output_may_be_an_attribute(tmp_path, kind):
    x = np.array([0.3, -500, 7e4, np.nan], np.float32)
    scale = np.array(2, np.float32)
    q, = run(tmp_path, [helper.make_node("QuantizeLinear", ["x", "s"], ["q"], output_dtype=kind)],
             [("x", TensorProto.FLOAT, x), ("s", TensorProto.FLOAT, scale)], [("q", kind, [4])])
    np.testing.assert_array_equal(q, nearest(x / scale, kind, True))


def integers(name, *values):
    return numpy_helper.from_array(np.array(values, np.int64), name)


@pytest.mark.parametrize("kind", KINDS, ids=KINDS.get)
def test_operators_that_move_elements_keep_every_code(tmp_path, kind):
    codes = CODES.reshape(16, 16)
    chosen = np.arange(256).reshape(16, 16) % 3 == 0

    def branch(name, node, output):
        return helper.make_graph([node], name, [],
                                 [helper.make_tensor_value_info(output, kind, [16, 16])])

    then = branch("then", helper.make_node("Identity", ["x"], ["t"]), "t")
    otherwise = branch("else", helper.make_node("Transpose", ["x"], ["e"]), "e")
    i = numpy_helper.from_array(np.array([[3, 0], [15, 3]]), "i")
    rows = [
        (("Identity", ["x"], {}), codes),
        (("Reshape", ["x", "shape"], {}), codes.reshape(4, 64)),
        (("Flatten", ["x"], {}), codes),
        (("Unsqueeze", ["x", "one"], {}), codes[:, None]),
        (("Transpose", ["x"], {}), codes.T),
        (("Concat", ["x", "w", "l"], {"axis": 1}), np.hstack([codes] * 3)),
        (("Slice", ["x", "start", "end"], {}), codes[2:9, 3:16]),
        (("Gather", ["x", "i"], {}), codes[[[3, 0], [15, 3]]]),
        (("Expand", ["x", "wide"], {}), np.broadcast_to(codes, (2, 16, 16))),
        (("Tile", ["x", "twice"], {}), np.tile(codes, (2, 2))),
        (("Where", ["b", "x", "five"], {}), np.where(chosen, codes, 5)),
        (("Pad", ["x", "pads", "five"], {}), np.pad(codes, [(0, 2), (1, 3)],
                                                    constant_values=5)),
        (("Pad", ["x", "pads"], {"mode": "reflect"}), np.pad(codes, [(0, 2), (1, 3)], "reflect")),
        (("If", ["go"], {"then_branch": then, "else_branch": otherwise}), codes.T),
        (("ConstantOfShape", ["shape"], {"value": helper.make_tensor("v", kind, [1], b"\x42",
                                                                     raw=True)}),
         np.full((4, 64), 0x42)),
    ]
    nodes, outputs = [], []
    for number, ((op, inputs, attributes), want) in enumerate(rows):
        nodes.append(helper.make_node(op, inputs, [f"y{number}"], **attributes))
        outputs.append((f"y{number}", kind, want.shape))
    nodes.append(helper.make_node("Split", ["x"], ["s0", "s1"], axis=0, num_outputs=2))
    nodes.append(helper.make_node("Shape", ["x"], ["extents"]))
    outputs += [("s0", kind, [8, 16]), ("s1", kind, [8, 16]),
                ("extents", TensorProto.INT64, [2])]
    weights = [helper.make_tensor("w", kind, [16, 16], CODES.tobytes(), raw=True),
               helper.make_tensor("five", kind, [], b"\x05", raw=True),
               integers("shape", 4, 64), integers("one", 1), integers("start", 2, 3),
               integers("end", 9, 99), integers("wide", 2, 16, 16), integers("twice", 2, 2),
               integers("pads", 0, 1, 2, 3), i]
    listed = TensorProto(name="l", data_type=kind, dims=[16, 16])
    listed.int32_data.extend(CODES.tolist())
    weights.append(listed)
    got = run(tmp_path, nodes, [("x", kind, codes), ("b", TensorProto.BOOL, chosen),
                                ("go", TensorProto.BOOL, np.array(False))], outputs, weights)
    for actual, ((op, _, _), want) in zip(got, rows):
        np.testing.assert_array_equal(actual, want, op)
    np.testing.assert_array_equal(np.vstack(got[-3:-1]), codes)
    assert got[-1].tolist() == [16, 16]


@pytest.mark.parametrize("kind", KINDS, ids=KINDS.get)
def test_nan_and_infinity_of_a_float8_are_found(tmp_path, kind):
    nodes = [helper.make_node("IsNaN", ["x"], ["nan"]), helper.make_node("IsInf", ["x"], ["inf"]),
             helper.make_node("IsInf", ["x"], ["below"], detect_positive=0)]
    nan, inf, below = run(tmp_path, nodes, [("x", kind, CODES)],
                          [(name, TensorProto.BOOL, [256]) for name in ("nan", "inf", "below")])
    numbers = NUMBERS[kind]
    np.testing.assert_array_equal(nan, np.isnan(numbers))
    np.testing.assert_array_equal(inf, np.isinf(numbers))
    np.testing.assert_array_equal(below, np.isneginf(numbers))


@pytest.mark.parametrize("a_kind,b_kind,y_kind", [(E4M3, E4M3, E4M3), (E5M2, E4M3, E5M2),
                                                  (E4M3, E4M3, TensorProto.INT8),
                                                  (TensorProto.UINT8, E5M2, E4M3)])
def test_quantised_products_of_float8(tmp_path, a_kind, b_kind, y_kind):
    random = np.random.default_rng(11)
    sides = []
    for kind, shape in ((a_kind, (5, 9)), (b_kind, (9, 4))):
        codes = random.integers(0, 0x50, shape, dtype=np.uint8)
        codes |= (random.integers(0, 2, shape) * 0x80 * (kind in NUMBERS)).astype(np.uint8)
        sides.append((codes, NUMBERS[kind][codes] if kind in NUMBERS else codes.astype(float)))
    (a, a_numbers), (b, b_numbers) = sides
    scales = [0.5, 0.25, 0.125]
    weights = [numpy_helper.from_array(np.array(scale, np.float32), f"s{i}")
               for i, scale in enumerate(scales)]
    weights += [helper.make_tensor(f"z{i}", kind, [], b"\0", raw=True)
                for i, kind in enumerate((a_kind, b_kind, y_kind))]
    node = helper.make_node("QLinearMatMul", ["a", "s0", "z0", "b", "s1", "z1", "s2", "z2"], ["y"])
    y, = run(tmp_path, [node], [("a", a_kind, a), ("b", b_kind, b)], [("y", y_kind, [5, 4])],
             weights)
    want = a_numbers @ b_numbers  # exact: few digits, powers of two
    if y_kind in NUMBERS:
        np.testing.assert_array_equal(y, nearest(want, y_kind, True))
    else:
        np.testing.assert_array_equal(y, np.clip(np.rint(want), -128, 127))


def test_arithmetic_on_float8_is_refused_by_name(tmp_path):
    done = atc_over(tmp_path, "net", network(
        [helper.make_node("Add", ["x", "x"], ["y"], name="sum")], [("x", E4M3, [4])],
        [("y", E4M3, [4])], opset=21))
    assert done.returncode != 0
    assert "Add 'sum'" in done.stderr and "float8_e4m3fn" in done.stderr


@pytest.mark.parametrize("kind", [TensorProto.FLOAT8E4M3FNUZ, TensorProto.FLOAT8E5M2FNUZ,
                                  TensorProto.UINT4], ids=TensorProto.DataType.Name)
def test_types_that_acl_has_no_description_for_are_refused_with_a_sentence(tmp_path, kind):
    done = atc_over(tmp_path, "net", network(
        [helper.make_node("Identity", ["x"], ["y"])], [("x", kind, [4])], [("y", kind, [4])],
        opset=21))
    assert done.returncode != 0
    assert f"ONNX data type {kind}" in done.stderr
    assert "AscendCL has no description for it" in done.stderr
