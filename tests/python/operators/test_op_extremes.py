# SPDX-License-Identifier: Apache-2.0
"""Every operator of the table on extreme values, against numpy: the cases of test_op_names.py and
test_op_names_special.py are made anew, by the same expressions, from arrays that hold infinities,
NaN, zeros of both signs, denormal numbers, large ones and the ends of the integers. And tensors
that are broadcast, by every operator of several tensors."""
import importlib.util
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
from test_op_exactness import NO_HALF, WIDE_OUTPUTS, half_differs, of_type, run

F, H, I32 = np.float32, np.float16, np.int32
pytestmark = pytest.mark.usefixtures("runtime")
MODULES = test_op_names, test_op_names_special

# What every fifth element becomes.
ROUNDS = {
    "infinities": [np.inf, -np.inf],
    "nan": [np.nan],
    "zeros": [0.0, -0.0],
    "denormal": [1e-45, -1e-45, 1.1e-38, -1.1e-38],
    "large": [65504, -65504],
    "integers": [np.iinfo(I32).min, np.iinfo(I32).max, 0, 1, -1],
}


class Drawn:
    """A random generator whose arrays hold the values of a round among others."""

    def __init__(self, seed, kind, default=np.random.default_rng):
        self.random, self.kind = default(seed), kind

    def mixed(self, array, low=None):
        flat = array.reshape(-1)
        values = [v for v in ROUNDS[self.kind] if low is None or low <= 0 or v >= low]
        flat[::5] = self.random.choice(values, flat[::5].shape)
        return array

    def standard_normal(self, shape):
        array = self.random.standard_normal(shape)
        return array if self.kind == "integers" else self.mixed(array)

    def uniform(self, low, high, shape):
        array = self.random.uniform(low, high, shape)
        return array if self.kind == "integers" else self.mixed(array)

    def integers(self, low, high, shape):
        array = self.random.integers(low, high, shape)
        return self.mixed(array, low) if self.kind == "integers" else array


def cases_of(kind):
    """The tables of the test modules with arrays of a round."""
    cases = {}
    for module in MODULES:
        spec = importlib.util.spec_from_file_location(f"{module.__name__}_{kind}", module.__file__)
        made = importlib.util.module_from_spec(spec)
        with pytest.MonkeyPatch.context() as patch, np.errstate(all="ignore"):
            patch.setattr(np.random, "default_rng", lambda seed: Drawn(seed, kind))
            spec.loader.exec_module(made)
            cases |= {name: made.case_of(name) for name in made.CASES}
    return cases


def narrow(array):
    array = None if array is None else np.asarray(array)
    return array.astype(F) if array is not None and array.dtype == np.float64 else array


def on_neither_side(inputs, want):
    """NaN lies on neither side of the threshold: 0, as ONNX defines it."""
    return [np.where(np.isnan(inputs[0]), 0, want[0])]


EXPECTED = {"SoftShrink": on_neither_side}


def names_of_table():
    """{name: the operators it becomes} of docs/operator_names.md."""
    with open(f"{ROOT}/docs/operator_names.md") as file:
        rows = re.findall(r"^\| (\w+) \| (.*) \|$", file.read(), re.M)
    return {name: set(re.split(r" \+ |, ", ours)) for name, ours in rows if name != "name"}


# Operators that change no bit of what they carry.
MOVES = {"Concat", "DepthToSpace", "Expand", "Flatten", "Gather", "GatherElements", "GatherND",
         "Identity", "Reshape", "ReverseSequence", "Shape", "Slice", "SpaceToDepth", "Split",
         "Squeeze", "Tile", "Transpose", "Unsqueeze"}


