# SPDX-License-Identifier: Apache-2.0
"""One small network for each primitive of src/import/mindspore/primitives.cpp that MindSpore's CPU
runs: functions of `mindspore.ops` and `mindspore.mint`, layers of `mindspore.nn`."""
import numpy as np
from mindspore import Tensor, mint, nn, ops
from mindspore import dtype as mstype

CASES = {}


def tensor(*shape, seed=0, low=-2.0, high=2.0, dtype=np.float32):
    values = np.random.RandomState(seed).uniform(low, high, shape)
    return Tensor(values.astype(dtype))


class One(nn.Cell):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def construct(self, x):
        return self.function(x)


class Two(nn.Cell):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def construct(self, x, y):
        return self.function(x, y)


class Three(nn.Cell):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def construct(self, x, y, z):
        return self.function(x, y, z)


def case(*inputs, name=None):
    """Adds a function with the tensors it is called with."""
    def add(function):
        kind = {1: One, 2: Two, 3: Three}[len(inputs)]
        CASES[name or function.__name__] = lambda: (kind(function), list(inputs))
        return function
    return add


X = tensor(2, 3, 4)
Y = tensor(2, 3, 4, seed=1)
UNIT = tensor(2, 3, low=-0.9, high=0.9)
POSITIVE = tensor(2, 3, 4, low=0.1, high=3.0)
WHOLE = Tensor(np.random.RandomState(0).randint(-9, 9, (2, 3, 4)).astype(np.int32))
WHOLE2 = Tensor(np.random.RandomState(1).randint(1, 9, (2, 3, 4)).astype(np.int32))
FLAGS = Tensor(np.random.RandomState(2).randint(0, 2, (2, 3, 4)).astype(bool))
FLAGS2 = Tensor(np.random.RandomState(3).randint(0, 2, (2, 3, 4)).astype(bool))
PICTURE = tensor(1, 4, 9, 8)
MATRIX = tensor(3, 4)
MATRIX2 = tensor(4, 5, seed=1)

# Functions of one tensor by their name in mindspore.ops.
for _name in ("abs neg sqrt square exp erf sin cos tan sinh cosh tanh floor ceil round sign "
              "sigmoid relu relu6 silu gelu hardswish hardsigmoid mish softsign selu elu expm1 "
              "erfc isfinite isnan logsigmoid trunc deg2rad rad2deg zeros_like ones_like").split():
    CASES[f"ops_{_name}"] = (lambda f: lambda: (One(f), [X]))(getattr(ops, _name))
for _name in "asin acos atan atanh asinh".split():
    CASES[f"ops_{_name}"] = (lambda f: lambda: (One(f), [UNIT]))(getattr(ops, _name))
for _name in "log log1p rsqrt reciprocal acosh".split():
    _input = tensor(2, 3, low=1.1, high=4.0)
    CASES[f"ops_{_name}"] = (lambda f, x: lambda: (One(f), [x]))(getattr(ops, _name), _input)
CASES["ops_logical_not"] = lambda: (One(ops.logical_not), [FLAGS])
for _name in ("add sub mul div maximum minimum equal not_equal greater greater_equal less "
              "less_equal pow").split():
    _input = POSITIVE if _name == "pow" else X
    CASES[f"ops_{_name}"] = (lambda f, x: lambda: (Two(f), [x, Y]))(getattr(ops, _name), _input)
for _name in "floor_div floor_mod fmod bitwise_and bitwise_or bitwise_xor".split():
    CASES[f"ops_{_name}"] = (lambda f: lambda: (Two(f), [WHOLE, WHOLE2]))(getattr(ops, _name))
for _name in "logical_and logical_or logical_xor".split():
    CASES[f"ops_{_name}"] = (lambda f: lambda: (Two(f), [FLAGS, FLAGS2]))(getattr(ops, _name))
# Functions of mindspore.mint by name.
for _name in "relu sigmoid tanh exp neg square erf".split():
    CASES[f"mint_{_name}"] = (lambda f: lambda: (One(f), [X]))(getattr(mint, _name, None)
                                                             or getattr(mint.nn.functional, _name))
