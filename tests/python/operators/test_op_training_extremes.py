# SPDX-License-Identifier: Apache-2.0
"""Gradients, steps of training and the other operators of test_op_names_training.py on infinities,
NaN, zeros of both signs, denormal and large numbers, against numpy; and in float16 within one unit
in the last place of what float32 gives. Gradients of functions of one element are compared with
their formulas here: differences of a function say nothing at infinity."""
import importlib.util
import math

import numpy as np
import pytest
import single_op
import test_op_names_training as training
from single_op import NCHW
from test_op_exactness import half_differs, of_type
from test_op_extremes import HALF_ROUNDS, ROUNDS, Drawn

F, H, I32 = np.float32, np.float16, np.int32
pytestmark = pytest.mark.usefixtures("runtime")
KINDS = [kind for kind in ROUNDS if kind != "integers"]


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def swish(factor):
    def slope(dy, x):
        s = sigmoid(factor * x)
        return dy * (s + factor * x * (s * (1 - s)))
    return slope


def gelu(dy, x, _):
    factor = math.sqrt(2 / math.pi)
    t = np.tanh(factor * x * (1 + 0.044715 * x * x))
    rise = (1 + 0.134145 * x * x) * ((1 - t * t) * factor)
    return dy * (0.5 * (1 + t + x * rise))


def hard_sigmoid(dy, x):
    y = x * F(0.2) + F(0.5)
    return np.where((y > 0) & (y < 1), dy * F(0.2), 0)


def hard_swish(dy, x):
    return np.where(x > -3, dy * np.where(x > 3, 1, x / 3 + 0.5), 0)


def log_softmax(dy, y):
    return dy - np.exp(y) * dy.sum(-1, keepdims=True)


def max_pool(x, _, dy):
    """To the first of the largest elements of each window of 2 x 2; NaN is the largest."""
    windows = x.reshape(2, 3, 3, 2, 2, 2).transpose(0, 1, 2, 4, 3, 5).reshape(2, 3, 3, 2, 4)
    first = np.arange(4) == windows.argmax(-1)[..., None]
    spread = np.where(first, dy[..., None], 0).reshape(2, 3, 3, 2, 2, 2)
    return spread.transpose(0, 1, 2, 4, 3, 5).reshape(x.shape)


def sorted_down(x):
    """NaN is the largest, and of equal elements the first comes first."""
    key = np.where(np.isnan(x), np.inf, x)
    order = np.stack([np.lexsort((-row, ~np.isnan(given))) for row, given in zip(key, x)])
    return np.take_along_axis(x, order, -1), order


def divergence(x, target):
    return np.where(target > 0, target * (np.log(target) - x), 0).sum() / 3


def bn_update(dy, x, mean, variance):
    of = [v.reshape(1, -1, 1, 1) for v in (mean, variance)]
    normal = (x - of[0]) / np.sqrt(of[1] + 1e-3)
    return (dy * normal).sum((0, 2, 3)), dy.sum((0, 2, 3))


# One output, or a tuple of them.
FORMULAS = {
    "Angle": lambda x: np.where(np.isnan(x), np.nan, np.where(x < 0, np.pi, 0)),
    "Sort": sorted_down, "KLDiv": divergence, "BNTrainingUpdateGrad": bn_update,
    "ApproximateEqual": lambda a, b: np.abs(a - b) < 1e-4,
    "AbsGrad": lambda x, dy: dy * np.sign(x),
    "AcosGrad": lambda x, dy: -dy / np.sqrt(1 - x * x),
    "AsinGrad": lambda x, dy: dy / np.sqrt(1 - x * x),
    "AtanGrad": lambda x, dy: dy / (1 + x * x),
    "AcoshGrad": lambda y, dy: dy / np.sinh(y), "AsinhGrad": lambda y, dy: dy / np.cosh(y),
    "InvGrad": lambda y, dy: -dy * y * y, "ReciprocalGrad": lambda y, dy: -dy * y * y,
    "RsqrtGrad": lambda y, dy: dy * -0.5 * y * y * y, "SqrtGrad": lambda y, dy: dy * 0.5 / y,
    "SigmoidGrad": lambda y, dy: dy * y * (1 - y), "TanhGrad": lambda y, dy: dy * (1 - y * y),
    "ReluGrad": lambda dy, x: np.where(x > 0, dy, 0),
    "Relu6Grad": lambda dy, x: np.where((x > 0) & (x < 6), dy, 0),
    "EluGrad": lambda dy, y: np.where(y < 0, dy * (y + 1), dy),
    "SoftplusGrad": lambda dy, x: dy / (1 + np.exp(-x)),
    "FastGeluGrad": swish(1.702), "SiluGrad": swish(1), "GeluGrad": gelu,
    "HardShrinkGrad": lambda dy, x: np.where(np.abs(x) > F(0.7), dy, 0),
    "SoftShrinkGrad": lambda dy, x: np.where(np.abs(x) > F(0.7), dy, 0),
    "HardSigmoidGrad": hard_sigmoid, "HardSwishGrad": hard_swish,
    "SoftmaxGrad": lambda y, dy: (dy - (y * dy).sum(-1, keepdims=True)) * y,
    "LogSoftmaxGrad": log_softmax, "MaxPoolGrad": max_pool,
}