def difference(name, case, exact):
    """Where the outputs of a case differ from numpy's, or None."""
    inputs, want, *rest = case
    inputs = [narrow(x) for x in inputs]
    want = [narrow(x) for x in EXPECTED.get(name, lambda _, w: w)(inputs, want)]
    got = single_op.run(name.partition("/")[0], inputs, [np.zeros_like(x) for x in want], *rest)
    floats = [x[np.isfinite(x)] for x in inputs if x is not None and x.dtype == F]
    scale = max([1.0, *(np.abs(x).max(initial=0) for x in floats)])
    for a, b in zip(got, want, strict=True):
        if a.shape != b.shape:
            return f"shape {a.shape}, expected {b.shape}"
        if exact or b.dtype.kind != "f":
            same = (a == b) & (np.signbit(a) == np.signbit(b)) if b.dtype == F else a == b
            same |= (a != a) & (b != b)
        else:
            with np.errstate(all="ignore"):
                same = (a == b) | (np.isnan(a) & np.isnan(b)) | (
                    np.abs(a - b) <= 2e-5 * (scale + np.abs(b)))
        if not same.all():
            return f"{a[~same][:4]}, expected {b[~same][:4]}"
    return None


@pytest.mark.parametrize("kind", ROUNDS)
def test_every_operator_agrees_with_numpy_on_extreme_values(kind):
    table, wrong, moved = names_of_table(), {}, 0
    for name, case in cases_of(kind).items():
        exact = table[name.partition("/")[0]] <= MOVES
        moved += exact
        try:
            found = difference(name, case, exact)
        except Refused as refused:
            found = str(refused)
        if found:
            wrong[name] = found
    assert moved > 40
    assert not wrong, "\n".join(f"{name}: {found}" for name, found in wrong.items())


# The least numbers of float16 in place of those of float32.
HALF_ROUNDS = {**ROUNDS, "denormal": [6e-8, -6e-8, 5e-5, -5e-5]}


@pytest.mark.parametrize("kind", [k for k in ROUNDS if k != "integers"])
def test_float16_is_within_one_unit_of_the_last_place_on_extreme_values(kind, monkeypatch):
    monkeypatch.setitem(ROUNDS, kind, HALF_ROUNDS[kind])
    wrong, compared = {}, 0
    for name, (inputs, want, *rest) in cases_of(kind).items():
        inputs, want = [narrow(x) for x in inputs], [narrow(x) for x in want]
        if name in NO_HALF or not any(x is not None and x.dtype == F for x in inputs):
            continue
        with np.errstate(over="ignore"):
            half = of_type(inputs, (F,), H)
        like = [x if i in WIDE_OUTPUTS.get(name, ()) or x.dtype != F else x.astype(H)
                for i, x in enumerate(map(np.zeros_like, want))]
        got = run(name, half, like, *rest)
        wide = run(name, of_type(half, (H,), F), want, *rest)
        for a, b in zip(got, wide, strict=True):
            compared += 1
            if half_differs(a, b):
                wrong[name] = f"{a}, expected {b}"
    assert compared > 250
    assert not wrong, wrong


def test_every_name_of_the_table_has_extreme_values():
    """Those of training are in test_op_training_extremes.py, those of MindSpore have moderate
    values alone."""
    names = {name.partition("/")[0] for module in MODULES for name in module.CASES}
    rest = set(names_of_table()) - names
    more = test_op_names_training.names() | test_op_names_mindspore.names()
    assert rest == test_op_names_special.ALONE | (more - names)


@pytest.mark.parametrize("name", ["FloorDiv", "FloorMod", "TruncateDiv", "TruncateMod", "Mod",
                                  "Div"])
