# SPDX-License-Identifier: Apache-2.0
"""Microscaling formats in models: FLOAT4E2M1, FLOAT6E2M3, FLOAT6E3M2 and the scale FLOAT8E8M0.

The numbers of the codes come from the definition of each type; rounding is checked against the
nearest of them.
"""
import numpy as np
import pytest
from model_datasets import Model, atc_over, convert
from onnx import TensorProto, helper, numpy_helper
from onnx_models import network

import acl

E2M1, E8M0, E2M3, E3M2 = 23, 24, 27, 28  # TensorProto.DataType
NAMES = {E2M1: "E2M1", E8M0: "E8M0", E2M3: "E2M3", E3M2: "E3M2"}
ACL_TYPE = {E8M0: 37, E3M2: 38, E2M3: 39, E2M1: 40}
BITS = {E2M1: 4, E8M0: 8, E2M3: 6, E3M2: 6}
NUMPY = {TensorProto.FLOAT: np.float32, TensorProto.FLOAT16: np.float16,
         TensorProto.DOUBLE: np.float64, TensorProto.INT32: np.int32, TensorProto.INT64: np.int64,
         TensorProto.UINT8: np.uint8, TensorProto.BOOL: np.bool_, TensorProto.BFLOAT16: np.uint16}
ELEMENTS = [E2M1, E2M3, E3M2]

pytestmark = pytest.mark.usefixtures("runtime")


def defined_numbers(bits, mantissa, bias):
    codes = np.arange(1 << bits)
    low, exponent = codes & ((1 << mantissa) - 1), (codes & ((1 << (bits - 1)) - 1)) >> mantissa
    size = np.where(exponent == 0, np.ldexp(low, 1 - bias - mantissa),
                    np.ldexp(low + (1 << mantissa), exponent - bias - mantissa))
    return np.where(codes >> (bits - 1), -size, size)


NUMBERS = {E2M1: defined_numbers(4, 1, 1), E2M3: defined_numbers(6, 3, 1),
           E3M2: defined_numbers(6, 2, 3),
           E8M0: np.append(np.ldexp(1.0, np.arange(255) - 127), np.nan)}