for _name in "add sub mul div eq ne gt lt maximum minimum matmul".split():
    _pair = [MATRIX, MATRIX2] if _name == "matmul" else [X, Y]
    CASES[f"mint_{_name}"] = (lambda f, p: lambda: (Two(f), p))(getattr(mint, _name), _pair)
# Layers.
_LAYERS = {
    "conv_same": (lambda: nn.Conv2d(4, 6, 3, 2, "same"), PICTURE),
    "conv_valid_bias": (lambda: nn.Conv2d(4, 6, 3, 1, "valid", has_bias=True), PICTURE),
    "conv_pad_dilated": (lambda: nn.Conv2d(4, 6, 3, 1, "pad", (1, 2, 3, 0), dilation=2), PICTURE),
    "conv_groups": (lambda: nn.Conv2d(4, 8, 3, 1, "pad", 1, group=2), PICTURE),
    "conv_depthwise": (lambda: nn.Conv2d(4, 4, 3, 1, "pad", 1, group=4), PICTURE),
    "conv1d": (lambda: nn.Conv1d(4, 6, 3, 1, "same"), tensor(1, 4, 9)),
    "conv_transpose": (lambda: nn.Conv2dTranspose(4, 3, 3, 2, "same"), PICTURE),
    "conv_transpose_pad": (lambda: nn.Conv2dTranspose(4, 3, 4, 2, "pad", 1), PICTURE),
    "max_pool_same": (lambda: nn.MaxPool2d(3, 2, "same"), PICTURE),
    "max_pool_valid": (lambda: nn.MaxPool2d(2, 2), PICTURE),
    "avg_pool_valid": (lambda: nn.AvgPool2d(2, 2), PICTURE),
    "avg_pool_same": (lambda: nn.AvgPool2d(3, 2, "same"), PICTURE),
    "adaptive_avg_pool": (lambda: nn.AdaptiveAvgPool2d((3, 5)), PICTURE),
    "adaptive_avg_pool_one": (lambda: nn.AdaptiveAvgPool2d(1), PICTURE),
    "batch_norm": (lambda: nn.BatchNorm2d(4), PICTURE),
    "batch_norm1d": (lambda: nn.BatchNorm1d(4), tensor(3, 4)),
    "layer_norm": (lambda: nn.LayerNorm((4,)), X),
    "group_norm": (lambda: nn.GroupNorm(2, 4), PICTURE),
    "dense": (lambda: nn.Dense(4, 5), X),
    "dense_plain": (lambda: nn.Dense(4, 5, has_bias=False), MATRIX),
    "prelu": (lambda: nn.PReLU(4), PICTURE),
    "leaky_relu": (lambda: nn.LeakyReLU(0.1), X),
    "hard_swish": (lambda: nn.HSwish(), X),
    "hard_sigmoid": (lambda: nn.HSigmoid(), X),
    "gelu_tanh": (lambda: nn.GELU(), X),
    "fast_gelu": (lambda: nn.FastGelu(), X),
    "log_softmax": (lambda: nn.LogSoftmax(1), X),
    "softmax": (lambda: nn.Softmax(1), X),
    "soft_shrink": (lambda: nn.SoftShrink(0.4), X),
    "hard_shrink": (lambda: nn.HShrink(0.4), X),
    "celu": (lambda: nn.CELU(0.8), X),
    "embedding": (lambda: nn.Embedding(9, 4), Tensor(np.array([[1, 8], [0, 3]], np.int32))),
    "pixel_shuffle": (lambda: nn.PixelShuffle(2), PICTURE),
    "mint_linear": (lambda: mint.nn.Linear(4, 5), X),
    "upsample_nearest": (lambda: nn.Upsample(size=(18, 16), mode="nearest"), PICTURE),
    "upsample_bilinear": (lambda: nn.Upsample(size=(5, 11), mode="bilinear"), PICTURE),
}


def layer(name):
    from nets import seeded
    make, x = _LAYERS[name]
    return seeded(One(make())), [x]


for _name in _LAYERS:
    CASES[f"nn_{_name}"] = (lambda n: lambda: layer(n))(_name)


@case(X)
def cast_f16(x):
    return ops.cast(x, mstype.float16)


@case(X)
def cast_i32(x):
    return ops.cast(x, mstype.int32)


@case(FLAGS)
def cast_from_bool(x):
    return ops.cast(x, mstype.float32)