def test_division_of_the_ends_of_the_integers(name):
    """The least number has no opposite, and nothing may be divided by 0: the result wraps or is
    any number, and the process lives."""
    ends = np.array([*ROUNDS["integers"], 7, -7], I32)
    a, b = np.meshgrid(ends, ends)
    got, = single_op.run(name, [a, b], [np.zeros_like(a)])
    a, b = a.astype(np.int64), np.where(b == 0, 1, b).astype(np.int64)
    wants = {"Mod": {"FloorMod": np.mod}.get(name, np.fmod), "Div": np.floor_divide}
    want = wants[name[-3:]](a, b)
    if name in ("TruncateDiv", "Div"):
        want = np.where((np.fmod(a, b) != 0) & ((a < 0) != (b < 0)), want + 1, want)
    defined = np.meshgrid(ends, ends)[1] != 0
    np.testing.assert_array_equal(got[defined], want.astype(I32)[defined])


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, I32, np.int64, np.uint64])
def test_the_largest_and_least_of_integers(dtype):
    """At the ends of the type, and of nothing: the other end."""
    ends = np.iinfo(dtype)
    x = np.array([[ends.min, 3, ends.max], [ends.max, 5, ends.max - 1]], dtype)
    for name, function, of_nothing in (("ReduceMaxD", np.max, ends.min),
                                       ("ReduceMinD", np.min, ends.max)):
        for array in (x, x.T):
            want = function(array, axis=1)
            got, = single_op.run(name, [array], [np.zeros_like(want)], {"axes": [1]})
            np.testing.assert_array_equal(got, want)
        got, = single_op.run(name, [x[:0]], [np.zeros(3, dtype)], {"axes": [0]})
        np.testing.assert_array_equal(got, np.full(3, of_nothing, dtype))


def test_whole_numbers_beyond_the_digits_of_double_stay_apart():
    x = np.array([2**53 + 1, 2**53, 2**53 + 1, -2**63, 2**63 - 1], np.int64)
    want = [x[[0, 1, 3, 4]], np.array([0, 1, 0, 2, 3], I32)]
    for got, expected in zip(single_op.run("Unique", [x], [np.zeros_like(w) for w in want]), want):
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("shape", [(), (1,), (0,), (2, 2), (1, 1, 1, 1, 1, 1)])
def test_inputs_of_any_rank_are_taken_or_refused_with_a_sentence(shape):
    for name, case in {n: m.case_of(n) for m in MODULES for n in m.CASES}.items():
        inputs, want, *rest = case
        inputs, like = [narrow(x) for x in inputs], [np.zeros_like(narrow(x)) for x in want]
        for i, x in enumerate(inputs):
            other = [np.ones(shape, x.dtype) if x is not None and k == i else v
                     for k, v in enumerate(inputs)]
            try:
                single_op.run(name.partition("/")[0], other, like, *rest)
            except Refused as refused:
                assert len(refused.message.strip()) > 40, name


# Names that take tensors of one shape only, by their definitions.
ONE_SHAPE = {"ApplyAdagrad", "ApplyAdagradD", "ApplyAdam", "ApplyMomentum", "BasicLSTMCell"}


def test_every_operator_of_several_tensors_broadcasts_or_says_why_not():
    taken, refused_by = set(), {}
    for name, case in {n: m.case_of(n) for m in MODULES for n in m.CASES}.items():
        inputs, want, attrs, const, *formats = case
        inputs, want = [narrow(x) for x in inputs], [narrow(x) for x in want]
        shape = want[0].shape
        wide = [i for i, x in enumerate(inputs) if x is not None and x.shape == shape]
        if len(wide) < 2 or len(shape) < 2 or const or formats[0]:
            continue
        for i in wide:
            for cut in (inputs[i][:1], inputs[i][..., :1], inputs[i][0, 0]):
                narrowed, full = list(inputs), list(inputs)
                narrowed[i], full[i] = cut, np.array(np.broadcast_to(cut, shape))
                like = [np.zeros_like(x) for x in want]
                try:
                    got = single_op.run(name.partition("/")[0], narrowed, like, attrs)
                except Refused as refused:
                    assert len(refused.message.strip()) > 40, name
                    refused_by.setdefault(name, []).append(i)
                    continue
                taken.add(name)
                expected = single_op.run(name.partition("/")[0], full, like, attrs)
                for a, b in zip(got, expected, strict=True):
                    np.testing.assert_array_equal(a, b, err_msg=f"{name}, input {i}: {cut.shape}")
    assert set(refused_by) == ONE_SHAPE, refused_by
    assert len(taken) > 30
