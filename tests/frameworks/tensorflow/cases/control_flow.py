# SPDX-License-Identifier: Apache-2.0
"""Branches and loops of both kinds, functions, TensorArray and TensorList."""
from specs import F, K, V

V1_LOOP = ["Enter", "Exit", "NextIteration", "LoopCond", "Merge", "Switch"]
V1_COND = ["Switch", "Merge"]
V2_LOOP, V2_COND = ["While", "StatelessWhile"], ["If", "StatelessIf"]
LISTS = ["TensorListReserve", "TensorListSetItem", "TensorListStack"]


def tensorflow():
    import tensorflow as tf
    return tf


def flow(new, body):
    """`body(tf, make)` with control flow of TensorFlow 1 (Switch, Enter) or 2 (If, While)."""
    def build(make):
        tf = tensorflow()
        (tf.compat.v1.enable_control_flow_v2 if new else tf.compat.v1.disable_control_flow_v2)()
        try:
            made = body(tf, make)
        finally:
            tf.compat.v1.enable_control_flow_v2()
        return [tf.identity(t, name=f"result{i}") for i, t in enumerate(made)]
    return build


def cond(pred):
    def body(tf, make):
        x, p = make("x", F(2, 3)), make("p", V(pred))
        return [tf.cond(p, lambda: tf.nn.relu(x) * 2, lambda: x - 1)]
    return body


def cond_from_data(tf, make):
    x = make("x", F(2, 3))
    return tf.cond(tf.reduce_sum(x) > 0, lambda: (x + 1, tf.reduce_max(x)), lambda: (x, tf.reduce_min(x)))


def cond_nested(tf, make):
    x, a, b = make("x", F(3)), make("a", V(True)), make("b", V(False))
    return [tf.cond(a, lambda: tf.cond(b, lambda: x * 2, lambda: x * 3), lambda: x)]


def cond_constant(tf, make):
    x = make("x", F(3))
    return [tf.cond(tf.constant(True), lambda: x * 2, lambda: x * 3)]


def cond_shapes(tf, make):
    x, p = make("x", F(4, 2)), make("p", V(False))
    return [tf.cond(p, lambda: x[:1], lambda: x[1:])]


def count(tf, make):
    x = make("x", F(2, 3))
    _, y = tf.while_loop(lambda i, y: i < 5, lambda i, y: (i + 1, y * 1.5 + x), [tf.constant(0), x])
    return [y]


def until(tf, make):
    x = make("x", V([1.5, 2.5]))
    n, y = tf.while_loop(lambda n, y: tf.reduce_sum(y) < 100, lambda n, y: (n + 1, y * 2), [tf.constant(0), x])
    return [n, y]


def never(tf, make):
    x = make("x", F(2))
    return [tf.while_loop(lambda i, y: i < 0, lambda i, y: (i + 1, y + 1), [tf.constant(0), x])[1]]


def times_of_input(tf, make):
    x, n = make("x", F(2)), make("n", V(3))
    return [tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y + x), [tf.constant(0), x])[1]]


def nested(tf, make):
    x = make("x", F(2))

    def outer(i, y):
        inner = tf.while_loop(lambda j, z: j < i, lambda j, z: (j + 1, z + x), [tf.constant(0), y])
        return i + 1, inner[1]
    return [tf.while_loop(lambda i, y: i < 4, outer, [tf.constant(0), x])[1]]


def cond_in_loop(tf, make):
    x = make("x", F(3))

    def step(i, y):
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: y * 2, lambda: y - x)
    return [tf.while_loop(lambda i, y: i < 5, step, [tf.constant(0), x])[1]]


def growing(tf, make):
    x = make("x", F(1, 2))
    return [tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.concat([y, x * tf.cast(i, "float32")], 0)),
                          [tf.constant(0), x],
                          shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, 2])])[1]]


def collect(tf, make):
    x = make("x", F(4, 3))
    array = tf.TensorArray("float32", size=4)

    def step(i, total, array):
        total = total + x[i]
        return i + 1, total, array.write(i, total)
    _, _, array = tf.while_loop(lambda i, t, a: i < 4, step, [tf.constant(0), tf.zeros([3]), array])
    return [array.stack()]


