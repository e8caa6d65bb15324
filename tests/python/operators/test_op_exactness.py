# SPDX-License-Identifier: Apache-2.0
"""Every operator of the table on values that its first case does not have: in float16 within one
unit in the last place of float32's result, in int8 exactly, empty, in pieces of larger memory;
those that work element by element at the ends of float32 and with broadcast shapes too.
Infinities, NaN, zeros and denormal numbers for all of them: test_op_extremes.py."""
import glob
import math
import re

import numpy as np
import pytest
import single_op
import test_op_names
import test_op_names_mindspore
import test_op_names_special
import test_op_names_training
from build_tree import ROOT
from single_op import Refused

import acl

F, H, I8, I32 = np.float32, np.float16, np.int8, np.int32
pytestmark = pytest.mark.usefixtures("runtime")
CASES = {name: (module, name) for module in (test_op_names, test_op_names_special)
         for name in module.CASES}
NAMES = sorted(CASES)


def of_type(arrays, before, after):
    return [x.astype(after) if x is not None and x.dtype in before else x for x in arrays]


def case_of(name):
    module, key = CASES[name]
    inputs, outputs, attrs, const, in_formats, out_formats = module.case_of(key)
    arrays = [None if x is None else np.asarray(x) for x in inputs], list(map(np.asarray, outputs))
    inputs, outputs = (of_type(x, (np.float64,), F) for x in arrays)
    return inputs, outputs, attrs, const, in_formats, out_formats


def run(name, inputs, outputs, attrs, const, in_formats, out_formats):
    return single_op.run(name.partition("/")[0], inputs, [np.zeros_like(x) for x in outputs], attrs,
                         const, in_formats, out_formats)


def ulps(a, b):
    """How many float16 numbers lie between the elements of two arrays; NaN is NaN."""
    def places(x):
        bits = x.view(np.int16).astype(np.int64)
        return np.where(bits < 0, -(bits & 0x7FFF), bits)

    both_nan = np.isnan(a) & np.isnan(b)
    return np.where(both_nan, 0, np.abs(places(a) - places(b))).max(initial=0)


def half_differs(a, b):
    """Whether results in float16 are more than a unit of the last place from those in float32;
    results of other types must be equal."""
    if (a.dtype, b.dtype) != (H, F):
        return not np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    with np.errstate(over="ignore"):
        return ulps(a, b.astype(H)) > 1


# Names that refuse float16, as their definitions do.
NO_HALF = {"NonMaxSuppressionV6"}
# Outputs that stay float32 beside float16 tensors.
WIDE_OUTPUTS = {"RmsNorm": {1}}


def has_floats(name):
    return any(x is not None and x.dtype == F for x in case_of(name)[0])


@pytest.mark.parametrize("name", [n for n in NAMES if has_floats(n)])
def test_float16_is_within_one_unit_of_the_last_place(name):
    inputs, outputs, *rest = case_of(name)
    half = of_type(inputs, (F,), H)
    stays = WIDE_OUTPUTS.get(name, set())
    narrow = [x if i in stays or x.dtype != F else x.astype(H) for i, x in enumerate(outputs)]
    if name in NO_HALF:
        with pytest.raises(Refused, match="float16"):
            run(name, half, narrow, *rest)
        return
    got = run(name, half, narrow, *rest)
    want = run(name, of_type(half, (H,), F), outputs, *rest)
    for a, b in zip(got, want, strict=True):
        if a.dtype == H and b.dtype == F:
            with np.errstate(over="ignore"):
                assert ulps(a, b.astype(H)) <= 1, (a, b)
        else:
            np.testing.assert_array_equal(a, b)