def nearest(values, kind):
    """Codes of the numbers next to `values`, halves to the even code; NaN becomes a zero."""
    values = np.asarray(values, np.float64)
    table = NUMBERS[kind][:len(NUMBERS[kind]) // 2]
    size = np.where(np.isnan(values), 0, np.minimum(np.abs(values), table[-1]))
    high = np.clip(np.searchsorted(table, size), 1, len(table) - 1)
    below, above = size - table[high - 1], table[high] - size
    code = np.where((below < above) | ((below == above) & ((high - 1) % 2 == 0)), high - 1, high)
    negative = np.signbit(values) ^ np.isnan(values)
    return (code + np.where(negative, len(table), 0)).astype(np.uint8)


def pack(codes, kind):
    """The first element in the lowest bits of the first byte."""
    bits = np.unpackbits(np.ravel(codes).astype(np.uint8)[:, None], axis=1,
                         bitorder="little")[:, :BITS[kind]]
    return np.packbits(bits.ravel(), bitorder="little")


def tensor(name, kind, codes):
    return TensorProto(name=name, data_type=kind, dims=np.shape(codes),
                       raw_data=pack(codes, kind).tobytes())


def integers(name, *values):
    return numpy_helper.from_array(np.array(values, np.int64), name)


def network_of(nodes, feeds, outputs, weights=()):
    return network(nodes, [(name, kind, np.shape(array)) for name, kind, array in feeds], outputs,
                   weights, opset=28)


def run(folder, nodes, feeds, outputs, weights=()):
    """The bytes of each output of a small type, the elements of others. feeds: (name, type, array)
    with codes for the small ones; outputs: (name, type, shape)."""
    def stored(kind, array):
        return pack(array, kind) if kind in BITS else array

    def size(kind, shape):
        count = int(np.prod(shape))
        return -(-count * BITS[kind] // 8) if kind in BITS else count * NUMPY[kind]().itemsize

    model = Model(convert(folder, "net", network_of(nodes, feeds, outputs, weights)),
                  output_sizes=[size(kind, shape) for _, kind, shape in outputs])
    for index, (_, kind, array) in enumerate(feeds):
        if kind in BITS:
            assert acl.mdl.get_input_data_type(model.desc, index) == ACL_TYPE[kind]
        assert acl.mdl.get_input_size_by_index(model.desc, index) == stored(kind, array).nbytes
    model.run(*(stored(kind, array) for _, kind, array in feeds))
    results = []
    for index, (_, kind, shape) in enumerate(outputs):
        if kind in BITS:
            assert acl.mdl.get_output_data_type(model.desc, index) == ACL_TYPE[kind]
            results.append(model.read(index, [size(kind, shape)], np.uint8))
        else:
            results.append(model.read(index, shape, NUMPY[kind]))
    model.close()
    return results


def source_values(kind):
    """(what is fed, the numbers it stands for): codes, halves between them, their neighbours."""
    if kind in BITS:
        return np.arange(len(NUMBERS[kind]), dtype=np.uint8), NUMBERS[kind]
    if kind == TensorProto.BFLOAT16:
        bits = np.arange(65536, dtype=np.uint16)
        with np.errstate(invalid="ignore"):  # of NaNs that signal
            return bits, (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    numpy_type = NUMPY[kind]
    if numpy_type is np.bool_:
        values = np.array([True, False, True])
    elif np.issubdtype(numpy_type, np.integer):
        values = np.arange(max(np.iinfo(numpy_type).min, -50), 51).astype(numpy_type)
    else:
        exact = np.sort(np.concatenate([NUMBERS[e] for e in ELEMENTS]))
        ends = [np.inf, -np.inf, np.nan, -np.nan, np.finfo(numpy_type).max, 1e-7, -1e-7, 0.0, -0.0]
        values = np.concatenate([exact, (exact[:-1] + exact[1:]) / 2, ends]).astype(numpy_type)
        values = np.concatenate([values, np.nextafter(values, numpy_type(0)),
                                 np.nextafter(values, numpy_type(1000))])
    return values, values.astype(np.float64)


SOURCES = [*NUMPY, *BITS]


@pytest.mark.parametrize("source", SOURCES, ids=lambda kind: NAMES.get(kind) or
                         TensorProto.DataType.Name(kind))
def test_casts_round_to_the_nearest_even_code_and_saturate(tmp_path, source):
    fed, values = source_values(source)
    nodes = [helper.make_node("Cast", ["x"], [f"y{kind}"], to=kind) for kind in ELEMENTS]
    nodes += [helper.make_node("CastLike", ["x", f"like{kind}"], [f"z{kind}"], saturate=0)
              for kind in ELEMENTS]
    got = run(tmp_path, nodes, [("x", source, fed)],
              [(f"{letter}{kind}", kind, fed.shape) for letter in "yz" for kind in ELEMENTS],
              [tensor(f"like{kind}", kind, [0]) for kind in ELEMENTS])
    for actual, kind in zip(got, ELEMENTS * 2):
        np.testing.assert_array_equal(actual, pack(nearest(values, kind), kind), NAMES[kind])


@pytest.mark.parametrize("kind", BITS, ids=NAMES.get)
def test_every_code_becomes_its_number_in_other_types(tmp_path, kind):
    codes = np.arange(len(NUMBERS[kind]))
    targets = [TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.BFLOAT16,
               TensorProto.INT32, TensorProto.BOOL]
    nodes = [helper.make_node("Cast", [source], [f"{source}{i}"], to=target)
             for source in "xw" for i, target in enumerate(targets)]
    listed = TensorProto(name="l", data_type=kind, dims=codes.shape)
    listed.int32_data.extend(codes.tolist() if BITS[kind] != 4 else pack(codes, kind).tolist())
    nodes.append(helper.make_node("Cast", ["l"], ["l0"], to=TensorProto.FLOAT))
    got = run(tmp_path, nodes, [("x", kind, codes)],
              [(f"{source}{i}", target, codes.shape) for source in "xw"
               for i, target in enumerate(targets)] + [("l0", TensorProto.FLOAT, codes.shape)],
              [tensor("w", kind, codes), listed])
    numbers = NUMBERS[kind]
    np.testing.assert_array_equal(got[-1], numbers.astype(np.float32))
    small = np.abs(numbers) < 2**31  # what an int32 holds
    for side in (got[:6], got[6:12]):
        with np.errstate(over="ignore"):
            for actual, numpy_type in zip(side, (np.float32, np.float64, np.float16)):
                np.testing.assert_array_equal(actual, numbers.astype(numpy_type))
        np.testing.assert_array_equal((side[3].astype(np.uint32) << 16).view(np.float32),
                                      numbers.astype(np.float32))
        np.testing.assert_array_equal(side[4][small], numbers[small].astype(np.int32))
        np.testing.assert_array_equal(side[5], numbers != 0)


def scale_codes(values, saturate, mode):
    """What ONNX's table says; the magnitude of negative numbers."""
    size = np.abs(np.asarray(values, np.float64))
    fraction, exponent = np.frexp(size)  # size = fraction * 2**exponent, 0.5 <= fraction < 1
    code = exponent - 1 + 127
    code += {"up": fraction > 0.5, "nearest": fraction >= 0.75, "down": False}[mode]
    code = np.where(np.isinf(size) | (code > 254), 254 if saturate else 255, code)
    rounds_in = saturate | ((mode == "up") & (size > 0))
    code = np.where(size < 2.0 ** -127, np.where(rounds_in, 0, 255), code)
    return np.where(np.isnan(size), 255, code).astype(np.uint8)


@pytest.mark.parametrize("source", [TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE,
                                    TensorProto.BFLOAT16, TensorProto.INT32, E3M2],
                         ids=lambda kind: NAMES.get(kind) or TensorProto.DataType.Name(kind))
def test_casts_to_scales_round_as_asked(tmp_path, source):
    fed, values = source_values(source)
    if source in (TensorProto.FLOAT, TensorProto.DOUBLE):
        more = np.ldexp([1, 1.25, 1.5, 1.75], np.arange(-133, 128, 5)[:, None]).ravel()
        fed = np.concatenate([fed, more.astype(fed.dtype)])
        values = fed.astype(np.float64)
    rules = [(saturate, mode) for saturate in (1, 0) for mode in ("up", "down", "nearest")]
    nodes = [helper.make_node("Cast", ["x"], [f"y{i}"], to=E8M0, saturate=saturate,
                              round_mode=mode) for i, (saturate, mode) in enumerate(rules)]
    nodes += [helper.make_node("CastLike", ["x", "like"], [f"z{i}"], saturate=saturate,
                               round_mode=mode) for i, (saturate, mode) in enumerate(rules)]
    nodes.append(helper.make_node("Cast", ["x"], ["plain"], to=E8M0))
    got = run(tmp_path, nodes, [("x", source, fed)],
              [(f"{letter}{i}", E8M0, fed.shape) for letter in "yz" for i in range(len(rules))]
              + [("plain", E8M0, fed.shape)], [tensor("like", E8M0, [0])])
    for actual, rule in zip(got, [*rules, *rules, (1, "up")]):
        np.testing.assert_array_equal(actual, scale_codes(values, *rule), str(rule))


@pytest.mark.parametrize("kind", ELEMENTS, ids=NAMES.get)
@pytest.mark.parametrize("scale_shape,attributes", [
    ((), {}), ((6,), {"axis": 1}), ((3, 2, 5), {"axis": 1, "block_size": 3})],
    ids=["per tensor", "per axis", "blocked"])
@pytest.mark.parametrize("scale_kind", [TensorProto.FLOAT, E8M0], ids=["float scale", "E8M0 scale"])
def test_quantize_and_dequantize(tmp_path, kind, scale_shape, attributes, scale_kind):
    random = np.random.default_rng(3)
    x = (random.standard_normal((3, 6, 5)) * 8).astype(np.float32)
    if scale_kind == E8M0:
        fed = random.integers(124, 131, scale_shape).astype(np.uint8)
        scale = NUMBERS[E8M0][fed].astype(np.float32)
    else:
        fed = scale = random.uniform(0.1, 4, scale_shape).astype(np.float32)
    nodes = [helper.make_node("QuantizeLinear", ["x", "s"], ["q"], output_dtype=kind,
                              **attributes),
             helper.make_node("QuantizeLinear", ["x", "s", "point"], ["p"], **attributes),
             helper.make_node("DequantizeLinear", ["q", "s", "point"], ["y"],
                              output_dtype=TensorProto.FLOAT, **attributes),
             helper.make_node("DequantizeLinear", ["q", "s"], ["h"],
                              output_dtype=TensorProto.FLOAT16, **attributes)]
    q, p, y, h = run(tmp_path, nodes, [("x", TensorProto.FLOAT, x), ("s", scale_kind, fed)],
                     [("q", kind, x.shape), ("p", kind, x.shape),
                      ("y", TensorProto.FLOAT, x.shape), ("h", TensorProto.FLOAT16, x.shape)],
                     [tensor("point", kind, np.zeros(scale_shape))])
    wide = scale
    if scale.ndim == 1:
        wide = scale.reshape(1, 6, 1)
    elif scale.ndim == 3:
        wide = np.repeat(scale, 3, axis=1)
    codes = nearest(x / wide, kind)
    np.testing.assert_array_equal(q, pack(codes, kind))
    np.testing.assert_array_equal(p, q)
    want = NUMBERS[kind][codes] * wide.astype(np.float64)
    np.testing.assert_array_equal(y, want.astype(np.float32))
    np.testing.assert_array_equal(h, want.astype(np.float16))


def test_the_division_of_quantize_has_the_precision_asked_for(tmp_path):
    x = np.arange(1, 2000).astype(np.float32) * 0.25
    scale = np.array(0.37, np.float32)
    nodes = [helper.make_node("QuantizeLinear", ["x", "s"], [name], output_dtype=TensorProto.UINT8,
                              **attributes)
             for name, attributes in (("plain", {}), ("half", {"precision": TensorProto.FLOAT16}))]
    nodes.append(helper.make_node("Cast", ["s"], ["t"], to=TensorProto.FLOAT16))
    nodes.append(helper.make_node("QuantizeLinear", ["x", "t"], ["like"]))
    plain, half, like = run(tmp_path, nodes, [("x", TensorProto.FLOAT, x),
                                              ("s", TensorProto.FLOAT, scale)],
                            [(name, TensorProto.UINT8, x.shape)
                             for name in ("plain", "half", "like")])
    short = x.astype(np.float16) / scale.astype(np.float16)
    np.testing.assert_array_equal(plain, np.clip(np.rint(x / scale), 0, 255))
    np.testing.assert_array_equal(half, np.clip(np.rint(short), 0, 255))
    np.testing.assert_array_equal(like, half)
    assert (plain != half).any()


def body(name, nodes, inputs, outputs):
    return helper.make_graph(nodes, name,
                             [helper.make_tensor_value_info(*value) for value in inputs],
                             [helper.make_tensor_value_info(*value) for value in outputs])


@pytest.mark.parametrize("kind", [E2M1, E8M0], ids=NAMES.get)
def test_operators_that_move_elements_keep_every_code(tmp_path, kind):
    x = np.random.default_rng(5).integers(0, 1 << BITS[kind], (5, 3, 7))
    inner = body("inner", [helper.make_node("Identity", ["go"], ["on"]),
                           helper.make_node("Transpose", ["v"], ["t"], perm=[2, 1, 0]),
                           helper.make_node("Identity", ["v"], ["row"])],
                 [("i", TensorProto.INT64, []), ("go", TensorProto.BOOL, []),
                  ("v", kind, [5, 3, 5])],
                 [("on", TensorProto.BOOL, []), ("t", kind, [5, 3, 5]), ("row", kind, [5, 3, 5])])
    step = body("step", [helper.make_node("Identity", ["s"], ["o"]),
                         helper.make_node("Identity", ["a"], ["b"])],
                [("a", kind, [3]), ("s", kind, [5, 7])], [("b", kind, [3]), ("o", kind, [5, 7])])
    then = body("then", [helper.make_node("Identity", ["x"], ["t"])], [], [("t", kind, x.shape)])
    other = body("else", [helper.make_node("Identity", ["w"], ["e"])], [], [("e", kind, x.shape)])
    square = x[:, :, :5]
    turned = square.transpose(2, 1, 0)
    edges = [(1, 0), (0, 1), (2, 1)]
    rows = [
        (("Identity", ["x"], {}), x), (("Reshape", ["x", "shape"], {}), x.reshape(15, 7)),
        (("Flatten", ["x"], {}), x.reshape(5, 21)),
        (("Unsqueeze", ["x", "one"], {}), x[:, None]), (("Squeeze", ["thin"], {}), x[0, 0]),
        (("Transpose", ["x"], {}), x.T), (("Constant", [], {"value": tensor("c", kind, x)}), x),
        (("Pad", ["x", "pads", "fill"], {}), np.pad(x, edges, constant_values=5)),
        (("Pad", ["x", "pads"], {"mode": "edge"}), np.pad(x, edges, "edge")),
        (("If", ["go"], {"then_branch": then, "else_branch": other}), x[::-1]),
        (("ConstantOfShape", ["odd"], {"value": tensor("v", kind, [3])}), np.full((3, 5), 3)),
    ]
    nodes, outputs = [], []
    for number, ((op, inputs, attributes), want) in enumerate(rows):
        nodes.append(helper.make_node(op, inputs, [f"y{number}"], **attributes))
        outputs.append((f"y{number}", kind, want.shape))
    nodes += [helper.make_node("Loop", ["three", "", "square"], ["last", "loop"], body=inner),
              helper.make_node("Scan", ["thin3", "x"], ["same", "scan"], body=step,
                               num_scan_inputs=1, scan_input_axes=[1]),
              helper.make_node("Shape", ["x"], ["extents"]),
              helper.make_node("Size", ["x"], ["count"])]
    outputs += [("last", kind, turned.shape), ("loop", kind, (3, *square.shape)),
                ("same", kind, [3]), ("scan", kind, [3, 5, 7]),
                ("extents", TensorProto.INT64, [3]), ("count", TensorProto.INT64, [])]
    weights = [tensor("w", kind, x[::-1]), tensor("fill", kind, 5),
               tensor("thin3", kind, [1, 2, 3]), tensor("thin", kind, x[:1, :1]),
               integers("shape", 15, 7), integers("one", 1),
               integers("pads", 1, 0, 2, 0, 1, 1), integers("odd", 3, 5),
               numpy_helper.from_array(np.array(3), "three")]
    got = run(tmp_path, nodes, [("x", kind, x), ("square", kind, square),
                                ("go", TensorProto.BOOL, np.array(False))], outputs, weights)
    wanted = [want for _, want in rows] + [turned, np.stack([square, turned, square]),
                                           np.array([1, 2, 3]), np.moveaxis(x, 1, 0)]
    for actual, want, (name, _, _) in zip(got, wanted, outputs):
        np.testing.assert_array_equal(actual, pack(want, kind), name)
    assert got[-2].tolist() == [5, 3, 7]
    assert got[-1] == x.size


def test_texts_become_small_floats(tmp_path):
    texts = ["0.3", "-5", "1e3", "-0.0", "nan", "2.5"]
    numbers = [0.3, -5, 1e3, -0.0, np.nan, 2.5]
    words = helper.make_tensor("t", TensorProto.STRING, [6], [text.encode() for text in texts])
    nodes = [helper.make_node("Cast", ["t"], [f"y{kind}"], to=kind) for kind in BITS]
    nodes.append(helper.make_node("Cast", ["t"], ["down"], to=E8M0, round_mode="down"))
    got = run(tmp_path, [*nodes, helper.make_node("Identity", ["x"], ["z"])],
              [("x", TensorProto.FLOAT, np.zeros(1, np.float32))],
              [(f"y{kind}", kind, [6]) for kind in BITS] + [("down", E8M0, [6]),
                                                            ("z", TensorProto.FLOAT, [1])],
              [words])
    for actual, kind in zip(got, BITS):
        want = scale_codes(numbers, 1, "up") if kind == E8M0 else nearest(numbers, kind)
        np.testing.assert_array_equal(actual, pack(want, kind), NAMES[kind])
    np.testing.assert_array_equal(got[4], scale_codes(numbers, 1, "down"))


def refusal(folder, *arguments):
    done = atc_over(folder, "net", network_of(*arguments))
    assert done.returncode != 0
    return done.stderr


def test_what_has_no_meaning_is_refused_with_a_sentence(tmp_path):
    x = np.zeros(4, np.float32)
    codes = np.zeros(4, np.uint8)
    node = helper.make_node("Add", ["x", "x"], ["y"], name="sum")
    text = refusal(tmp_path, [node], [("x", E2M1, codes)], [("y", E2M1, [4])])
    assert "Add 'sum'" in text and "float4_e2m1" in text
    node = helper.make_node("Cast", ["x"], ["y"], to=E8M0, round_mode="odd")
    text = refusal(tmp_path, [node], [("x", TensorProto.FLOAT, x)], [("y", E8M0, [4])])
    assert "round_mode is 'odd', expected up, down or nearest" in text
    node = helper.make_node("DequantizeLinear", ["x", "s"], ["y"])
    text = refusal(tmp_path, [node], [("x", E2M1, codes), ("s", E8M0, codes[0])],
                   [("y", TensorProto.FLOAT, [4])])
    assert "the result is float8_e8m0" in text and "output_dtype" in text
    node = helper.make_node("QuantizeLinear", ["x", "s"], ["y"], precision=TensorProto.INT8)
    text = refusal(tmp_path, [node], [("x", TensorProto.FLOAT, x), ("s", TensorProto.FLOAT, x[0])],
                   [("y", TensorProto.UINT8, [4])])
    assert "precision is int8" in text


@pytest.mark.parametrize("kind", [25, 26], ids=["UINT2", "INT2"])
def test_two_bit_integers_have_no_description_in_acl(tmp_path, kind):
    text = refusal(tmp_path, [helper.make_node("Identity", ["x"], ["y"])],
                   [("x", kind, np.zeros(4))], [("y", kind, [4])])
    assert f"ONNX data type {kind}" in text
    assert "AscendCL has no description for it" in text
