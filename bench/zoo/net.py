# SPDX-License-Identifier: Apache-2.0
"""Building the networks of the zoo: tensors that know their shape, layers as exporters spell them.

Weights are drawn, not trained, so that the answers mean nothing; scales keep activations finite.
"""

from dataclasses import dataclass

import numpy as np
from onnx import TensorProto, helper, numpy_helper

TYPES = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.int64): TensorProto.INT64,
         np.dtype(np.bool_): TensorProto.BOOL}


@dataclass(frozen=True)
class Tensor:
    name: str
    shape: tuple

    @property
    def width(self):
        return self.shape[-1]


class Net:
    def __init__(self, seed=0, opset=17):
        self.random = np.random.default_rng(seed)
        self.opset = opset
        self.nodes, self.weights, self.inputs, self.outputs, self.constants = [], [], [], [], {}
        self.feeds = {}
        self.weight_form = None  # of linear(): None is floats, see narrow_product()

    # --- values

    def input(self, *shape, most=None, values=None):
        """An input; `most`: integers below it; `values`: what is fed instead of drawn numbers."""
        name = f"input{len(self.inputs)}"
        if values is None and most is None:
            values = self.random.standard_normal(shape, dtype=np.float32)
        elif values is None:
            values = self.random.integers(0, most, shape, np.int64)
        self.feeds[name] = values
        self.inputs.append(helper.make_tensor_value_info(name, TYPES[values.dtype], shape))
        return Tensor(name, tuple(shape))

    def weight(self, *shape, scale=1.0):
        array = self.random.standard_normal(shape, dtype=np.float32) * np.float32(scale)
        return self.array(array)

    def uniform(self, low, high, *shape):
        return self.array(self.random.uniform(low, high, shape).astype(np.float32))

    def array(self, array):
        name = f"weight{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(array, order="C"), name))
        return Tensor(name, tuple(array.shape))

    def constant(self, value, dtype=np.float32):
        array = np.asarray(value, dtype)
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self.constants:
            self.constants[key] = self.array(array)
        return self.constants[key]

    def ints(self, *values):
        return self.constant(values, np.int64)

    def node(self, op, inputs, shape, **attrs):
        name = f"{op.lower()}{len(self.nodes)}"
        names = [x.name if isinstance(x, Tensor) else x for x in inputs]
        self.nodes.append(helper.make_node(op, names, [name], name=name, **attrs))
        return Tensor(name, tuple(shape))

    def several(self, op, inputs, shapes, **attrs):
        name = f"{op.lower()}{len(self.nodes)}"
        outs = [f"{name}_{i}" for i in range(len(shapes))]
        names = [x.name if isinstance(x, Tensor) else x for x in inputs]
        self.nodes.append(helper.make_node(op, names, outs, name=name, **attrs))
        return [Tensor(out, tuple(shape)) for out, shape in zip(outs, shapes)]

    def output(self, *tensors, dtype=np.float32):
        for x in tensors:
            shape = [d if d is not None else f"dim{i}" for i, d in enumerate(x.shape)]
            kind = TYPES[np.dtype(dtype)]
            self.outputs.append(helper.make_tensor_value_info(x.name, kind, shape))
        return self

    def model(self, name):
        graph = helper.make_graph(self.nodes, name, self.inputs, self.outputs, self.weights)
        model = helper.make_model(graph, producer_name="anynpu-zoo",
                                  opset_imports=[helper.make_opsetid("", self.opset),
                                                 helper.make_opsetid("com.microsoft", 1)])
        model.ir_version = 8
        return model

    # --- element by element

    def unary(self, op, x, **attrs):
        return self.node(op, [x], x.shape, **attrs)

    def binary(self, op, a, b):
        a, b = (x if isinstance(x, Tensor) else self.constant(x) for x in (a, b))
        return self.node(op, [a, b], np.broadcast_shapes(a.shape, b.shape))

    def add(self, a, b):
        return self.binary("Add", a, b)

    def mul(self, a, b):
        return self.binary("Mul", a, b)

    def sub(self, a, b):
        return self.binary("Sub", a, b)

    def div(self, a, b):
        return self.binary("Div", a, b)

    def act(self, kind, x):
        """An activation in the operators that PyTorch's exporter writes."""
        if kind is None:
            return x
        if kind == "silu":
            return self.mul(x, self.unary("Sigmoid", x))
        if kind == "gelu":
            y = self.unary("Erf", self.div(x, np.sqrt(2.0)))
            return self.mul(self.mul(x, self.add(y, 1.0)), 0.5)
        if kind == "gelu_tanh":
            cube = self.mul(self.binary("Pow", x, 3.0), 0.044715)
            y = self.unary("Tanh", self.mul(self.add(x, cube), 0.7978845608))
            return self.mul(self.mul(x, 0.5), self.add(y, 1.0))
        if kind == "mish":
            return self.mul(x, self.unary("Tanh", self.unary("Softplus", x)))
        if kind == "relu6":
            return self.node("Clip", [x, self.constant(0.0), self.constant(6.0)], x.shape)
        if kind == "leaky":
            return self.unary("LeakyRelu", x, alpha=0.1)
        if kind == "prelu":
            slope = self.uniform(0.1, 0.3, *([x.shape[1]] + [1] * (len(x.shape) - 2)))
            return self.node("PRelu", [x, slope], x.shape)
        op = {"relu": "Relu", "hardswish": "HardSwish", "sigmoid": "Sigmoid", "tanh": "Tanh",
              "elu": "Elu", "softplus": "Softplus"}.get(kind)
        if op:
            return self.unary(op, x)
        assert kind == "hardsigmoid", kind
        return self.unary("HardSigmoid", x, alpha=1 / 6, beta=0.5)

    # --- convolutions: N, C, space...

    def conv(self, x, channels, k=3, s=1, d=1, g=1, bias=True, act=None, pad=None):
        dims = len(x.shape) - 2
        k, s, d = (v if isinstance(v, tuple) else (v,) * dims for v in (k, s, d))
        if pad is None:
            pad = tuple((a - 1) * b // 2 for a, b in zip(k, d))
        pad = pad if isinstance(pad, tuple) else (pad,) * dims
        per = x.shape[1] // g
        w = self.weight(channels, per, *k, scale=np.sqrt(2.0 / (per * np.prod(k))))
        inputs = [x, w] + ([self.uniform(-0.1, 0.1, channels)] if bias else [])
        out = [(n + 2 * p - e * (f - 1) - 1) // t + 1
               for n, p, e, f, t in zip(x.shape[2:], pad, d, k, s)]
        y = self.node("Conv", inputs, (x.shape[0], channels, *out), kernel_shape=k, strides=s,
                      dilations=d, group=g, pads=[*pad, *pad])
        return self.act(act, y)

    def conv_bn(self, x, channels, k=3, s=1, d=1, g=1, act="relu", pad=None):
        y = self.conv(x, channels, k, s, d, g, bias=False, pad=pad)
        return self.act(act, self.batch_norm(y))

    def depthwise(self, x, k=3, s=1, d=1, act="relu", norm=True):
        make = self.conv_bn if norm else self.conv
        return make(x, x.shape[1], k, s, d, x.shape[1], act=act)

    def conv_transpose(self, x, channels, k, s, pad=0, g=1):
        dims = len(x.shape) - 2
        w = self.weight(x.shape[1], channels // g, *([k] * dims),
                        scale=1 / np.sqrt(x.shape[1] // g * (k / s) ** dims))
        out = [(n - 1) * s + k - 2 * pad for n in x.shape[2:]]
        return self.node("ConvTranspose", [x, w, self.uniform(-0.1, 0.1, channels)],
                         (x.shape[0], channels, *out), kernel_shape=[k] * dims, strides=[s] * dims,
                         pads=[pad] * 2 * dims, group=g)

    def batch_norm(self, x):
        c = x.shape[1]
        parts = [self.uniform(0.5, 1, c), self.uniform(-0.1, 0.1, c), self.uniform(-0.1, 0.1, c),
                 self.uniform(0.5, 1.5, c)]
        return self.node("BatchNormalization", [x, *parts], x.shape, epsilon=1e-5)

    def pool(self, x, k=2, s=None, kind="MaxPool", pad=0):
        s = s or k
        dims = len(x.shape) - 2
        out = [(n + 2 * pad - k) // s + 1 for n in x.shape[2:]]
        more = {"count_include_pad": 0} if kind == "AveragePool" else {}
        return self.node(kind, [x], (*x.shape[:2], *out), kernel_shape=[k] * dims,
                         strides=[s] * dims, pads=[pad] * 2 * dims, **more)

    def global_pool(self, x):
        return self.node("GlobalAveragePool", [x], (*x.shape[:2], *[1] * (len(x.shape) - 2)))

    def squeeze_excite(self, x, inner, act="relu", gate="sigmoid"):
        y = self.conv(self.global_pool(x), inner, 1, act=act)
        return self.mul(x, self.conv(y, x.shape[1], 1, act=gate))

    def resize(self, x, scale, mode="nearest"):
        dims = len(x.shape) - 2
        scales = self.constant([1, 1] + [scale] * dims)
        more = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
        if mode == "linear":
            more = {"coordinate_transformation_mode": "half_pixel"}
        out = [int(n * scale) for n in x.shape[2:]]
        return self.node("Resize", [x, "", scales], (*x.shape[:2], *out), mode=mode, **more)

    def group_norm(self, x, groups=32):
        """InstanceNormalization over groups, then scale and shift of channels."""
        c, rank = x.shape[1], len(x.shape)
        y = self.reshape(x, x.shape[0], groups, -1)
        y = self.node("InstanceNormalization",
                      [y, self.constant(np.ones(groups)), self.constant(np.zeros(groups))], y.shape,
                      epsilon=1e-5)
        y = self.reshape(y, *x.shape)
        ones = [1] * (rank - 2)
        return self.add(self.mul(y, self.uniform(0.8, 1.2, c, *ones)),
                        self.uniform(-0.1, 0.1, c, *ones))

    def head(self, x, classes=1000):
        """Global mean and a classifier."""
        y = self.node("Flatten", [self.global_pool(x)], (x.shape[0], x.shape[1]))
        return self.output(self.gemm(y, classes))

    # --- shapes

    def reshape(self, x, *shape):
        rest = -np.prod(x.shape, dtype=np.int64) // np.prod(shape, dtype=np.int64)
        full = tuple(int(rest) if n == -1 else int(n) for n in shape)
        return self.node("Reshape", [x, self.ints(*shape)], full)

    def transpose(self, x, *perm):
        return self.node("Transpose", [x], [x.shape[p] for p in perm], perm=perm)

    def concat(self, parts, axis=1):
        shape = list(parts[0].shape)
        shape[axis] = sum(p.shape[axis] for p in parts)
        return self.node("Concat", parts, shape, axis=axis)

    def split(self, x, sizes, axis=1):
        shapes = []
        for size in sizes:
            shape = list(x.shape)
            shape[axis] = size
            shapes.append(shape)
        return self.several("Split", [x, self.ints(*sizes)], shapes, axis=axis)

    def slice(self, x, begin, end, axis, step=1):
        size = x.shape[axis]
        shape = list(x.shape)
        shape[axis] = len(range(size)[begin:end:step])
        return self.node("Slice", [x, self.ints(begin), self.ints(end), self.ints(axis),
                                   self.ints(step)], shape)

    def gather(self, x, index, axis=0):
        shape = (*x.shape[:axis], *index.shape, *x.shape[axis + 1:])
        return self.node("Gather", [x, index], shape, axis=axis)

    def unsqueeze(self, x, axis):
        shape = list(x.shape)
        shape.insert(axis if axis >= 0 else len(shape) + 1 + axis, 1)
        return self.node("Unsqueeze", [x, self.ints(axis)], shape)

    def expand(self, x, *shape):
        return self.node("Expand", [x, self.ints(*shape)], np.broadcast_shapes(x.shape, shape))

    def reduce(self, op, x, axes, keep=True):
        axes = [a % len(x.shape) for a in axes]
        shape = [1 if i in axes else n for i, n in enumerate(x.shape)]
        if not keep:
            shape = [n for i, n in enumerate(x.shape) if i not in axes]
        if op == "ReduceSum":
            return self.node(op, [x, self.ints(*axes)], shape, keepdims=int(keep))
        return self.node(op, [x], shape, axes=axes, keepdims=int(keep))

    def topk(self, x, k, axis=-1):
        shape = list(x.shape)
        shape[axis] = k
        return self.several("TopK", [x, self.ints(k)], [shape, shape], axis=axis)

    # --- transformers: ..., width

    def matmul(self, a, b):
        lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        return self.node("MatMul", [a, b], (*lead, a.shape[-2], b.shape[-1]))

    def linear(self, x, width, bias=True, act=None):
        if self.weight_form:
            y = self.narrow_product(x, width, self.weight_form)
        else:
            y = self.matmul(x, self.weight(x.width, width, scale=1 / np.sqrt(x.width)))
        if bias:
            y = self.add(self.uniform(-0.1, 0.1, width), y)
        return self.act(act, y)

    def narrow_product(self, x, width, form, block=32):
        """With weights of 8 bits and a scale for each column, or of 4 bits in blocks."""
        k = x.width
        if form == "int8":
            codes = self.array(self.random.integers(-127, 128, (k, width)).astype(np.int8))
            scale = self.uniform(0.8 / 73 / np.sqrt(k), 1.2 / 73 / np.sqrt(k), width)
            return self.matmul(x, self.node("DequantizeLinear", [codes, scale], (k, width), axis=1))
        assert form == "int4" and k % block == 0, (form, k)
        codes = self.random.integers(0, 256, (width, k // block, block // 2)).astype(np.uint8)
        scale = self.uniform(0.8 / 4.6 / np.sqrt(k), 1.2 / 4.6 / np.sqrt(k), width * (k // block))
        return self.node("MatMulNBits", [x, self.array(codes), scale], (*x.shape[:-1], width), K=k,
                         N=width, bits=4, block_size=block, domain="com.microsoft")

    def gemm(self, x, width, act=None):
        w = self.weight(width, x.width, scale=1 / np.sqrt(x.width))
        y = self.node("Gemm", [x, w, self.uniform(-0.1, 0.1, width)], (x.shape[0], width),
                      transB=1)
        return self.act(act, y)

    def layer_norm(self, x, epsilon=1e-5, whole=True):
        scale, bias = self.uniform(0.8, 1.2, x.width), self.uniform(-0.1, 0.1, x.width)
        if whole:
            return self.node("LayerNormalization", [x, scale, bias], x.shape, axis=-1,
                             epsilon=epsilon)
        centred = self.sub(x, self.reduce("ReduceMean", x, [-1]))
        variance = self.reduce("ReduceMean", self.binary("Pow", centred, 2.0), [-1])
        root = self.unary("Sqrt", self.add(variance, epsilon))
        return self.add(self.mul(self.div(centred, root), scale), bias)

    def rms_norm(self, x, epsilon=1e-6):
        square = self.reduce("ReduceMean", self.binary("Pow", x, 2.0), [-1])
        root = self.unary("Sqrt", self.add(square, epsilon))
        y = self.mul(x, self.div(self.constant(1.0), root))
        return self.mul(self.uniform(0.8, 1.2, x.width), y)

    def softmax(self, x, axis=-1):
        return self.unary("Softmax", x, axis=axis)

    def heads(self, x, count):
        """batch x length x width to batch x heads x length x size."""
        y = self.reshape(x, x.shape[0], x.shape[1], count, x.width // count)
        return self.transpose(y, 0, 2, 1, 3)

    def join(self, x):
        y = self.transpose(x, 0, 2, 1, 3)
        return self.reshape(y, y.shape[0], y.shape[1], -1)

    def sdpa(self, q, k, v, mask=None, bias=None):
        """scaled_dot_product_attention as PyTorch exports it."""
        scale = float(np.sqrt(np.sqrt(1 / q.width)))
        scores = self.matmul(self.mul(q, scale), self.mul(self.transpose(k, 0, 1, 3, 2), scale))
        for extra in (bias, mask):
            if extra is not None:
                scores = self.add(scores, extra)
        return self.matmul(self.softmax(scores), v)

    def attention(self, x, count, context=None, mask=None, bias=True):
        context = context or x
        q = self.heads(self.linear(x, x.width, bias), count)
        k = self.heads(self.linear(context, x.width, bias), count)
        v = self.heads(self.linear(context, x.width, bias), count)
        return self.linear(self.join(self.sdpa(q, k, v, mask)), x.width, bias)

    def mlp(self, x, inner, act="gelu"):
        return self.linear(self.linear(x, inner, act=act), x.width)

    def tokens(self, x):
        """batch x channels x height x width to batch x length x channels."""
        y = self.reshape(x, x.shape[0], x.shape[1], -1)
        return self.transpose(y, 0, 2, 1)

    def picture(self, x, height, width):
        y = self.transpose(x, 0, 2, 1)
        return self.reshape(y, x.shape[0], x.width, height, width)

    def embed(self, vocabulary, width, ids):
        return self.gather(self.weight(vocabulary, width, scale=0.5), ids)
