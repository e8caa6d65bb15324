# SPDX-License-Identifier: Apache-2.0
"""One or more operands, element by element, with broadcasting."""
from specs import ALL, COMPLEX, FLOATS, INTS, NUMBERS, REAL, SIGNED, B, F, I, K, T, V

# operator: (types, lowest, highest)
UNARY = {
    "Abs": (REAL, None, None), "Neg": (NUMBERS, None, None), "Sign": (NUMBERS, None, None),
    "Square": (NUMBERS, None, None), "Sqrt": (FLOATS + COMPLEX, 0, 4),
    "Rsqrt": (FLOATS + COMPLEX, 0.2, 4), "Exp": (FLOATS + COMPLEX, None, None),
    "Expm1": (FLOATS + COMPLEX, None, None), "Log": (FLOATS + COMPLEX, 0.1, 5),
    "Log1p": (FLOATS + COMPLEX, -0.5, 5), "Sin": (FLOATS + COMPLEX, None, None),
    "Cos": (FLOATS + COMPLEX, None, None), "Tan": (FLOATS + COMPLEX, -1, 1),
    "Asin": (FLOATS + COMPLEX, -0.9, 0.9), "Acos": (FLOATS + COMPLEX, -0.9, 0.9),
    "Atan": (FLOATS + COMPLEX, None, None), "Sinh": (FLOATS + COMPLEX, None, None),
    "Cosh": (FLOATS + COMPLEX, None, None), "Tanh": (FLOATS + COMPLEX, None, None),
    "Asinh": (FLOATS + COMPLEX, None, None), "Acosh": (FLOATS + COMPLEX, 1.1, 4),
    "Atanh": (FLOATS + COMPLEX, -0.9, 0.9), "Sigmoid": (FLOATS + COMPLEX, None, None),
    "Ceil": (FLOATS, None, None), "Floor": (FLOATS, None, None), "Rint": (FLOATS, None, None),
    "Round": (FLOATS, None, None), "Reciprocal": (FLOATS + COMPLEX, 0.5, 3),
    "Inv": (FLOATS + COMPLEX, 0.5, 3), "Erf": (FLOATS, None, None), "Erfc": (FLOATS, None, None),
    "Erfinv": (FLOATS, -0.9, 0.9), "Ndtri": (FLOATS, 0.1, 0.9), "Lgamma": (FLOATS, 0.2, 5),
    "Digamma": (FLOATS, 0.2, 5), "BesselI0e": (FLOATS, None, None),
    "BesselI1e": (FLOATS, None, None), "BesselI0": (FLOATS, None, None),
    "BesselI1": (FLOATS, None, None), "BesselJ0": (FLOATS, None, None),
    "BesselJ1": (FLOATS, None, None), "BesselK0": (FLOATS, 0.2, 3), "BesselK1": (FLOATS, 0.2, 3),
    "BesselK0e": (FLOATS, 0.2, 3), "BesselK1e": (FLOATS, 0.2, 3), "BesselY0": (FLOATS, 0.5, 3),
    "BesselY1": (FLOATS, 0.5, 3), "Dawsn": (FLOATS, None, None), "Expint": (FLOATS, 0.2, 3),
    "FresnelCos": (FLOATS, None, None), "FresnelSin": (FLOATS, None, None),
    "Spence": (FLOATS, 0.1, 3), "IsNan": (FLOATS, None, None), "IsInf": (FLOATS, None, None),
    "IsFinite": (FLOATS, None, None), "Invert": (INTS, None, None),
    "PopulationCount": (INTS, None, None), "OnesLike": (ALL, None, None),
    "ZerosLike": (ALL, None, None),
}
FEATURES = {"Relu": REAL, "Relu6": REAL, "Elu": FLOATS, "Selu": FLOATS, "Softplus": FLOATS,
            "Softsign": FLOATS, "LeakyRelu": FLOATS}
