# SPDX-License-Identifier: Apache-2.0
"""Cases of operators in a line each: what goes in, which attributes, which types.

    def cases(add):
        add.types("Abs", REAL, x=T(2, 3))                     one case for each type
        add("ConcatV2", values=[F(2, 3), F(2, 1)], axis=K(-1))  one case
        add.graph("While.countdown", ["While"], build)        a graph made by a function

`T(...)` is a tensor of the type of the sweep, `F` of float32, `I` of int32, `B` of bool,
`A(dtype, ...)` of any; `V(values)` has the values given. All of them are placeholders. `K(values)`
is a constant.
The numbers are drawn from a generator that is seeded with the name of the case.
"""
from dataclasses import dataclass, replace

import ml_dtypes
import numpy as np

TYPES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64,
         "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "u8": np.uint8,
         "u16": np.uint16, "u32": np.uint32, "u64": np.uint64, "bool": np.bool_,
         "c64": np.complex64, "c128": np.complex128}
FLOATS = ("f32", "f16", "bf16", "f64")
SIGNED = ("i8", "i16", "i32", "i64")
UNSIGNED = ("u8", "u16", "u32", "u64")
INTS = SIGNED + UNSIGNED
REAL = FLOATS + INTS
COMPLEX = ("c64", "c128")
NUMBERS = REAL + COMPLEX
ALL = (*NUMBERS, "bool")


@dataclass(frozen=True)
class Input:
    dtype: str = ""  # empty: the type of the sweep
    shape: tuple = ()
    values: object = None
    constant: bool = False
    low: float = None
    high: float = None
    left_open: str = ""  # "dims" or "rank": unknown in the graph

    def array(self, rng):
        dtype = np.dtype(TYPES[self.dtype])
        if self.values is not None:
            with np.errstate(over="ignore"):
                return np.asarray(self.values).astype(dtype)
        if dtype == np.bool_:
            return rng.randint(0, 2, self.shape).astype(dtype)
        if dtype.kind in "iu":
            low = (-6 if dtype.kind == "i" else 0) if self.low is None else self.low
            return rng.randint(low, 7 if self.high is None else self.high, self.shape).astype(dtype)
        low, high = -2 if self.low is None else self.low, 2 if self.high is None else self.high
        array = rng.uniform(low, high, self.shape)
        if dtype.kind == "c":
            array = array + 1j * rng.uniform(low, high, self.shape)
        return array.astype(dtype)


def maker(dtype):
    def make(*shape, **how):
        return Input(dtype, shape, **how)
    return make


T, F, H, D, I, B = map(maker, ("", "f32", "f16", "f64", "i32", "bool"))  # noqa: E741


def A(dtype, *shape, **how):
    return Input(dtype, shape, **how)


def guess(values):
    kind = np.asarray(values).dtype.kind
    return {"f": "f32", "b": "bool", "c": "c64"}.get(kind, "i32")


def V(values, dtype=None, **how):
    dtype = guess(values) if dtype is None else dtype
    return Input(dtype, np.shape(values), values, **how)


def K(values, dtype=None):
    return V(values, dtype, constant=True)


def constant(spec):
    """A random tensor as a constant of the graph: weights."""
    return replace(spec, constant=True)


@dataclass
class Recipe:
    """How one case is made; `build` is called in a graph of its own."""
    name: str
    ops: list
    build: object
    rtol: float = 0
    optional: bool = False  # of a sweep: TensorFlow may lack the type
    reference: object = None  # builds what TensorFlow runs instead, with the same outputs
    leaves: bool = False  # outputs are not named to atc: it takes the leaves