def lstm_loop(tf, make):
    """What dynamic_rnn makes: sequences unstacked, a cell in a loop, outputs stacked."""
    x = make("x", F(5, 2, 3))  # time, batch, features
    w, b = make("w", K(__import__("numpy").linspace(-0.5, 0.5, 7 * 16).reshape(7, 16).tolist())), tf.zeros([16])
    source = tf.TensorArray("float32", size=5).unstack(x)
    results = tf.TensorArray("float32", size=5)

    def step(t, c, h, results):
        i, j, f, o = tf.split(tf.matmul(tf.concat([source.read(t), h], 1), w) + b, 4, 1)
        c = c * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
        h = tf.tanh(c) * tf.sigmoid(o)
        return t + 1, c, h, results.write(t, h)
    zero = tf.zeros([2, 4])
    _, c, h, results = tf.while_loop(lambda t, c, h, r: t < 5, step, [tf.constant(0), zero, zero, results])
    return [results.stack(), c, h]


def greedy_search(tf, make):
    """A decoder that feeds its own choice back and stops at the end mark."""
    table = make("table", F(6, 6))
    array = tf.TensorArray("int32", size=0, dynamic_size=True, element_shape=[])

    def step(i, token, array):
        token = tf.cast(tf.argmax(tf.gather(table, token) + tf.one_hot((token + 1) % 6, 6) * 9), "int32")
        return i + 1, token, array.write(i, token)
    n, _, array = tf.while_loop(lambda i, token, a: tf.logical_and(i < 10, token < 5), step,
                                [tf.constant(0), tf.constant(0), array])
    return [n, array.stack()]


FLOWS = {
    "cond_true": (cond(True), V1_COND, V2_COND), "cond_false": (cond(False), V1_COND, V2_COND),
    "cond_from_data": (cond_from_data, V1_COND, V2_COND), "cond_nested": (cond_nested, V1_COND, V2_COND),
    "cond_constant": (cond_constant, V1_COND, V2_COND), "cond_shapes": (cond_shapes, V1_COND, V2_COND),
    "count": (count, V1_LOOP, V2_LOOP), "until": (until, V1_LOOP, V2_LOOP), "never": (never, V1_LOOP, V2_LOOP),
    "times_of_input": (times_of_input, V1_LOOP, V2_LOOP), "nested": (nested, V1_LOOP, V2_LOOP),
    "cond_in_loop": (cond_in_loop, V1_LOOP, V2_LOOP), "growing": (growing, V1_LOOP, V2_LOOP),
    "collect": (collect, [*V1_LOOP, "TensorArrayV3", "TensorArrayWriteV3", "TensorArrayGatherV3"],
                [*V2_LOOP, *LISTS]),
    "lstm_loop": (lstm_loop, [*V1_LOOP, "TensorArrayV3", "TensorArrayScatterV3", "TensorArrayReadV3"],
                  [*V2_LOOP, *LISTS, "TensorListFromTensor", "TensorListGetItem"]),
    "greedy_search": (greedy_search, [*V1_LOOP, "TensorArrayV3", "TensorArrayWriteV3"], [*V2_LOOP, *LISTS]),
}


def functions(add):
    tf = tensorflow()

    def case_index(n):
        def function(x):
            return tf.switch_case(tf.constant(n), [lambda: x + 1, lambda: x * 2, lambda: -x])
        return function

    def case_of(x, n):
        return tf.switch_case(n, [lambda: x + 1, lambda: x * 2, lambda: -x])

    def calls(x):
        @tf.function
        def inner(y):
            return tf.nn.relu(y) * 2

        @tf.function
        def outer(y):
            return inner(y) + inner(y - 1)
        return outer(x), inner(x)

    def loop(x):
        for i in tf.range(4):
            x = x * 1.1 + tf.cast(i, "float32")
            if tf.reduce_sum(x) > 50:
                x = x - 10
        return x

    def early(x):
        total = tf.zeros([])
        for value in x:
            if value < 0:
                break
            total += value
        return total

    def mapped(x):
        return tf.map_fn(lambda row: row * tf.reduce_sum(row), x)

    def scanned(x):
        return tf.scan(lambda a, row: a + row, x)

    def folded(x):
        return tf.foldl(lambda a, row: a * 0.5 + row, x)

    def vector(x):
        return tf.vectorized_map(lambda row: tf.reduce_sum(row) + row, x)

    def two_lists(x):
        first, second = tf.TensorArray("float32", 3), tf.TensorArray("float32", 3)
        for i in tf.range(3):
            first = first.write(i, x[i])
            second = second.write(2 - i, x[i] * 2)
        return first.stack(), second.concat()

    for lower in (False, True):
        kind = "lowered" if lower else "kept"
        for index in (-1, 0, 2, 7):
            add.frozen(f"Case.constant{index}_{kind}", ["Case", "StatelessCase"], case_index(index),
                       {"x": F(2, 3)}, lower)
            add.frozen(f"Case.input{index}_{kind}", ["Case", "StatelessCase"], case_of,
                       {"x": F(2, 3), "n": V(index)}, lower)
        call = ["PartitionedCall", "StatefulPartitionedCall"]
        add.frozen(f"PartitionedCall.{kind}", call, calls, {"x": F(2, 3)}, lower)
        loops = V1_LOOP if lower else V2_LOOP
        for name, function in (("loop", loop), ("early", early), ("map_fn", mapped), ("scan", scanned),
                               ("foldl", folded), ("two_lists", two_lists)):
            spec = F(5, low=-0.2) if name == "early" else F(4, 3)
            add.frozen(f"While.{name}_{kind}", loops + (LISTS if name != "loop" else []), function,
                       {"x": spec}, lower)
    add.frozen("PartitionedCall.vectorized_map", ["PartitionedCall"], vector, {"x": F(4, 3)})