# operator: types of two operands
BINARY = {
    "Add": NUMBERS, "AddV2": NUMBERS, "Sub": NUMBERS, "Mul": NUMBERS, "Maximum": REAL,
    "Minimum": REAL, "SquaredDifference": NUMBERS, "MulNoNan": FLOATS + COMPLEX,
    "Atan2": FLOATS,
    "BitwiseAnd": INTS, "BitwiseOr": INTS, "BitwiseXor": INTS,
}
COMPARE = {"Less": REAL, "LessEqual": REAL, "Greater": REAL, "GreaterEqual": REAL}
# operands that must not be 0
DIVIDE = {"Div": NUMBERS, "RealDiv": NUMBERS, "FloorDiv": REAL, "TruncateDiv": REAL,
          "FloorMod": REAL, "Mod": REAL, "TruncateMod": REAL, "DivNoNan": FLOATS + COMPLEX,
          "Xdivy": FLOATS + COMPLEX}
POSITIVE = {"Xlogy": FLOATS + COMPLEX, "Xlog1py": FLOATS + COMPLEX}
# operator: names of the operands, types
NAMED = {"Igamma": ("a", "x", FLOATS), "Igammac": ("a", "x", FLOATS), "Zeta": ("x", "q", FLOATS),
         "Polygamma": ("a", "x", FLOATS), "NextAfter": ("x1", "x2", ("f32", "f64")),
         "RandomGammaGrad": ("alpha", "sample", ("f32", "f64")),
         "IgammaGradA": ("a", "x", ("f32", "f64"))}
EDGES = [float("nan"), float("inf"), float("-inf"), 0.0, -0.0, 1.0, -1.5, 2.5, 0.5, -0.5, 1e30]


def unary(add):
    for op, (types, low, high) in UNARY.items():
        add.types(op, types, x=T(2, 3, low=low, high=high))
        if "f32" in types:
            add(op, "empty", x=F(0, 3))
            add(op, "scalar", x=F(low=low, high=high))
            add(op, "open", x=F(2, 5, low=low, high=high, left_open="dims"))
    for op in ("IsNan", "IsInf", "IsFinite", "Sign", "Ceil", "Floor", "Rint", "Round", "Abs",
               "Exp", "Log", "Sqrt", "Tanh", "Sigmoid", "Erf", "Log1p"):
        add.types(op, FLOATS, "edges", x=V(EDGES, ""))
    for op in ("Floor", "Ceil", "Rint", "Round"):
        add(op, "halves", x=V([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5]))
    for op, types in FEATURES.items():
        add.types(op, types, features=T(3, 5))
        add(op, "edges", features=V(EDGES))
        add(op, "rank", features=F(2, 2, 3, left_open="rank"))
    add("LeakyRelu", "alpha", features=F(2, 4), alpha=0.01)
    for types in (("c64",), ("c128",)):
        for op in ("Real", "Imag", "ComplexAbs", "Angle"):
            out = "f32" if types == ("c64",) else "f64"
            key = {"Real": "input", "Imag": "input", "Angle": "input", "ComplexAbs": "x"}[op]
            add.types(op, types, **{key: T(2, 3)},
                      Tout={"f32": "float32", "f64": "float64"}[out])
        add.types("Conj", types, input=T(2, 3))
    add("Complex", real=F(2, 3), imag=F(2, 3))
    add("Complex", "broadcast", real=F(2, 3), imag=F(3))