def in_whole_numbers(name, dtype):
    """The case with small whole numbers in place of its data; None when it has none to replace."""
    inputs, outputs, attrs, const, *formats = case_of(name)
    if not inputs or inputs[0] is None or inputs[0].dtype not in (F, I32):
        return None
    first, factor = inputs[0].dtype, 3 if inputs[0].dtype == F else 1
    made = [np.nan_to_num(np.clip(np.rint(x.astype(np.float64) * factor), -100, 100)).astype(dtype)
            if x is not None and x.dtype == first and i not in const else x
            for i, x in enumerate(inputs)]
    out = [x.astype(dtype) if x.dtype == first else x for x in outputs]
    return made, out, attrs, const, *formats


# Names that take int8 and not int32: products by int8 kernels and pools; compared with float32.
AGAINST_FLOAT = {"Conv2D", "Conv3D", "DepthwiseConv2D", "MaxPool", "MaxPoolV2", "MaxPoolV3"}


def test_int8_is_exact():
    """The low byte of what int32 gives, for every name that takes both."""
    taken = set()
    for name in NAMES:
        case = in_whole_numbers(name, I8)
        if case is None:
            continue
        inputs, outputs, *rest = case
        wide_type = F if name in AGAINST_FLOAT else I32
        if name.startswith(("Conv", "Depthwise")):
            outputs = [x.astype(I32) for x in outputs]
        try:
            got = run(name, inputs, outputs, *rest)
        except Refused as refused:
            assert refused.message, name
            continue
        wide = in_whole_numbers(name, wide_type)
        want = run(name, *wide[:2], *rest)
        for a, b in zip(got, want, strict=True):
            if a.dtype != b.dtype:
                b = b.astype(np.int64).astype(a.dtype)
            np.testing.assert_array_equal(a, b, err_msg=name)
        taken.add(name)
    assert len(taken) > 180 and taken > AGAINST_FLOAT


@pytest.mark.parametrize("name", NAMES)
def test_empty_tensors_give_empty_ones_or_a_sentence(name):
    inputs, outputs, attrs, const, *formats = case_of(name)
    extent = outputs[0].shape[0] if outputs and outputs[0].ndim else 1

    def emptied(x):
        return x[:0] if x is not None and x.ndim and x.shape[0] == extent else x

    try:
        got = run(name, [x if i in const else emptied(x) for i, x in enumerate(inputs)],
                  [emptied(x) for x in outputs], attrs, const, *formats)
    except Refused as refused:
        assert len(refused.message.strip()) > 40
        return
    for a, b in zip(got, outputs, strict=True):
        assert a.ndim == b.ndim and a.size <= b.size


@pytest.mark.parametrize("name", NAMES)
def test_tensors_in_the_middle_of_larger_memory_give_the_same(name, monkeypatch):
    """Programs cut tensors out of one allocation, on any address that fits the type."""
    inputs, outputs, *rest = case_of(name)
    want = run(name, inputs, outputs, *rest)
    malloc, free, starts = acl.rt.malloc, acl.rt.free, {}

    def shifted(size, policy):
        address, ret = malloc(size + 64, policy)
        starts[address + 16] = address
        return address + 16, ret

    monkeypatch.setattr(acl.rt, "malloc", shifted)
    monkeypatch.setattr(acl.rt, "free", lambda address: free(starts.pop(address)))
    for a, b in zip(run(name, inputs, outputs, *rest), want, strict=True):
        np.testing.assert_array_equal(a, b)


EXTREME = np.array([0, -0.0, np.inf, -np.inf, np.nan, 3.4e38, -3.4e38, 1.2e-38, 1e-45, -1e-45, 1,
                    -1, 65504, -65504, 1e-7, -1e-7, 88.7, -88.7, 0.5, 1e30], F)
NAN_BECOMES_ZERO = {"SoftShrink"}  # it lies on neither side of the threshold, as ONNX has it
UNARY = {name: case for name, case in test_op_names.CASES.items()
         if isinstance(case, test_op_names.Unary) and case[0][0].dtype == F}


def close(got, want, name):
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want), err_msg=name)
    np.testing.assert_allclose(got, want, rtol=2e-5, atol=1e-37, err_msg=name)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", sorted(UNARY))