def lists(add):
    """Lists without a loop, by tf.raw_ops."""
    def case(name, ops, body):
        add.graph(f"{name}", ops, lambda make: body(tensorflow().raw_ops, make))

    shape = K([2])
    case("TensorListStack.from_tensor", ["TensorListFromTensor", "TensorListStack"], lambda raw, make: [
        raw.TensorListStack(input_handle=raw.TensorListFromTensor(tensor=make("x", F(3, 2)), element_shape=make("s", shape)),
                            element_shape=make("s2", shape), element_dtype="float32")])
    case("TensorListGetItem.0", ["TensorListGetItem", "TensorListLength"], lambda raw, make: (
        lambda handle: [raw.TensorListGetItem(input_handle=handle, index=make("i", V(1)), element_shape=make("s2", shape),
                                              element_dtype="float32"), raw.TensorListLength(input_handle=handle)])(
        raw.TensorListFromTensor(tensor=make("x", F(3, 2)), element_shape=make("s", shape))))

    def reserve(raw, make):
        handle = raw.TensorListReserve(element_shape=make("s", shape), num_elements=make("n", K(3)),
                                       element_dtype="float32")
        handle = raw.TensorListSetItem(input_handle=handle, index=make("i", V(1)), item=make("x", F(2)))
        return [raw.TensorListStack(input_handle=handle, element_shape=make("s2", shape), element_dtype="float32",
                                    num_elements=3)]
    case("TensorListSetItem.0", ["TensorListReserve", "TensorListSetItem"], reserve)

    def push(raw, make):
        handle = raw.EmptyTensorList(element_shape=make("s", shape), max_num_elements=make("n", K(-1)),
                                     element_dtype="float32")
        for i in range(3):
            handle = raw.TensorListPushBack(input_handle=handle, tensor=make(f"x{i}", F(2)))
        handle, last = raw.TensorListPopBack(input_handle=handle, element_shape=make("s2", shape), element_dtype="float32")
        return [last, raw.TensorListStack(input_handle=handle, element_shape=make("s3", shape), element_dtype="float32")]
    case("TensorListPushBack.0", ["EmptyTensorList", "TensorListPushBack", "TensorListPopBack"], push)

    def gather(raw, make):
        handle = raw.TensorListFromTensor(tensor=make("x", F(4, 2)), element_shape=make("s", shape))
        return [raw.TensorListGather(input_handle=handle, indices=make("i", V([3, 0])), element_shape=make("s2", shape),
                                     element_dtype="float32")]
    case("TensorListGather.0", ["TensorListGather"], gather)

    def concat(raw, make):
        handle = raw.TensorListSplit(tensor=make("x", F(5, 2)), element_shape=make("s", K([-1, 2])),
                                     lengths=make("n", K([2, 3], "i64")))
        joined, lengths = raw.TensorListConcatV2(input_handle=handle, element_shape=make("s2", K([-1, 2])),
                                                 leading_dims=make("d", K([], "i64")), element_dtype="float32")
        return [joined, lengths, raw.TensorListGetItem(input_handle=handle, index=make("i", K(1)),
                                                       element_shape=make("s3", K([-1, 2])), element_dtype="float32")]
    case("TensorListConcatV2.0", ["TensorListConcatV2", "TensorListSplit"], concat)

    def scatter(raw, make):
        handle = raw.TensorListScatterV2(tensor=make("x", F(2, 2)), indices=make("i", V([2, 0])),
                                         element_shape=make("s", shape), num_elements=make("n", K(3)))
        return [raw.TensorListStack(input_handle=handle, element_shape=make("s2", shape), element_dtype="float32")]
    case("TensorListScatterV2.0", ["TensorListScatterV2"], scatter)

    def resize(raw, make):
        handle = raw.TensorListFromTensor(tensor=make("x", F(3, 2)), element_shape=make("s", shape))
        handle = raw.TensorListResize(input_handle=handle, size=make("n", K(2)))
        return [raw.TensorListStack(input_handle=handle, element_shape=make("s2", shape), element_dtype="float32"),
                raw.TensorListElementShape(input_handle=handle, shape_type="int32")]
    case("TensorListResize.0", ["TensorListResize", "TensorListElementShape"], resize)


