# SPDX-License-Identifier: Apache-2.0
"""Integers at the ends of 64 bits, and beyond what a double can hold: every one is exact, as data,
as a parameter and behind the importer."""

import numpy as np
import pytest
from model_datasets import Model, convert
from onnx import TensorProto, helper, numpy_helper
from onnx_models import network

pytestmark = pytest.mark.usefixtures("runtime")

LOWEST, HIGHEST = -(2**63), 2**63 - 1
ODD = 2**53 + 1  # the first integer that no double is
ENDS = np.array([LOWEST, LOWEST + 1, -ODD, -1, 0, 1, ODD, ODD + 2, HIGHEST - 1, HIGHEST], np.int64)
OTHER = np.array([HIGHEST, 1, 3, HIGHEST, ODD, -1, 2, ODD, HIGHEST, LOWEST + 1], np.int64)


def typed(names, arrays):
    return [(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
            for name, array in zip(names, arrays)]


def check(folder, node, feeds, wanted, constants=None, opset=18):
    """Runs a node; constants: the inputs that the model holds itself."""
    constants = {name: np.asarray(value) for name, value in (constants or {}).items()}
    names = [name for name in node.input if name and name not in constants]
    weights = [numpy_helper.from_array(value, name) for name, value in constants.items()]
    net = network([node], typed(names, feeds), typed(node.output, wanted), weights, opset=opset)
    model = Model(convert(folder, "net", net))
    model.run(*feeds)
    for index, want in enumerate(wanted):
        np.testing.assert_array_equal(model.read(index, want.shape, want.dtype), want)
    model.close()


def wrapped(values):
    """Python integers as int64, the rest of the bits cut off."""
    return np.array([(int(v) - LOWEST) % 2**64 + LOWEST for v in np.ravel(np.array(values,
                                                                                   object))],
                    np.int64)


BINARY = {
    "Add": lambda a, b: wrapped([int(x) + int(y) for x, y in zip(a, b)]),
    "Sub": lambda a, b: wrapped([int(x) - int(y) for x, y in zip(a, b)]),
    "Mul": lambda a, b: wrapped([int(x) * int(y) for x, y in zip(a, b)]),
    "Max": np.maximum, "Min": np.minimum,
    "Equal": np.equal, "Less": np.less, "Greater": np.greater,
    "LessOrEqual": np.less_equal, "GreaterOrEqual": np.greater_equal,
    "BitwiseAnd": np.bitwise_and, "BitwiseXor": np.bitwise_xor,
    "Mod": np.mod,
}


@pytest.mark.parametrize("name", BINARY)
def test_two_operands(tmp_path, name):
    divisor = np.where(OTHER == 0, 7, OTHER)
    want = BINARY[name](ENDS, divisor)
    check(tmp_path, helper.make_node(name, ["a", "b"], ["y"]), [ENDS, divisor], [want])


def test_division_truncates_towards_zero(tmp_path):
    want = wrapped([abs(int(a)) // abs(int(b)) * (1 if (a < 0) == (b < 0) else -1)
                    for a, b in zip(ENDS, OTHER)])
    check(tmp_path, helper.make_node("Div", ["a", "b"], ["y"]), [ENDS, OTHER], [want])


def test_the_remainder_of_c_has_the_sign_of_the_dividend(tmp_path):
    want = wrapped([abs(int(a)) % abs(int(b)) * (-1 if a < 0 else 1) for a, b in zip(ENDS, OTHER)])
    check(tmp_path, helper.make_node("Mod", ["a", "b"], ["y"], fmod=1), [ENDS, OTHER], [want])


def test_the_lowest_divided_by_minus_one_ends_no_process(tmp_path):
    a, b = np.array([LOWEST, LOWEST], np.int64), np.array([-1, -1], np.int64)
    for name in ("Div", "Mod"):
        net = network([helper.make_node(name, ["a", "b"], ["y"])], typed("ab", [a, b]),
                      typed("y", [a]))
        model = Model(convert(tmp_path, name, net))
        model.run(a, b)
        model.close()


@pytest.mark.parametrize("exponent", [0, 1, 2, 3])
def test_powers_of_integers_are_integers(tmp_path, exponent):
    base = np.array([3037000499, -ODD, 2097151, -2097152, 7], np.int64)
    power = np.full(base.shape, exponent, np.int64)
    want = wrapped([int(v) ** exponent for v in base])
    check(tmp_path, helper.make_node("Pow", ["a", "b"], ["y"]), [base, power], [want])


@pytest.mark.parametrize("name", ["Abs", "Neg", "Sign", "Identity", "BitwiseNot"])
def test_one_operand(tmp_path, name):
    rule = {"Abs": lambda v: abs(v), "Neg": lambda v: -v, "Sign": lambda v: (v > 0) - (v < 0),
            "Identity": lambda v: v, "BitwiseNot": lambda v: ~v}[name]
    check(tmp_path, helper.make_node(name, ["x"], ["y"]), [ENDS],
          [wrapped([rule(int(v)) for v in ENDS])])


def test_clip_keeps_what_lies_between(tmp_path):
    low, high = np.array(-ODD, np.int64), np.array(HIGHEST - 1, np.int64)
    node = helper.make_node("Clip", ["x", "low", "high"], ["y"])
    check(tmp_path, node, [ENDS], [np.clip(ENDS, low, high)], {"low": low, "high": high})


@pytest.mark.parametrize("name", ["ReduceMax", "ReduceMin", "ReduceSum", "ReduceProd", "ReduceL1",
                                  "ReduceSumSquare"])
def test_reductions(tmp_path, name):
    x = np.array([[ODD, 1, -3], [HIGHEST, -5, 7], [LOWEST, 2, 2]], np.int64)
    ints = [[int(v) for v in row] for row in x]
    rule = {"ReduceMax": max, "ReduceMin": min, "ReduceSum": sum,
            "ReduceProd": lambda r: r[0] * r[1] * r[2], "ReduceL1": lambda r: sum(map(abs, r)),
            "ReduceSumSquare": lambda r: sum(v * v for v in r)}[name]
    want = wrapped([rule(row) for row in ints]).reshape(3, 1)
    axes = {"axes": np.array([1], np.int64)}
    check(tmp_path, helper.make_node(name, ["x", "axes"], ["y"]), [x], [want], axes)


@pytest.mark.parametrize("name,want", [("ArgMax", 7), ("ArgMin", 1)])
def test_places_of_the_ends(tmp_path, name, want):
    x = np.array([ODD - 1, LOWEST, ODD, ODD + 1, LOWEST + 1, HIGHEST - 1, HIGHEST - 2, HIGHEST],
                 np.int64)
    node = helper.make_node(name, ["x"], ["y"], axis=0, keepdims=0)
    check(tmp_path, node, [x], [np.array(want, np.int64)])


@pytest.mark.parametrize("largest", [0, 1])
def test_top_k_tells_neighbours_apart(tmp_path, largest):
    x = np.array([ODD, ODD - 1, ODD + 1, HIGHEST, HIGHEST - 1, LOWEST, LOWEST + 1], np.int64)
    order = np.argsort(x, kind="stable")
    order = (order[::-1] if largest else order)[:4].astype(np.int64)
    node = helper.make_node("TopK", ["x", "k"], ["v", "i"], largest=largest)
    check(tmp_path, node, [x], [x[order], order], {"k": np.array([4], np.int64)})


def test_unique_tells_neighbours_apart(tmp_path):
    x = np.array([HIGHEST, ODD, ODD - 1, ODD, HIGHEST - 1, HIGHEST], np.int64)
    check(tmp_path, helper.make_node("Unique", ["x"], ["y"]), [x], [np.unique(x)])


def test_sums_that_run(tmp_path):
    x = np.array([HIGHEST - 5, 2, 3, LOWEST, ODD], np.int64)
    node = helper.make_node("CumSum", ["x", "axis"], ["y"])
    check(tmp_path, node, [x], [wrapped(np.cumsum(x.astype(object)))],
          {"axis": np.array(0, np.int64)})


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int32, np.uint32, np.uint64, np.int8,
                                  np.bool_])