def made_of(module, name):
    """Inputs, expected outputs, attributes, constants and formats of a case, as single_op takes
    them."""
    inputs, outputs, attrs, *rest = module.CASES[name]
    const, forms = (*rest, *((), None)[len(rest):])
    inputs, outputs = [np.asarray(x) for x in inputs], [np.asarray(x) for x in outputs]
    form_of = [NCHW if x.ndim == 4 else single_op.ND for x in inputs]
    return (inputs, [x.astype(F) if x.dtype == np.float64 else x for x in outputs], attrs, const,
            forms or form_of, [NCHW if x.ndim == 4 else single_op.ND for x in outputs])


def cases_of(kind):
    """The table with arrays that hold the values of a round."""
    spec = importlib.util.spec_from_file_location(f"training_{kind}", training.__file__)
    made, default = importlib.util.module_from_spec(spec), np.random.default_rng
    with pytest.MonkeyPatch.context() as patch, np.errstate(all="ignore"):
        patch.setattr(np.random, "default_rng", lambda seed: Drawn(seed, kind, default))
        spec.loader.exec_module(made)
        cases = {name: made_of(made, name) for name in made.CASES}
        for name, formula in FORMULAS.items():
            inputs = cases[name][0]
            want = formula(*(x.astype(np.float64) for x in inputs))
            for i, w in enumerate(want if isinstance(want, tuple) else (want,)):
                cases[name][1][i] = np.asarray(w).astype(cases[name][1][i].dtype)
    return cases


# The sign of a determinant that is NaN is any number.
NO_SIGN = {"LogMatrixDeterminant"}
# Sums of products of two inputs, which may cancel.
PRODUCTS = {"BNTrainingUpdateGrad"}


def difference(name, case):
    """Where the outputs of a case differ from numpy's; None."""
    inputs, want, *rest = case
    got = single_op.run(name.partition("/")[0], inputs, [np.zeros_like(x) for x in want], *rest)
    floats = [x[np.isfinite(x)] for x in inputs if x.dtype == F]
    scale = max([1.0, *(np.abs(x).max(initial=0) for x in floats)])
    scale = scale**2 if name in PRODUCTS else scale
    if name in NO_SIGN and np.isnan(want[1]):
        got, want = got[1:], want[1:]
    for a, b in zip(got, want, strict=True):
        if a.shape != b.shape:
            return f"shape {a.shape}, expected {b.shape}"
        with np.errstate(all="ignore"):
            same = (a == b) | ((a != a) & (b != b))
            if b.dtype == F:
                same |= np.abs(a - b) <= 2e-5 * (scale + np.abs(b))
        if not same.all():
            return f"{a[~same][:4]}, expected {b[~same][:4]}"
    return None


@pytest.mark.parametrize("kind", KINDS)
def test_the_operators_of_training_agree_with_numpy_on_extreme_values(kind):
    wrong = {}
    for name, case in cases_of(kind).items():
        try:
            found = difference(name, case)
        except single_op.Refused as refused:
            found = str(refused)
        if found:
            wrong[name] = found
    assert not wrong, "\n".join(f"{name}: {found}" for name, found in wrong.items())


OF_THE_TYPE = {"Eps"}  # another number in float16


@pytest.mark.parametrize("kind", ["moderate", *KINDS])
def test_float16_is_within_one_unit_of_the_last_place(kind, monkeypatch):
    wrong, compared = {}, 0
    if kind == "moderate":
        cases = {name: made_of(training, name) for name in training.CASES}
    else:
        monkeypatch.setitem(ROUNDS, kind, HALF_ROUNDS[kind])
        cases = cases_of(kind)
    for name, (inputs, want, *rest) in cases.items():
        if name in OF_THE_TYPE or not any(x.dtype == F for x in inputs):
            continue
        with np.errstate(over="ignore"):
            half = of_type(inputs, (F,), H)
        operator, like = name.partition("/")[0], [np.zeros_like(x) for x in want]
        try:
            got = single_op.run(operator, half, of_type(like, (F,), H), *rest)
            wide = single_op.run(operator, of_type(half, (H,), F), like, *rest)
        except single_op.Refused as refused:
            wrong[name] = str(refused)
            continue
        for a, b in zip(got, wide, strict=True):
            compared += 1
            if half_differs(a, b):
                wrong[name] = f"{a}, expected {b}"
    assert compared > 100
    assert not wrong, "\n".join(f"{name}: {found}" for name, found in wrong.items())


@pytest.mark.parametrize("dtype", [F, H])
def test_the_epsilon_is_that_of_the_type(dtype):
    x = np.array([0, np.inf, np.nan], dtype)
    got, = single_op.run("Eps", [x], [np.zeros_like(x)])
    assert (got == np.finfo(dtype).eps).all(), got