@case(X)
def cast_bf16_and_back(x):
    return ops.cast(ops.cast(x, mstype.bfloat16), mstype.float32)


@case(X)
def scalars(x):
    return (2.0 - x) * 3 / 4 + 1 - x * x


@case(X)
def compare_with_number(x):
    return x > 0.5, x <= 0, x == 1


@case(X)
def reduce_all_axes(x):
    return ops.reduce_mean(x), x.sum(), x.max(), x.min()


@case(X)
def reduce_some_axes(x):
    return ops.sum(x, (0, 2)), ops.ReduceMean(keep_dims=True)(x, 1), ops.amax(x, -1), ops.prod(x, 1)


@case(FLAGS)
def reduce_flags(x):
    return ops.all(x, 1), ops.any(x, 0)


@case(X)
def mint_reductions(x):
    return mint.mean(x, 1), mint.sum(x, (0, 1), keepdim=True), mint.sum(x)


@case(X)
def arg_max_min(x):
    return ops.argmax(x, 1), ops.argmin(x, 2), x.argmax()


@case(X)
def max_with_index(x):
    return ops.max(x, 1), ops.min(x, 2, keepdims=True)


@case(X)
def cumulative(x):
    return ops.cumsum(x, 1)


@case(tensor(3, 7))
def top_k(x):
    return ops.topk(x, 3)


@case(tensor(3, 7))
def sorted_rows(x):
    return ops.sort(x, axis=1, descending=True)


@case(MATRIX, MATRIX2)
def matrix_product(x, y):
    return ops.matmul(x, y)


@case(tensor(2, 3, 4), tensor(2, 5, 4, seed=1))
def batch_product(x, y):
    return ops.BatchMatMul(transpose_b=True)(x, y)


@case(MATRIX, tensor(3, 5))
def transposed_product(x, y):
    return ops.MatMul(transpose_a=True)(x, y)


@case(X)
def reshape_and_transpose(x):
    return x.reshape((2, -1)).T, x.transpose(2, 0, 1), x.swapaxes(0, 2), ops.flatten(x)


@case(X)
def axes_in_and_out(x):
    return ops.squeeze(ops.expand_dims(x, 1), 1), x.unsqueeze(-1)


@case(X, Y)
def join(x, y):
    return ops.cat((x, y), axis=1), ops.stack((x, y), axis=2)


@case(tensor(4, 6))
def parts(x):
    a, b, c = ops.split(x, 2, axis=1)
    d, e = ops.split(x, (1, 5), axis=1)
    return a, b, c, d, e


@case(tensor(5, 6))
def chunks(x):
    a, b = ops.chunk(x, 2, axis=0)
    return a, b


@case(tensor(3, 4))
def unstacked(x):
    a, b, c = ops.unstack(x, axis=0)
    return a, b, c


@case(tensor(4, 6, 5))
def slices(x):
    return x[1:3, ::2], x[..., -1], x[:, None, 2:], x[2]


@case(tensor(4, 6))
def slice_primitive(x):
    return ops.slice(x, (1, 2), (2, 3)), ops.strided_slice(x, (0, 1), (4, 6), (2, 2))


@case(tensor(2, 3))
def tiles(x):
    return ops.tile(x, (2, 1, 3)), ops.broadcast_to(x, (4, 2, 3))


@case(tensor(1, 2, 4, 5))
def paddings(x):
    return (ops.pad(x, (1, 2)), ops.pad(x, (1, 2, 0, 3), value=1.5),
            ops.pad(x, (1, 2, 2, 1), "reflect"))


@case(tensor(3, 4))
def fills(x):
    return (x + ops.ones((3, 4), mstype.float32), x * ops.full_like(x, 3.0),
            x + ops.zeros((4,), mstype.float32))


@case(tensor(4, 4))
def triangles(x):
    return ops.tril(x), ops.triu(x, 1)


@case(tensor(4, 3))
def reversed_rows(x):
    return ops.flip(x, (0,))


@case(tensor(5, 3), Tensor(np.array([[0, 4], [2, 2]], np.int32)))
def gather_rows(x, y):
    return ops.gather(x, y, 0), ops.gather(x, y % 3, 1)