def arrays(add):
    def array(size=3):
        raw = tensorflow().raw_ops
        return raw.TensorArrayV3(size=size, dtype="float32", dynamic_size=False)

    def write_and_read(make):
        raw = tensorflow().raw_ops
        handle, flow_in = array()
        for i in range(3):
            flow_in = raw.TensorArrayWriteV3(handle=handle, index=i, value=make(f"x{i}", F(2)), flow_in=flow_in)
        return [raw.TensorArrayReadV3(handle=handle, index=make("i", V(1)), flow_in=flow_in, dtype="float32"),
                raw.TensorArraySizeV3(handle=handle, flow_in=flow_in)]

    def scatter_and_gather(make):
        raw = tensorflow().raw_ops
        handle, flow_in = array()
        flow_in = raw.TensorArrayScatterV3(handle=handle, indices=[2, 0, 1], value=make("x", F(3, 2)), flow_in=flow_in)
        return [raw.TensorArrayGatherV3(handle=handle, indices=[0, 2], flow_in=flow_in, dtype="float32")]

    def split_and_concat(make):
        raw = tensorflow().raw_ops
        handle, flow_in = array(2)
        flow_in = raw.TensorArraySplitV3(handle=handle, value=make("x", F(5, 2)),
                                         lengths=make("n", K([2, 3], "i64")), flow_in=flow_in)
        return list(raw.TensorArrayConcatV3(handle=handle, flow_in=flow_in, dtype="float32"))

    add.graph("TensorArrayV3.write_and_read", ["TensorArrayV3", "TensorArrayWriteV3", "TensorArrayReadV3",
                                               "TensorArraySizeV3"], write_and_read)
    add.graph("TensorArrayV3.scatter_and_gather", ["TensorArrayScatterV3", "TensorArrayGatherV3"], scatter_and_gather)
    add.graph("TensorArrayV3.split_and_concat", ["TensorArraySplitV3", "TensorArrayConcatV3"], split_and_concat)


def leaves(add):
    """Graphs whose outputs atc has to find."""
    def two(make):
        tf = tensorflow()
        x = make("x", F(2, 3))
        return [tf.add(x, 1.0, name="first"), tf.reduce_sum(x, 1, name="second")]

    def guarded(make):
        tf = tensorflow()
        x = make("x", F(2, 3))
        with tf.control_dependencies([tf.raw_ops.Assert(condition=tf.reduce_all(x < 100), data=[x]),
                                      tf.no_op(name="nothing")]):
            return [tf.identity(tf.raw_ops.Print(input=x * 2, data=[x], message="seen"), name="y")]

    def defaults(make):
        tf = tensorflow()
        x = make("x", F(2, 3))
        return [tf.add(x, tf.compat.v1.placeholder_with_default(tf.constant([1.0, 2.0, 3.0]), [3]), name="y")]

    def constants(make):
        tf = tensorflow()
        x = make("x", F(2))
        kinds = [tf.constant([1, 2], "int8"), tf.constant([1.5, 2.5], "float64"), tf.constant([True, False]),
                 tf.constant(3, "int64", [2]), tf.constant([1, 2], "uint16"), tf.constant([1.5, 2], "float16"),
                 tf.constant([1.5, 2], "bfloat16"), tf.constant([1 + 2j, 3], "complex64")]
        total = x
        for constant in kinds:
            total = total + tf.cast(constant, "float32")
        return [tf.identity(total, name="y")]

    add.graph("Leaves.two", ["NoOp"], two, leaves=True)
    add.graph("Assert.guarded", ["Assert", "Print", "NoOp"], guarded)
    add.graph("PlaceholderWithDefault.unfed", ["PlaceholderWithDefault"], defaults)
    add.graph("Const.types", ["Const", "Placeholder"], constants)


def cases(add):
    for name, (body, old, new) in FLOWS.items():
        add.graph(f"Switch.{name}" if "cond" in name else f"Enter.{name}", old, flow(False, body))
        add.graph(f"If.{name}" if "cond" in name else f"While.{name}", new, flow(True, body))
    functions(add)
    lists(add)
    arrays(add)
    leaves(add)