def binary(add):
    for op, types in {**BINARY, **COMPARE}.items():
        add.types(op, types, x=T(2, 3), y=T(2, 3))
        kind = "f32" if "f32" in types else "i32"
        shapes = [((2, 1, 3), (4, 1)), ((), (3,)), ((0, 3), (1, 3))]
        for label, (x, y) in zip(("broadcast", "scalar", "empty"), shapes):
            add(op, label, kind, x=T(*x), y=T(*y))
    for op, types in {**DIVIDE, **POSITIVE}.items():
        add.types(op, types, x=T(2, 3, low=1, high=5), y=T(2, 3, low=1, high=5))
        add(op, "broadcast", "f32", x=T(2, 1, 3, low=1, high=5), y=T(4, 1, low=1, high=5))
        if "f32" in types:
            add(op, "empty", "f32", x=T(0, 3), y=T(1, 3))
    for op, (first, second, types) in NAMED.items():
        low = {"Zeta": 2}.get(op, 1)
        a, x = ((V([[1, 2, 1], [0, 1, 3]], ""), T(2, 3, low=1, high=5)) if op == "Polygamma" else
                (T(2, 3, low=low, high=5), T(2, 3, low=1, high=5)))
        add.types(op, types, **{first: a, second: x})
        if op != "Polygamma":
            add(op, "broadcast", "f32", **{first: T(2, 1, 3, low=low, high=5),
                                           second: T(4, 1, low=1, high=5)})
    for op, first, second in (("IgammaGradA", "a", "x"), ("RandomGammaGrad", "alpha", "sample")):
        add(op, "far", "f64", **{first: V([0.1, 0.5, 8.0, 30.0, 3.0, 200.0], "f64"),
                                 second: V([0.02, 4.0, 7.5, 25.0, 9.0, 210.0], "f64")})
    for op in ("FloorDiv", "TruncateDiv", "FloorMod", "TruncateMod", "Mod", "Div"):
        add.types(op, (*SIGNED, "f32", "f64"), "signs", x=V([7, -7, 7, -7, 6, -6, 0], ""),
                  y=V([3, 3, -3, -3, 3, -3, 5], ""))
    add.types("DivNoNan", FLOATS + COMPLEX, "zero", x=V([1, 0, -2, 3], ""), y=V([0, 0, 2, 0], ""))
    add.types("Xdivy", FLOATS, "zero", x=V([0, 0, 2], ""), y=V([0, 1, 4], ""))
    add.types("Xlogy", FLOATS, "zero", x=V([0, 0, 2], ""), y=V([0, 1, 4], ""))
    add.types("Xlog1py", FLOATS, "zero", x=V([0, 0, 2], ""), y=V([-1, 1, 4], ""))
    add.types("MulNoNan", ("f32", "f64"), "zero", x=V([float("inf"), 1, float("nan")], ""),
              y=V([0, 0, 0], ""))
    add.types("Pow", FLOATS + COMPLEX, x=T(2, 3, low=0.5, high=3), y=T(2, 3))
    add.types("Pow", INTS, x=T(2, 3), y=T(2, 3, low=0, high=3))
    add("Pow", "broadcast", x=F(2, 1, 3, low=0.5), y=F(4, 1))
    add("Pow", "square", x=F(2, 3), y=K(2.0))
    add("Betainc", a=F(2, 3, low=0.5, high=3), b=F(2, 3, low=0.5, high=3), x=F(2, 3, low=0.1, high=0.9))
    for op in ("LeftShift", "RightShift"):
        add.types(op, INTS, x=T(2, 3), y=T(2, 3, low=0, high=4))
        add(op, "broadcast", x=I(2, 3), y=I(3, low=0, high=4))
    for op in ("Equal", "NotEqual"):
        add.types(op, ALL, x=T(3, 4, low=0, high=2), y=T(3, 4, low=0, high=2))
        add(op, "broadcast", x=I(2, 1, 3, low=0, high=2), y=I(4, 1, low=0, high=2))
        add(op, "differs", x=F(2, 3), y=F(3, 2), incompatible_shape_error=False)
        add(op, "nan", x=V([float("nan"), 1.0]), y=V([float("nan"), 1.0]))
    for op in ("LogicalAnd", "LogicalOr"):
        add(op, x=B(2, 3), y=B(2, 3))
        add(op, "broadcast", x=B(2, 1, 3), y=B(4, 1))
        add(op, "empty", x=B(0, 3), y=B(1, 3))
    add("LogicalNot", x=B(2, 3))
    add("LogicalNot", "scalar", x=B())
    add("ApproximateEqual", x=V([1.0, 2.0, 3.0]), y=V([1.0, 2.0001, 3.1]), tolerance=1e-3)
    add.types("ApproximateEqual", REAL, x=T(4), y=T(4), tolerance=1.0)