class Recipes:
    """`add` of the case files."""

    def __init__(self):
        self.list, self.names = [], {}

    def unique(self, name):
        count = self.names.get(name, 0)
        self.names[name] = count + 1
        return f"{name}.{count}" if count else name

    def __call__(self, op, label="", type=None, rtol=0, optional=False, outputs=None, **arguments):
        parts = [op, *([label] if label else []), *([type] if type else [])]
        name = self.unique(".".join(parts) if len(parts) > 1 else op + ".0")
        self.list.append(Recipe(name, [op], Single(op, type, arguments, outputs), rtol, optional))

    def types(self, op, types, label="", rtol=0, **arguments):
        for kind in types:
            self(op, label, kind, rtol, optional=True, **arguments)

    def channels_first(self, op, label, key, **arguments):
        """An operator with its data in NCHW or NCDHW; TensorFlow runs it in the other layout."""
        name = self.unique(f"{op}.{label}")
        layout = "NCDHW" if len(arguments[key].shape) == 5 else "NCHW"
        single = Single(op, None, {**arguments, "data_format": layout}, None)
        self.list.append(Recipe(name, [op], single, reference=ChannelsLast(op, key, arguments)))

    def referenced(self, name, ops, build, reference):
        """TensorFlow runs what `reference` builds, with the same inputs and outputs."""
        self.list.append(Recipe(self.unique(name), list(ops), build, reference=reference))

    def frozen(self, name, ops, function, inputs, lower=False, rtol=0):
        """A tf.function as frozen by TensorFlow 2; `inputs` is {name: Input}. With `lower`, control
        flow becomes Switch and Merge."""
        self.list.append(Recipe(self.unique(name), list(ops), Frozen(function, inputs, lower),
                                rtol))

    def graph(self, name, ops, build, rtol=0, leaves=False):
        """`build(make)` makes the graph: `make(name, Input)` is a placeholder or a constant. It
        returns the tensors that are outputs."""
        self.list.append(Recipe(self.unique(name), list(ops), build, rtol, leaves=leaves))


def flat(made):
    """The tensors of an operator's outputs, of which some are lists."""
    if isinstance(made, (list, tuple)):
        return [tensor for part in made for tensor in flat(part)]
    return [made]


class Single:
    """One operator of tf.raw_ops."""

    def __init__(self, op, kind, arguments, outputs):
        self.op, self.kind, self.arguments, self.outputs = op, kind, arguments, outputs

    def __call__(self, make):
        import tensorflow as tf

        def value(name, given):
            if isinstance(given, Input):
                return make(name, given if given.dtype else replace(given, dtype=self.kind))
            if isinstance(given, list) and any(isinstance(item, Input) for item in given):
                return [value(f"{name}{i}", item) for i, item in enumerate(given)]
            if given == "$T":  # an attribute that is the type of the sweep
                return tf.as_dtype(TYPES[self.kind])
            return given

        arguments = {name: value(name, given) for name, given in self.arguments.items()}
        made = getattr(tf.raw_ops, self.op)(**arguments, name="y")
        if isinstance(made, tf.Operation):
            return []
        made = flat(made)
        return made if self.outputs is None else [made[i] for i in self.outputs]


class ChannelsLast:
    """The operator in NHWC between transposes."""

    def __init__(self, op, key, arguments):
        self.op, self.key, self.arguments = op, key, arguments

    def __call__(self, make):
        import tensorflow as tf
        rank = len(self.arguments[self.key].shape)
        last = [0, *range(2, rank), 1]
        pads = [0, 1, *range(4, 2 * rank), 2, 3]
        arguments = dict(self.arguments)
        for name, given in arguments.items():
            if isinstance(given, Input):
                arguments[name] = make(name, given)
        for name in ("strides", "ksize", "dilations"):
            if name in arguments:
                arguments[name] = [arguments[name][i] for i in last]
        if "explicit_paddings" in arguments:
            arguments["explicit_paddings"] = [arguments["explicit_paddings"][i] for i in pads]
        arguments[self.key] = tf.transpose(arguments[self.key], last)
        made = getattr(tf.raw_ops, self.op)(**arguments)
        return [tf.transpose(made, [0, rank - 1, *range(1, rank - 1)])]


class Frozen:
    """A tf.function with its constants, as `convert_variables_to_constants_v2` writes it."""
    outside_graph = True

    def __init__(self, function, inputs, lower):
        self.function, self.inputs, self.lower = function, inputs, lower

    def __call__(self, rng):
        import tensorflow as tf
        from tensorflow.python.framework.convert_to_constants import (
            convert_variables_to_constants_v2,
        )
        arrays = {name: spec.array(rng) for name, spec in self.inputs.items()}
        wanted = [tf.TensorSpec(array.shape, array.dtype, name) for name, array in arrays.items()]
        concrete = tf.function(self.function).get_concrete_function(*wanted)
        frozen = convert_variables_to_constants_v2(concrete, lower_control_flow=self.lower)
        names = [tensor.op.name for tensor in frozen.inputs]
        outputs = [tensor.name for tensor in frozen.outputs]
        return frozen.graph.as_graph_def(), dict(zip(names, arrays.values())), outputs