@case(tensor(4, 3), Tensor(np.array([[0, 1, 2], [2, 0, 1]], np.int32)))
def gather_elements(x, y):
    return ops.gather_elements(x, 1, y)


@case(tensor(4, 3), Tensor(np.array([[0, 1], [3, 2]], np.int32)))
def gather_nd(x, y):
    return ops.gather_nd(x, y)


@case(FLAGS, X, Y)
def where(c, x, y):
    return ops.where(c, x, y), ops.select(c, x, y)


@case(X, FLAGS)
def masked(x, c):
    return ops.masked_fill(x, c, -1.0)


@case(Tensor(np.array([0, 2, 1], np.int32)))
def one_hot(x):
    return ops.one_hot(x, 4, Tensor(1.0), Tensor(0.0))


@case(Tensor(np.array([[0], [2]], np.int32)), tensor(2, 3))
def scatter(x, y):
    return ops.scatter_nd(x, y, (4, 3))


@case(tensor(4, 3), Tensor(np.array([[0], [2]], np.int32)), tensor(2, 3))
def scatter_update(x, y, z):
    return (ops.tensor_scatter_elements(x, ops.tile(y, (1, 3)), z),
            ops.TensorScatterUpdate()(x, y, z))


@case(X)
def clamps(x):
    return ops.clamp(x, -0.5, 0.5), ops.clamp(x, min=0.1), ops.clip_by_value(x, 0.0, 1.0)


@case(PICTURE)
def resize(x):
    return (ops.interpolate(x, size=(5, 6), mode="bilinear", align_corners=True),
            ops.interpolate(x, size=(18, 16), mode="nearest"))


@case(X)
def conditional(x):
    if x.sum() > 0:
        y = x * 2
    else:
        y = x - 1
    return y + 1


@case(X, Tensor(3, mstype.int32))
def loop(x, n):
    y = x
    while n > 0:
        y = y * 2 + x
        n = n - 1
    return y - 1


@case(X)
def loop_then_condition(x):
    while x.max() < 10:
        x = x * 1.5
    if x.sum() > 0:
        x = x + 1
    return x


@case(X, Y)
def lerp_and_squares(x, y):
    return ops.lerp(x, y, 0.3), ops.SquaredDifference()(x, y), ops.addn((x, y, x))


@case(POSITIVE)
def powers(x):
    return x ** 2, x ** 0.5, ops.rsqrt(x)


@case(X)
def norms(x):
    return ops.L2Normalize(axis=1)(x)


@case(PICTURE)
def local_response(x):
    return ops.lrn(x, 2, 1.0, 0.5, 0.6)


@case(tensor(1, 8, 4, 4))
def depth_and_space(x):
    return ops.DepthToSpace(2)(x), ops.SpaceToDepth(2)(x)


@case(X, Y, POSITIVE)
def products_and_ratios(x, y, z):
    return ops.addcmul(x, y, z, Tensor(0.5)), ops.addcdiv(x, y, z, Tensor(0.5))


@case(X, POSITIVE)
def rounded_ratios(x, y):
    return ops.div(x, y, rounding_mode="floor"), ops.div(x, y, rounding_mode="trunc")


@case(tensor(5, 3), Tensor(np.array([4, 0, 2], np.int32)))
def select_rows(x, y):
    return ops.index_select(x, 0, y)


@case(tensor(5, 6))
def narrowed(x):
    return ops.narrow(x, 1, 2, 3)


@case(tensor(4, 3), Tensor(np.array([[0], [2]], np.int32)), tensor(2, 3))
def scatter_add(x, y, z):
    return ops.tensor_scatter_add(x, y, z)


@case(tensor(3, 4))
def ranges(x):
    return x + ops.arange(0, 4).astype(mstype.float32), ops.eye(3, 4, mstype.float32) * x


@case(X, POSITIVE)
def no_nan(x, y):
    return ops.div(x, y), ops.DivNoNan()(x, ops.relu(x)), ops.TruncateMod()(x, y), ops.Mod()(x, y)


@case(tensor(2, 3, 4))
def primitives_of_shape(x):
    return ops.MirrorPad()(x, Tensor(np.array([[0, 0], [1, 1], [2, 1]], np.int64))), ops.Rint()(x)