def test_casts_round_once_and_keep_the_low_bits(tmp_path, kind):
    # In a float32 the last two round differently when they become a double first.
    x = np.append(ENDS, np.array([2**60 + 2**36 + 1, -(2**60) - 2**36 - 1], np.int64))
    to = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
    node = helper.make_node("Cast", ["x"], ["y"], to=to)
    check(tmp_path, node, [x], [x.astype(kind)])


def test_unsigned_integers_become_floats_in_one_step(tmp_path):
    x = np.array([2**64 - 1, 2**63, 2**60 + 2**36 + 1, ODD], np.uint64)
    for kind in (np.float32, np.float64):
        to = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
        check(tmp_path, helper.make_node("Cast", ["x"], ["y"], to=to), [x], [x.astype(kind)])


@pytest.mark.parametrize("start,limit,delta", [
    (HIGHEST - 3, HIGHEST, 1), (LOWEST, LOWEST + 5, 2), (ODD, ODD + 3, 1),
    (LOWEST, HIGHEST, 2**62), (HIGHEST, LOWEST, -(2**62)), (5, 5, 1), (5, 9, -1)])
def test_ranges_count_in_whole_numbers(tmp_path, start, limit, delta):
    node = helper.make_node("Range", ["start", "limit", "delta"], ["y"])
    given = {"start": np.array(start, np.int64), "limit": np.array(limit, np.int64),
             "delta": np.array(delta, np.int64)}
    check(tmp_path, node, [], [np.array(list(range(start, limit, delta)), np.int64)], given)