def test_extreme_values_of_one_tensor(name):
    x = EXTREME[~np.isnan(EXTREME)] if name in NAN_BECOMES_ZERO else EXTREME
    want = np.asarray(UNARY[name].function(x.astype(np.float64)))
    want = want.astype(F) if want.dtype == np.float64 else want
    got, = single_op.run(name, [x], [np.zeros_like(want)])
    if want.dtype == F:
        close(got, want, name)
    else:
        np.testing.assert_array_equal(got, want)


def test_erfc_keeps_its_digits_where_erf_is_near_one():
    x = np.linspace(-9, 9, 721, dtype=F)
    want = np.array([math.erfc(v) for v in x], F)
    got, = single_op.run("Erfc", [x], [np.zeros_like(x)])
    np.testing.assert_allclose(got, want, rtol=2e-5, atol=1e-37)


BINARY = {"Add": np.add, "AddV2": np.add, "Sub": np.subtract, "Mul": np.multiply,
          "Div": np.divide, "RealDiv": np.divide, "Maximum": np.maximum, "Minimum": np.minimum,
          "Equal": np.equal, "NotEqual": np.not_equal, "Greater": np.greater,
          "GreaterEqual": np.greater_equal, "Less": np.less, "LessEqual": np.less_equal,
          "SquaredDifference": lambda a, b: np.square(a - b), "Pow": np.power}
SHAPES = [((3, 1), (1, 5)), ((), (4,)), ((2, 3, 4), (4,)), ((2, 1, 4), (3, 1)), ((0, 3), (3,)),
          ((1,), (0,)), ((7, 1, 3), (1, 5, 1)), ((1, 1, 1), (2,))]


@pytest.mark.parametrize("name", sorted(BINARY))
def test_broadcast_shapes_of_two_tensors(name):
    rng = np.random.default_rng(5)
    for one, two in SHAPES:
        a, b = (np.asarray(rng.uniform(0.5, 4, shape), F) for shape in (one, two))
        want = BINARY[name](a, b)
        for x, y in ((a, b), (b, a)):
            want = BINARY[name](x, y)
            got, = single_op.run(name, [x, y], [np.zeros_like(want)])
            np.testing.assert_allclose(got, want, rtol=1e-6, err_msg=f"{one} {two}")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", sorted(set(BINARY) - {"Pow"}))
def test_extreme_values_of_two_tensors(name):
    a, b = np.meshgrid(EXTREME, EXTREME)
    want = BINARY[name](a, b)
    got, = single_op.run(name, [a, b], [np.zeros_like(want)])
    np.testing.assert_array_equal(got, want)


def kernels_of_operators():
    """{operator: kernels} of docs/ops.md."""
    with open(f"{ROOT}/docs/ops.md") as file:
        rows = re.findall(r"^\| (\w+) \| [\d, ]+ \|(.*)\|$", file.read(), re.M)
    return {name: set(re.findall(r"\w+", cells)) for name, cells in rows}


def test_every_faster_kernel_is_compared_with_the_plain_one():
    """An operator with more than one kernel has a case in the C++ tests, which run them all."""
    text = "".join(open(path).read() for path in glob.glob(f"{ROOT}/src/ops/**/*_test.cpp",
                                                            recursive=True))
    compared = set(re.findall(r'"(\w+) (?:\w+=\S+ ?)+|Case(?: \w+)?\{"(\w+)"\}', text))
    compared = {name for names in compared for name in names}
    several = {name for name, kernels in kernels_of_operators().items() if len(kernels) > 1}
    assert len(several) > 15
    assert several - compared == set()


def test_every_name_of_the_table_is_among_the_cases():
    with open(f"{ROOT}/docs/operator_names.md") as file:
        names = set(re.findall(r"^\| (\w+) \|", file.read(), re.M)) - {"name"}
    rest = names - {name.partition("/")[0] for name in NAMES}
    assert rest <= (test_op_names_special.ALONE | test_op_names_training.names()
                    | test_op_names_mindspore.names())
