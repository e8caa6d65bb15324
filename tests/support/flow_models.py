# SPDX-License-Identifier: Apache-2.0
"""ONNX models with control flow, functions, sequences and shapes that values decide."""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def info(name, kind, shape):
    return helper.make_tensor_value_info(name, kind, shape)


def constant(name, array):
    return numpy_helper.from_array(np.asarray(array), name)


def model(nodes, inputs, outputs, weights=(), functions=(), opset=17, domains=()):
    graph = helper.make_graph(nodes, "net", inputs, outputs, list(weights))
    imports = [helper.make_opsetid("", opset)] + [helper.make_opsetid(d, 1) for d in domains]
    return helper.make_model(graph, opset_imports=imports, ir_version=8, functions=list(functions))


def branches():
    """y = c ? x * w + b : relu(x) - b, with w and b of the graph around; the sum of y beside it."""
    then = helper.make_graph([helper.make_node("Mul", ["x", "w"], ["p"]),
                              helper.make_node("Add", ["p", "b"], ["q"])], "then", [],
                             [info("q", FLOAT, [2, 3])])
    other = helper.make_graph([helper.make_node("Relu", ["x"], ["r"]),
                               helper.make_node("Sub", ["r", "b"], ["s"])], "else", [],
                              [info("s", FLOAT, [2, 3])])
    return model([helper.make_node("If", ["c"], ["y"], then_branch=then, else_branch=other),
                  helper.make_node("ReduceSum", ["y"], ["z"], keepdims=0)],
                 [info("c", BOOL, []), info("x", FLOAT, [2, 3])],
                 [info("y", FLOAT, [2, 3]), info("z", FLOAT, [])],
                 [constant("w", np.float32([[1, 2, 3]])), constant("b", np.float32([[4], [5]]))])


def power_loop():
    """x * a^n by n multiplications, every power kept: fixed shapes but for the number of rows."""
    body = helper.make_graph(
        [helper.make_node("Mul", ["v", "a"], ["v2"]), helper.make_node("Identity", ["c"], ["c2"]),
         helper.make_node("Identity", ["v2"], ["row"])], "body",
        [info("i", INT64, []), info("c", BOOL, []), info("v", FLOAT, [3])],
        [info("c2", BOOL, []), info("v2", FLOAT, [3]), info("row", FLOAT, [3])])
    return model([helper.make_node("Loop", ["n", "", "x"], ["last", "all"], body=body)],
                 [info("n", INT64, []), info("x", FLOAT, [3]), info("a", FLOAT, [3])],
                 [info("last", FLOAT, [3]), info("all", FLOAT, ["n", 3])])


def growing_loop():
    """Starts with x and appends the sum of what is there until it passes the limit."""
    body = helper.make_graph(
        [helper.make_node("ReduceSum", ["v"], ["s"], keepdims=1),
         helper.make_node("Concat", ["v", "s"], ["v2"], axis=0),
         helper.make_node("Less", ["s", "limit"], ["more"]),
         helper.make_node("Squeeze", ["more"], ["c2"])], "body",
        [info("i", INT64, []), info("c", BOOL, []), info("v", FLOAT, ["k"])],
        [info("c2", BOOL, []), info("v2", FLOAT, ["k2"])])
    return model([helper.make_node("Loop", ["", "start", "x"], ["y"], body=body),
                  helper.make_node("Mul", ["y", "two"], ["z"])],
                 [info("x", FLOAT, [2]), info("limit", FLOAT, [1])], [info("z", FLOAT, ["k"])],
                 [constant("two", np.float32(2)), constant("start", np.bool_(True))])


def running_sum():
    """Scan: running sums along axis 1, from its end, of a matrix scaled by an outer value."""
    body = helper.make_graph(
        [helper.make_node("Mul", ["slice", "scale"], ["m"]),
         helper.make_node("Add", ["state", "m"], ["next"]),
         helper.make_node("Identity", ["next"], ["out"])], "body",
        [info("state", FLOAT, [2]), info("slice", FLOAT, [2])],
        [info("next", FLOAT, [2]), info("out", FLOAT, [2])])
    return model([helper.make_node("Scan", ["start", "x"], ["total", "sums"], body=body,
                                   num_scan_inputs=1, scan_input_axes=[1],
                                   scan_input_directions=[1], scan_output_axes=[1],
                                   scan_output_directions=[1])],
                 [info("start", FLOAT, [2]), info("x", FLOAT, [2, 5]), info("scale", FLOAT, [1])],
                 [info("total", FLOAT, [2]), info("sums", FLOAT, [2, 5])])


def positives():
    """The positive elements of x in order, how many there are, and their positions."""
    return model([helper.make_node("Greater", ["x", "zero"], ["g"]),
                  helper.make_node("NonZero", ["g"], ["at"]),
                  helper.make_node("Transpose", ["at"], ["rows"], perm=[1, 0]),
                  helper.make_node("GatherND", ["x", "rows"], ["y"]),
                  helper.make_node("Shape", ["y"], ["count"])],
                 [info("x", FLOAT, [3, 4])],
                 [info("y", FLOAT, ["n"]), info("count", INT64, [1]), info("rows", INT64, None)],
                 [constant("zero", np.float32(0))])