@pytest.mark.parametrize("reduction", ["none", "add", "max", "min", "mul"])
def test_scattered_values(tmp_path, reduction):
    data = np.array([ODD, HIGHEST, 5], np.int64)
    indices, updates = np.array([0, 1], np.int64), np.array([2, LOWEST + 1], np.int64)
    rule = {"none": lambda a, b: b, "add": lambda a, b: a + b, "max": max, "min": min,
            "mul": lambda a, b: a * b}[reduction]
    want = [rule(int(data[i]), int(u)) for i, u in zip(indices, updates)] + [5]
    node = helper.make_node("ScatterElements", ["d", "i", "u"], ["y"], reduction=reduction)
    check(tmp_path, node, [data, indices, updates], [wrapped(want)])


def test_values_that_fill(tmp_path):
    value = np.array([HIGHEST], np.int64)
    shape = {"s": np.array([3], np.int64)}
    check(tmp_path, helper.make_node("ConstantOfShape", ["s"], ["y"],
                                     value=numpy_helper.from_array(value)),
          [], [np.full(3, HIGHEST, np.int64)], shape)
    pads = {"p": np.array([1, 2], np.int64), "v": np.array(ODD, np.int64)}
    check(tmp_path, helper.make_node("Pad", ["x", "p", "v"], ["y"]), [ENDS],
          [np.pad(ENDS, (1, 2), constant_values=ODD)], pads)
    hot = {"depth": np.array(3, np.int64), "values": np.array([LOWEST, ODD], np.int64)}
    check(tmp_path, helper.make_node("OneHot", ["x", "depth", "values"], ["y"]),
          [np.array([2, 0], np.int64)],
          [np.array([[LOWEST, LOWEST, ODD], [ODD, LOWEST, LOWEST]], np.int64)], hot)


