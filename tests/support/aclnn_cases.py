# SPDX-License-Identifier: Apache-2.0
"""Tables of aclnn calls with numpy as the oracle.

    CASES = [Case("aclnnMuls", [x(2, 3), 2.5], out(2, 3), lambda a, s: a * s)]

    @pytest.mark.parametrize("case", CASES, ids=str)
    def test_results(nn, case):
        case.check(nn)

A case lists the arguments in the order of the header; `x(...)` is an input tensor with random
numbers, `out(...)` an output, `inout(...)` both. The oracle takes the values of the arguments that
are not outputs and returns what the outputs are to hold, in order. Every case runs with contiguous
tensors, with transposed ones and with views that leave elements out.
"""
import ml_dtypes
import numpy as np

BF16 = ml_dtypes.bfloat16
LAYOUTS = ("contiguous", "transposed", "stepped")
TOLERANCES = {"float32": 2e-5, "float16": 2e-3, "bfloat16": 1.6e-2, "float64": 1e-12}


class Spec:
    """A tensor of a case. `like` makes its values: 'normal', 'positive', 'unit' (0 to 1), 'small'
    (integers from 0 to 4), 'bool', or an array."""

    def __init__(self, shape, dtype=None, like="normal", role="in"):
        self.shape, self.dtype, self.like, self.role = tuple(shape), dtype, like, role

    def values(self, rng, dtype):
        dtype = np.dtype(self.dtype or dtype)
        if not isinstance(self.like, str):
            return np.asarray(self.like).astype(dtype).reshape(self.shape)
        if self.like == "bool" or dtype == np.bool_:
            return (rng.random(self.shape) < 0.5).astype(dtype)
        if self.like == "small":
            return rng.integers(0, 5, self.shape).astype(dtype)
        if self.like == "unit":
            return rng.random(self.shape).astype(dtype)
        if dtype.kind in "iu":
            return rng.integers(0 if dtype.kind == "u" else -5, 6, self.shape).astype(dtype)
        numbers = rng.standard_normal(self.shape)
        if dtype.kind == "c":
            numbers = numbers + 1j * rng.standard_normal(self.shape)
        if self.like == "positive":
            numbers = np.abs(numbers) + 0.1
        return numbers.astype(dtype)


def x(*shape, **options):
    return Spec(shape, **options)


def out(*shape, **options):
    return Spec(shape, role="out", **options)


def inout(*shape, **options):
    return Spec(shape, role="inout", **options)


def laid_out(values, layout):
    """The same values as a view with other strides."""
    if layout == "transposed" and values.ndim > 1:
        return np.ascontiguousarray(values.T).T
    if layout == "stepped" and values.ndim > 0:
        whole = np.zeros(tuple(2 * n + 1 for n in values.shape), values.dtype)
        view = whole[tuple(slice(1, 2 * n + 1, 2) for n in values.shape)]
        view[...] = values
        return view
    return np.ascontiguousarray(values) if values.ndim else values.copy()


class Case:
    def __init__(self, name, arguments, *rest, types=("float32",), tolerance=None,
                 layouts=LAYOUTS):
        *more, oracle = rest
        self.name, self.arguments, self.oracle = name, [*arguments, *more], oracle
        self.types, self.tolerance, self.layouts = types, tolerance, layouts

    def __str__(self):
        shapes = "-".join("x".join(map(str, a.shape)) or "scalar" for a in self._specs())
        return f"{self.name}-{shapes}"

    def _specs(self):
        for argument in self.arguments:
            if isinstance(argument, Spec):
                yield argument
            elif isinstance(argument, list) and argument and isinstance(argument[0], Spec):
                yield from argument

    def check(self, nn):
        for dtype in self.types:
            for layout in self.layouts:
                self.check_one(nn, np.dtype(BF16 if dtype == "bfloat16" else dtype), layout)
                nn.synchronize()
                nn.clear()

    def check_one(self, nn, dtype, layout):
        rng = np.random.default_rng(7)
        given, known, results = [], [], []

        def make(spec):
            values = spec.values(rng, dtype)
            tensor = nn.tensor(laid_out(values, layout))
            if spec.role != "out":
                known.append(values if values.dtype != BF16 else values.astype(np.float32))
            if spec.role != "in":
                results.append(tensor)
            return tensor

        for argument in self.arguments:
            if isinstance(argument, Spec):
                given.append(make(argument))
            elif isinstance(argument, list) and argument and isinstance(argument[0], Spec):
                first = len(known)
                given.append(nn.tensors([make(spec) for spec in argument]))
                if len(known) > first:
                    known[first:] = [known[first:]]
            else:
                given.append(argument)
                if not (isinstance(argument, Skip)):
                    known.append(argument)
        given = [a.value if isinstance(a, Skip) else a for a in given]
        nn.run(self.name, *given)
        with np.errstate(all="ignore"):
            expected = self.oracle(*known)
        expected = expected if isinstance(expected, tuple) else (expected,)
        assert len(expected) == len(results), "the oracle returns one array for each output"
        for want, tensor in zip(expected, results):
            got = tensor.read()
            where = f"{self.name}, {dtype}, {layout}"
            if want is None:
                continue
            want = np.asarray(want)
            assert got.shape == want.shape, where
            tolerance = self.tolerance or TOLERANCES.get(
                min((dtype, got.dtype), key=lambda t: -TOLERANCES.get(t.name, 0)).name, 0)
            if got.dtype.kind in "iub":
                np.testing.assert_array_equal(got, want.astype(got.dtype), err_msg=where)
            else:
                wide = np.complex128 if got.dtype.kind == "c" else np.float64
                np.testing.assert_allclose(got.astype(wide), want.astype(wide), rtol=tolerance,
                                           atol=tolerance, err_msg=where)


class Skip:
    """An argument that the oracle does not see."""

    def __init__(self, value):
        self.value = value