def sequence():
    """Splits x into rows, doubles each, drops one, joins the rest: an odd way to cut a row out."""
    double = helper.make_graph([helper.make_node("Add", ["r", "r"], ["d"])], "double",
                               [info("r", FLOAT, None)], [info("d", FLOAT, None)])
    return model([helper.make_node("SplitToSequence", ["x"], ["rows"], axis=0, keepdims=1),
                  helper.make_node("SequenceMap", ["rows"], ["twice"], body=double),
                  helper.make_node("SequenceErase", ["twice", "which"], ["rest"]),
                  helper.make_node("ConcatFromSequence", ["rest"], ["y"], axis=0),
                  helper.make_node("SequenceLength", ["rest"], ["n"])],
                 [info("x", FLOAT, [4, 2]), info("which", INT64, [])],
                 [info("y", FLOAT, ["m", 2]), info("n", INT64, [])])


def functions():
    """A function that calls another, with attributes passed through and a graph inside."""
    scale = helper.make_function(
        "local", "Scale", ["x"], ["y"],
        [helper.make_node("Constant", [], ["k"]), helper.make_node("Mul", ["x", "k"], ["y"])],
        [helper.make_opsetid("", 17)], ["factor"])
    reference = scale.node[0].attribute.add()
    reference.name, reference.ref_attr_name, reference.type = "value_float", "factor", 1
    then = helper.make_graph([helper.make_node("Neg", ["t"], ["a"])], "then", [],
                             [info("a", FLOAT, None)])
    other = helper.make_graph([helper.make_node("Identity", ["t"], ["b"])], "else", [],
                              [info("b", FLOAT, None)])
    flip = helper.make_function(
        "local", "ScaleOrFlip", ["c", "x"], ["y"],
        [helper.make_node("Scale", ["x"], ["t"], domain="local", factor=3.0),
         helper.make_node("If", ["c"], ["y"], then_branch=then, else_branch=other)],
        [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)])
    return model([helper.make_node("ScaleOrFlip", ["c", "x"], ["u"], domain="local"),
                  helper.make_node("ScaleOrFlip", ["c", "u"], ["y"], domain="local")],
                 [info("c", BOOL, []), info("x", FLOAT, [5])], [info("y", FLOAT, [5])],
                 functions=[scale, flip], domains=["local"])


def endless_loop(trips=None):
    """Adds 1 while the sum is below a limit; a limit of infinity never comes. With or without a
    trip count."""
    body = helper.make_graph(
        [helper.make_node("Add", ["v", "one"], ["v2"]),
         helper.make_node("ReduceSum", ["v2"], ["s"], keepdims=0),
         helper.make_node("Less", ["s", "limit"], ["c2"])], "body",
        [info("i", INT64, []), info("c", BOOL, []), info("v", FLOAT, [4])],
        [info("c2", BOOL, []), info("v2", FLOAT, [4])])
    weights = [constant("one", np.float32([1, 0, 0, 0])), constant("start", np.bool_(True))]
    if trips is not None:
        weights.append(constant("trips", np.int64(trips)))
    count = "" if trips is None else "trips"
    return model([helper.make_node("Loop", [count, "start", "x"], ["y"], body=body)],
                 [info("x", FLOAT, [4]), info("limit", FLOAT, [])], [info("y", FLOAT, [4])],
                 weights)


def else_chain(depth):
    """x plus the number of the first of `depth` thresholds that x does not pass."""
    inner = [helper.make_node("Add", ["x", f"k{depth}"], [f"y{depth}"])]
    for at in reversed(range(depth)):
        then = helper.make_graph([helper.make_node("Add", ["x", f"k{at}"], [f"t{at}"])], "then", [],
                                 [info(f"t{at}", FLOAT, [])])
        otherwise = helper.make_graph(inner, "else", [], [info(f"y{at + 1}", FLOAT, [])])
        inner = [helper.make_node("LessOrEqual", ["x", f"k{at}"], [f"c{at}"]),
                 helper.make_node("If", [f"c{at}"], [f"y{at}"], then_branch=then,
                                  else_branch=otherwise)]
    return model(inner, [info("x", FLOAT, [])], [info("y0", FLOAT, [])],
                 [constant(f"k{at}", np.float32(at)) for at in range(depth + 1)])


def nested_loops(depth):
    """Loops of two runs inside one another, each of which appends twice what the inner ones made:
    x comes back 2^(depth + 1) - 1 times."""
    nodes, made = [], "x"
    for at in range(depth):
        body = helper.make_graph(
            [*nodes, helper.make_node("Concat", [f"v{at}", made], [f"w{at}"], axis=0),
             helper.make_node("Identity", [f"c{at}"], [f"d{at}"])], f"body{at}",
            [info(f"i{at}", INT64, []), info(f"c{at}", BOOL, []),
             info(f"v{at}", FLOAT, None)],
            [info(f"d{at}", BOOL, []), info(f"w{at}", FLOAT, None)])
        nodes, made = [helper.make_node("Loop", ["two", "", "x"], [f"y{at}"], body=body)], f"y{at}"
    return model(nodes, [info("x", FLOAT, [1])], [info(made, FLOAT, None)],
                 [constant("two", np.array(2))])