@pytest.mark.parametrize("upper", [0, 1])
@pytest.mark.parametrize("k", [LOWEST, LOWEST + 1, -1, 0, 2, HIGHEST])
def test_triangles_of_any_diagonal(tmp_path, upper, k):
    x = np.arange(1, 13, dtype=np.int64).reshape(3, 4)
    near = max(-5, min(5, k))
    want = np.triu(x, near) if upper else np.tril(x, near)
    node = helper.make_node("Trilu", ["x", "k"], ["y"], upper=upper)
    check(tmp_path, node, [x], [want], {"k": np.array(k, np.int64)})


@pytest.mark.parametrize("alpha,beta", [(1.0, 1.0), (3.0, -1.0), (-2.0, 0.0)])
def test_products_of_matrices(tmp_path, alpha, beta):
    a, b = np.array([[ODD, 1], [HIGHEST, -1]], np.int64), np.array([[3, -1], [5, 2]], np.int64)
    c = np.array([[HIGHEST, 7], [LOWEST, ODD]], np.int64)
    product = a.astype(object) @ b.astype(object)
    want = wrapped(int(alpha) * product + int(beta) * c.astype(object)).reshape(2, 2)
    node = helper.make_node("Gemm", ["a", "b", "c"], ["y"], alpha=alpha, beta=beta)
    check(tmp_path, node, [a, b, c], [want])
    check(tmp_path, helper.make_node("MatMul", ["a", "b"], ["y"]), [a, b],
          [wrapped(product).reshape(2, 2)])
    check(tmp_path, helper.make_node("Einsum", ["a", "b"], ["y"], equation="ij,jk->ik"), [a, b],
          [wrapped(product).reshape(2, 2)])


def test_slices_may_end_anywhere(tmp_path):
    node = helper.make_node("Slice", ["x", "starts", "ends", "axes", "steps"], ["y"])
    for start, end, step in [(0, HIGHEST, 1), (LOWEST, HIGHEST, 3), (HIGHEST, LOWEST, -1),
                             (-1, LOWEST, -4), (2, HIGHEST, HIGHEST)]:
        want = ENDS[slice(max(start, -99) if start < 0 else min(start, 99),
                          None if end in (LOWEST, HIGHEST) else end, step)]
        given = {n: np.array([v], np.int64)
                 for n, v in (("starts", start), ("ends", end), ("axes", 0), ("steps", step))}
        check(tmp_path, node, [ENDS], [want], given)


BOXES = np.array([[[0, 0, 1, 1], [0, 2, 1, 3], [0, 4, 1, 5], [0, 0.01, 1, 1]]], np.float32)
SCORES = np.array([[[0.9, 0.7, 0.8, 0.6]]], np.float32)


@pytest.mark.parametrize("most,kept", [(HIGHEST, 3), (HIGHEST - 1, 3), (2**53 + 1, 3), (2, 2),
                                       (0, 0), (-1, 0), (LOWEST, 0)])
@pytest.mark.parametrize("at_run_time", [False, True])
def test_non_max_suppression_keeps_as_many_boxes_as_it_is_told(tmp_path, most, kept, at_run_time):
    node = helper.make_node("NonMaxSuppression", ["b", "s", "most", "iou"], ["y"])
    iou = numpy_helper.from_array(np.array([0.5], np.float32), "iou")
    value = np.array([most], np.int64)
    inputs = typed("bs", [BOXES, SCORES])
    weights = [iou]
    feeds = [BOXES, SCORES]
    if at_run_time:
        inputs += typed(["most"], [value])
        feeds.append(value)
    else:
        weights.append(numpy_helper.from_array(value, "most"))
    net = network([node], inputs, [("y", TensorProto.INT64, ["n", 3])], weights)
    model = Model(convert(tmp_path, "net", net), output_sizes=[24 * 4])
    model.run(*feeds)
    want = np.array([[0, 0, 0], [0, 0, 2], [0, 0, 1]], np.int64)[:kept]
    np.testing.assert_array_equal(model.read(0, (kept, 3), np.int64), want)
    model.close()
