# SPDX-License-Identifier: Apache-2.0
"""Graphs drawn by chance, of the operators that the compiler moves, merges and runs in place.

draw_graph(seed) is a valid ONNX model of a few dozen nodes whose values branch, meet again and end
in several outputs, also in the middle: what a pass or the memory plan gets wrong shows in one of
them. The first axis of every value is the batch, so that the same graph serves gears and ranges.
"""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17


class Draw:
    """One graph. Values are known by name, with their shape; all are float32."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.nodes, self.weights, self.values = [], [], {}
        batch = int(self.rng.integers(1, 4))
        for i in range(int(self.rng.integers(1, 3))):
            size = self.choose(5, 8, 12)
            self.values[f"x{i}"] = [batch, self.choose(1, 3, 4, 16, 20), size, size]
        if self.chance():
            self.values["s"] = [batch, self.choose(4, 7), self.choose(8, 24)]
        self.shapes = dict(self.values)  # of the inputs
        self.inputs = list(self.shapes)

    # -- pieces ----------------------------------------------------------------------------------

    def weight(self, shape, scale=None, low=None):
        data = self.rng.standard_normal(shape).astype(np.float32)
        if low is not None:
            data = (np.abs(data) + low).astype(np.float32)
        elif scale is None and len(shape) > 1:
            data *= np.float32(1 / np.sqrt(max(1, np.prod(shape[1:]))))
        return self.keep(data)

    def keep(self, data):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(data, name))
        return name

    def ints(self, *values):
        return self.keep(np.array(values, np.int64))

    def node(self, op, inputs, shape, outputs=1, **attributes):
        """Adds a node; returns the name of its value, or with several a list of them."""
        names = [f"v{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, name=f"n{len(self.nodes)}_{op}",
                                           **attributes))
        shapes = shape if outputs > 1 else [shape]
        for name, one in zip(names, shapes):
            self.values[name] = list(one)
        return names if outputs > 1 else names[0]

    def pick(self, rank=None):
        """A value, recent ones first; None where there is none of that rank."""
        names = [n for n, s in self.values.items() if rank is None or len(s) == rank]
        if not names:
            return None
        back = min(int(self.rng.geometric(0.35)), len(names))
        return names[-back]

    def like(self, shape):
        """Another value of this shape, or one that is made for it."""
        names = [n for n, s in self.values.items() if s == list(shape)]
        if len(names) > 1 and self.rng.random() < 0.8:
            return names[int(self.rng.integers(len(names)))]
        kind = int(self.rng.integers(4))
        if kind == 0:
            return self.keep(self.rng.standard_normal(()).astype(np.float32))
        if kind == 1 and len(shape) == 4:
            return self.weight([shape[1], 1, 1], scale=1)
        if kind == 2:
            return self.weight([shape[-1]], scale=1)
        return self.weight([1] + list(shape[1:]), scale=1)

    def chance(self, p=0.5):
        return self.rng.random() < p

    def choose(self, *options):
        return options[int(self.rng.integers(len(options)))]

    # -- operators on pictures -------------------------------------------------------------------

    def conv(self):
        x = self.pick(4)
        n, c, h, w = self.values[x]
        kernel, stride = self.choose(1, 1, 3, 3, 5), self.choose(1, 1, 2)
        dilation = self.choose(1, 1, 2) if kernel == 3 else 1
        pad = self.choose(0, dilation * (kernel - 1) // 2)
        groups = self.choose(1, 1, c, 2 if c % 2 == 0 else 1)
        out = self.choose(c, 2 * c, 8, 16, 12)
        out = max(groups, out // groups * groups)
        span = dilation * (kernel - 1) + 1
        if h + 2 * pad < span or w + 2 * pad < span:
            return
        inputs = [x, self.weight([out, c // groups, kernel, kernel])]
        if self.chance(0.7):
            inputs.append(self.weight([out]))
        self.node("Conv", inputs, [n, out, (h + 2 * pad - span) // stride + 1,
                                   (w + 2 * pad - span) // stride + 1],
                  kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4,
                  dilations=[dilation] * 2, group=groups)
        for follow in (self.batch_norm, self.activation, self.add):
            if self.chance(0.4):
                follow()

    def conv_transpose(self):
        x = self.pick(4)
        n, c, h, w = self.values[x]
        if h > 12:
            return
        out, kernel, stride = self.choose(4, 8), self.choose(2, 3), self.choose(1, 2)
        self.node("ConvTranspose", [x, self.weight([c, out, kernel, kernel]), self.weight([out])],
                  [n, out, (h - 1) * stride + kernel, (w - 1) * stride + kernel],
                  kernel_shape=[kernel] * 2, strides=[stride] * 2)

    def batch_norm(self):
        x = self.pick(4)
        c = self.values[x][1]
        self.node("BatchNormalization",
                  [x, self.weight([c], 1), self.weight([c], 1), self.weight([c], 1),
                   self.weight([c], low=0.5)], self.values[x])

    def pool(self):
        x = self.pick(4)
        n, c, h, w = self.values[x]
        kernel, stride = self.choose(2, 3), self.choose(1, 2)
        if h < kernel or w < kernel:
            return
        pad = self.choose(0, kernel // 2)
        places = [(size + 2 * pad - kernel) // stride + 1 for size in (h, w)]
        self.node(self.choose("MaxPool", "AveragePool"), [x], [n, c, *places],
                  kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4)

    def squeeze_excite(self):
        x = self.pick(4)
        n, c, _, _ = self.values[x]
        mean = self.node("GlobalAveragePool", [x], [n, c, 1, 1])
        gate = self.node("Conv", [mean, self.weight([c, c, 1, 1])], [n, c, 1, 1])
        gate = self.node("Sigmoid", [gate], [n, c, 1, 1])
        self.node("Mul", self.choose([x, gate], [gate, x]), self.values[x])

    def resize(self):
        x = self.pick(4)
        n, c, h, w = self.values[x]
        if h > 12:
            return
        mode = self.choose("nearest", "linear")
        where = ({"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
                 if mode == "nearest" else {})
        self.node("Resize", [x, "", self.keep(np.array([1, 1, 2, 2], np.float32))],
                  [n, c, 2 * h, 2 * w], mode=mode, **where)

    def depth_to_space(self):
        x = self.pick(4)
        n, c, h, w = self.values[x]
        if c % 4 == 0 and h < 13:
            self.node("DepthToSpace", [x], [n, c // 4, 2 * h, 2 * w], blocksize=2,
                      mode=self.choose("DCR", "CRD"))

    def to_rows(self):
        """N, C, H, W -> N, H * W, C, as vision transformers do."""
        x = self.pick(4)
        n, c, h, w = self.values[x]
        flat = self.node("Reshape", [x, self.ints(0, c, h * w)], [n, c, h * w])
        self.node("Transpose", [flat], [n, h * w, c], perm=[0, 2, 1])

    # -- operators on rows -----------------------------------------------------------------------

    def linear(self):
        x = self.pick(self.choose(2, 3))
        if x is None:
            return
        shape = self.values[x]
        out = self.choose(shape[-1], 8, 24)
        y = self.node("MatMul", [x, self.weight([shape[-1], out], 1)], shape[:-1] + [out])
        if self.chance(0.7):
            bias = self.weight([out])
            self.node("Add", self.choose([y, bias], [bias, y]), self.values[y])

    def gemm(self):
        x = self.pick(2)
        if x is None:
            x = self.node("Flatten", [v := self.pick(4)],
                          [self.values[v][0], int(np.prod(self.values[v][1:]))])
        rows, columns = self.values[x]
        if columns > 4000:
            return
        out, across = self.choose(8, 10), int(self.chance())
        shape = [out, columns] if across else [columns, out]
        self.node("Gemm", [x, self.weight(shape), self.weight([out])], [rows, out], transB=across,
                  alpha=self.choose(1.0, 0.5), beta=self.choose(1.0, 2.0))

    def attention(self):
        x = self.pick(3)
        if x is None or self.values[x][-1] % 4 or self.values[x][1] > 200:
            return
        n, rows, width = self.values[x]
        heads, parts = 2, []
        for _ in range(3):
            y = self.node("MatMul", [x, self.weight([width, width], 1)], [n, rows, width])
            y = self.node("Reshape", [y, self.ints(0, rows, heads, width // heads)],
                          [n, rows, heads, width // heads])
            parts.append(y)
        q = self.node("Transpose", [parts[0]], [n, heads, rows, width // heads], perm=[0, 2, 1, 3])
        k = self.node("Transpose", [parts[1]], [n, heads, width // heads, rows], perm=[0, 2, 3, 1])
        v = self.node("Transpose", [parts[2]], [n, heads, rows, width // heads], perm=[0, 2, 1, 3])
        scores = self.node("MatMul", [q, k], [n, heads, rows, rows])
        scores = self.node("Div", [scores, self.keep(np.float32(width // heads))],
                           self.values[scores])
        weights = self.node("Softmax", [scores], self.values[scores], axis=-1)
        y = self.node("MatMul", [weights, v], [n, heads, rows, width // heads])
        y = self.node("Transpose", [y], [n, rows, heads, width // heads], perm=[0, 2, 1, 3])
        self.node("Reshape", [y, self.ints(0, rows, width)], [n, rows, width])

    def layer_norm(self):
        x = self.pick(self.choose(2, 3))
        if x is None:
            return
        shape, width = self.values[x], self.values[x][-1]
        scale, bias = self.weight([width], low=0.1), self.weight([width])
        if self.chance():
            self.node("LayerNormalization", [x, scale, bias], shape, axis=-1, epsilon=1e-3)
            return
        ones = shape[:-1] + [1]  # as older exporters write it
        centred = self.node("Sub", [x, self.node("ReduceMean", [x], ones, axes=[-1])], shape)
        square = self.node("Pow", [centred, self.keep(np.float32(2))], shape)
        variance = self.node("ReduceMean", [square], ones, axes=[-1])
        variance = self.node("Add", [variance, self.keep(np.float32(1e-3))], ones)
        spread = self.node("Sqrt", [variance], ones)
        y = self.node("Mul", [self.node("Div", [centred, spread], shape), scale], shape)
        self.node("Add", [y, bias], shape)

    def gelu(self):
        x = self.pick()
        shape = self.values[x]
        y = self.node("Erf", [self.node("Div", [x, self.keep(np.float32(2**0.5))], shape)], shape)
        y = self.node("Mul", [x, self.node("Add", [y, self.keep(np.float32(1))], shape)], shape)
        self.node("Mul", [y, self.keep(np.float32(0.5))], shape)

    # -- operators on anything -------------------------------------------------------------------

    def activation(self):
        x = self.pick()
        op, attributes = self.choose(
            ("Relu", {}), ("Relu", {}), ("LeakyRelu", {"alpha": 0.1}), ("Sigmoid", {}),
            ("Tanh", {}), ("HardSwish", {}), ("Elu", {}), ("Softplus", {}), ("Abs", {}),
            ("Neg", {}), ("Identity", {}), ("HardSigmoid", {"alpha": 0.3, "beta": 0.4}))
        self.node(op, [x], self.values[x], **attributes)

    def clip(self):
        x = self.pick()
        self.node("Clip", [x, self.keep(np.float32(-0.5 if self.chance() else 0)),
                           self.keep(np.float32(6))], self.values[x])

    def swish(self):
        x = self.pick()
        self.node("Mul", [x, self.node("Sigmoid", [x], self.values[x])], self.values[x])

    def add(self):
        x = self.pick()
        other = self.like(self.values[x])
        op = self.choose("Add", "Add", "Add", "Mul", "Sub", "Max", "Min")
        self.node(op, self.choose([x, other], [other, x]), self.values[x])

    def concat(self):
        x = self.pick(4) or self.pick()
        shape = self.values[x]
        same = [n for n, s in self.values.items()
                if len(s) == len(shape) and s[:1] + s[2:] == shape[:1] + shape[2:]]
        count = int(self.rng.integers(1, 4))
        names = [x] + [self.choose(*same) for _ in range(count)]
        width = sum(self.values[n][1] for n in names)
        if len(shape) >= 2 and width < 200:
            self.node("Concat", names, shape[:1] + [width] + shape[2:], axis=1)

    def split(self):
        x = self.pick()
        shape = self.values[x]
        axis = int(self.rng.integers(1, len(shape)))
        if shape[axis] < 2:
            return
        first = int(self.rng.integers(1, shape[axis]))
        shapes = [[*shape[:axis], size, *shape[axis + 1:]] for size in (first, shape[axis] - first)]
        self.node("Split", [x, self.ints(first, shape[axis] - first)], shapes, outputs=2, axis=axis)

    def slice(self):
        x = self.pick()
        shape = self.values[x]
        axis = int(self.rng.integers(1, len(shape)))
        if shape[axis] < 3:
            return
        last = shape[axis] - 1
        start, end, step = self.choose((1, last, 1), (1, last, 2), (last - 1, 0, -1))
        self.node("Slice", [x, self.ints(start), self.ints(end), self.ints(axis), self.ints(step)],
                  [*shape[:axis], len(range(start, end, step)), *shape[axis + 1:]])

    def pad(self):
        x = self.pick(4)
        n, c, h, w = self.values[x]
        if h < 3 or w < 3 or h > 20:
            return
        mode = self.choose("constant", "reflect", "edge")
        self.node("Pad", [x, self.ints(0, 0, 1, 0, 0, 0, 1, 2)], [n, c, h + 2, w + 2], mode=mode)

    def transpose(self):
        x = self.pick()
        shape = self.values[x]
        order = [0] + [1 + int(i) for i in self.rng.permutation(len(shape) - 1)]
        self.node("Transpose", [x], [shape[i] for i in order], perm=order)

    def reduce(self):
        x = self.pick()
        shape = self.values[x]
        axis = int(self.rng.integers(1, len(shape)))
        keep = int(self.chance(0.8) or len(shape) == 2)
        reduced = [*shape[:axis], *([1] if keep else []), *shape[axis + 1:]]
        op = self.choose("ReduceMean", "ReduceMax", "ReduceMin", "ReduceL2")
        y = self.node(op, [x], reduced, axes=[axis], keepdims=keep)
        if keep and self.chance():
            self.node(self.choose("Sub", "Mul"), [x, y], shape)

    def softmax(self):
        x = self.pick()
        shape = self.values[x]
        self.node("Softmax", [x], shape, axis=int(self.rng.integers(1, len(shape))))

    def where(self):
        x = self.pick()
        other = self.like(self.values[x])
        test = self.plain("Greater", [x, self.keep(np.float32(0.1))])
        self.node("Where", [test, x, other], self.values[x])

    def gather(self):
        x = self.pick()
        shape = self.values[x]
        axis = int(self.rng.integers(1, len(shape)))
        picked = self.rng.integers(-shape[axis], shape[axis], size=self.choose(1, 3))
        self.node("Gather", [x, self.keep(picked.astype(np.int64))],
                  [*shape[:axis], len(picked), *shape[axis + 1:]], axis=axis)

    # -- forms that exporters write --------------------------------------------------------------

    def computed_reshape(self):
        """Rows of a picture, with the target computed from the shape."""
        x = self.pick(4)
        n, c, h, w = self.values[x]
        shape = self.plain("Shape", [x])
        first = self.plain("Gather", [shape, self.keep(np.array(0, np.int64))], axis=0)
        first = self.plain("Unsqueeze", [first, self.ints(0)])
        target = self.plain("Concat", [first, self.ints(c), self.ints(-1)], axis=0)
        self.node("Reshape", [x, target], [n, c, h * w])

    def computed_slice(self):
        """Half of an axis, with the end computed from the shape."""
        x = self.pick()
        shape = self.values[x]
        axis = int(self.rng.integers(1, len(shape)))
        if shape[axis] < 2:
            return
        size = self.plain("Gather", [self.plain("Shape", [x]), self.ints(axis)], axis=0)
        half = self.plain("Div", [size, self.ints(2)])
        self.node("Slice", [x, self.ints(0), half, self.ints(axis)],
                  [*shape[:axis], shape[axis] // 2, *shape[axis + 1:]])

    def expand(self):
        x = self.pick()
        shape = self.values[x]
        mean = self.node("ReduceMean", [x], [*shape[:-1], 1], axes=[-1])
        self.node("Expand", [mean, self.plain("Shape", [x])], shape)

    def instance_norm(self):
        x = self.pick(4)
        n, c, h, w = self.values[x]
        if h * w > 1:
            self.node("InstanceNormalization", [x, self.weight([c], 1), self.weight([c], 1)],
                      [n, c, h, w], epsilon=1e-2)

    def prelu(self):
        x = self.pick(4)
        self.node("PRelu", [x, self.weight([self.values[x][1], 1, 1], 1)], self.values[x])

    def tile(self):
        x = self.pick()
        shape = self.values[x]
        times = self.ints(*[1] * (len(shape) - 1), 2)
        self.node("Tile", [x, times], [*shape[:-1], 2 * shape[-1]])

    def lstm(self):
        x = self.pick(3)
        if x is None or self.values[x][1] > 40:
            return
        n, steps, width = self.values[x]
        hidden = 6
        y = self.plain(
            "LSTM", [x, self.weight([1, 4 * hidden, width]), self.weight([1, 4 * hidden, hidden])],
            hidden_size=hidden)
        self.node("Squeeze", [y, self.ints(1)], [n, steps, hidden])

    def top_k(self):
        x = self.pick()
        shape = self.values[x]
        if shape[-1] < 3:
            return
        _, places = self.node("TopK", [x, self.ints(2)], [[*shape[:-1], 2]] * 2, outputs=2)
        del self.values[places]

    def einsum(self):
        x = self.pick(3)
        if x is None or self.values[x][1] > 100:
            return
        n, rows, _ = self.values[x]
        self.node("Einsum", [x, x], [n, rows, rows], equation="nij,nkj->nik")

    def mean(self):
        x = self.pick()
        shape = self.values[x]
        same = [n for n, s in self.values.items() if s == shape]
        self.node(self.choose("Sum", "Mean", "Max"), [self.choose(*same) for _ in range(3)], shape)

    def conv_1d(self):
        x = self.pick(3)
        if x is None or self.values[x][1] > 64:
            return
        n, c, size = self.values[x]
        self.node("Conv", [x, self.weight([8, c, 3])], [n, 8, size], kernel_shape=[3], pads=[1, 1])

    def plain(self, op, inputs, **attributes):
        """A node whose result no other step may pick: its name."""
        name = self.node(op, inputs, [], **attributes)
        del self.values[name]
        return name

    STEPS = (["conv"] * 6 + ["activation"] * 3 + ["add"] * 4 + ["concat"] * 2 + ["pool"] * 2 +
             ["batch_norm", "conv_transpose", "squeeze_excite", "resize", "depth_to_space",
              "to_rows", "linear", "linear", "gemm", "attention", "layer_norm", "gelu", "clip",
              "swish", "split", "slice", "pad", "transpose", "reduce", "softmax", "where",
              "gather", "computed_reshape", "computed_slice", "expand",
              "instance_norm", "prelu", "tile", "lstm", "top_k", "einsum", "mean",
              "conv_1d"])

    def steps(self):
        """Takes some steps; returns the names of the outputs."""
        for _ in range(int(self.rng.integers(3, 25))):
            getattr(self, self.choose(*self.STEPS))()
            self.values = {n: s for n, s in self.values.items() if np.prod(s) < 60000}
            if not any(len(s) == 4 for s in self.values.values()):
                self.values[self.inputs[0]] = self.shapes[self.inputs[0]]
        read = {name for node in self.nodes for name in node.input}
        made = [name for node in self.nodes for name in node.output if name in self.values]
        outputs = [name for name in made if name not in read]
        outputs += [name for name in made if name in read and self.chance(0.1)]
        self.rng.shuffle(outputs)
        return outputs[:8]


def draw_graph(seed):
    """(ModelProto, {input: array}); the same for the same seed."""
    draw = Draw(seed)
    outputs = []
    while not outputs:
        outputs = draw.steps()
    declare = helper.make_tensor_value_info
    graph = helper.make_graph(
        draw.nodes, f"drawn{seed}",
        [declare(n, TensorProto.FLOAT, draw.shapes[n]) for n in draw.inputs],
        [declare(n, TensorProto.FLOAT, draw.values[n]) for n in outputs], draw.weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
    onnx.checker.check_model(model)
    feeds = {n: draw.rng.standard_normal(draw.shapes[n]).astype(np.float32) for n in draw.inputs}
    return model, feeds


def with_open_batch(model):
    """The same with the extent of the first axis left open."""
    model = onnx.ModelProto.FromString(model.SerializeToString())
    for value in [*model.graph.input, *model.graph.output]:
        value.type.tensor_type.shape.dim[0].dim_param = "N"
    return model