def several(add):
    for op, key in (("AddN", "inputs"), ("AccumulateNV2", "inputs")):
        extra = {"shape": [2, 3]} if op == "AccumulateNV2" else {}
        add.types(op, NUMBERS, **{key: [T(2, 3), T(2, 3), T(2, 3)]}, **extra)
        add(op, "one", **{key: [F(2, 3)]}, **extra)
    add.types("Select", ALL, condition=B(2, 3), x=T(2, 3), y=T(2, 3))
    add("Select", "rows", condition=B(2), x=F(2, 3), y=F(2, 3))
    add("Select", "scalar", condition=B(), x=F(2, 3), y=F(2, 3))
    add.types("SelectV2", ALL, condition=B(2, 3), t=T(2, 3), e=T(2, 3))
    add("SelectV2", "broadcast", condition=B(2, 1), t=F(3), e=F(2, 3))
    add("SelectV2", "scalars", condition=B(4), t=F(), e=F())
    add.types("ClipByValue", REAL, t=T(2, 3), clip_value_min=T(values=0), clip_value_max=T(values=2))
    add("ClipByValue", "tensors", t=F(2, 3), clip_value_min=F(2, 3, low=-2, high=-1),
        clip_value_max=F(2, 3, low=1, high=2))
    add("ClipByValue", "constants", t=F(2, 3), clip_value_min=K(-1.0), clip_value_max=K(1.0))
    types = ("float32", "float16", "bfloat16", "float64", "int8", "int16", "int32", "int64",
             "uint8", "uint16", "uint32", "uint64", "bool", "complex64")
    for source in ALL:
        for to in types:
            add("Cast", to, source, optional=True, x=T(2, 3, low=0, high=3), DstT=to)
    add("Cast", "truncate", x=F(5, low=0, high=20), DstT="float16", Truncate=True)
    add("Cast", "empty", x=F(0, 2), DstT="int32")
    for op in ("Identity", "StopGradient", "PreventGradient", "Snapshot", "PlaceholderWithDefault"):
        if op == "PlaceholderWithDefault":
            add(op, input=K([[1.0, 2.0], [3.0, 4.0]]), shape=[2, 2])
            continue
        add.types(op, ALL, input=T(2, 3))
    add("IdentityN", input=[F(2, 3), I(4)])
    add.types("CheckNumerics", FLOATS, tensor=T(2, 3), message="bad")
    add.types("CheckNumericsV2", FLOATS, tensor=T(2, 3), message="bad")
    add("EnsureShape", input=F(2, 3), shape=[2, 3])
    add("EnsureShape", "open", input=F(2, 3, left_open="rank"), shape=[2, 3])
    for source, to, shape in (("f32", "int32", (2, 3)), ("i32", "float32", (2, 3)),
                              ("f32", "uint8", (2, 3)), ("u8", "float32", (2, 4)),
                              ("f64", "int64", (3,)), ("f16", "uint16", (3,)),
                              ("i64", "int32", (2,))):
        # raw_ops calls the attribute `type`, which is also the argument of the sweep.
        add.graph(f"Bitcast.{source}_{to}", ["Bitcast"], bitcast(source, shape, to))
    grads = {"TanhGrad": ("y", "dy"), "SigmoidGrad": ("y", "dy"), "SqrtGrad": ("y", "dy"),
             "RsqrtGrad": ("y", "dy"), "ReciprocalGrad": ("y", "dy"), "InvGrad": ("y", "dy")}
    for op, names in grads.items():
        add.types(op, FLOATS, **{name: T(2, 3, low=0.2, high=2) for name in names})
    for op, other in (("ReluGrad", "features"), ("Relu6Grad", "features"), ("EluGrad", "outputs"),
                      ("SeluGrad", "outputs"), ("SoftplusGrad", "features"),
                      ("SoftsignGrad", "features"), ("LeakyReluGrad", "features")):
        add.types(op, FLOATS, gradients=T(2, 3), **{other: T(2, 3)})


def bitcast(source, shape, to):
    def build(make):
        import tensorflow as tf
        from specs import A
        return [tf.raw_ops.Bitcast(input=make("input", A(source, *shape)), type=to, name="y")]
    return build


def cases(add):
    unary(add)
    binary(add)
    several(add)
