# SPDX-License-Identifier: Apache-2.0
"""Functions that no other file calls: gradients of activations, reductions, slices, pictures,
random numbers, older and newer versions of quantised operators and attention, against numpy."""
import ml_dtypes
import numpy as np
import pytest
from aclnn_cases import Case, Skip, out, x
from test_every_name import selu, sigmoid

BF16 = ml_dtypes.bfloat16


def rng(seed):
    return np.random.default_rng(seed)


def floats(seed, *shape, dtype=np.float32):
    return rng(seed).standard_normal(shape).astype(dtype)


def int8(seed, *shape):
    return rng(seed).integers(-128, 128, shape).astype(np.int8)


def slope(f, a, step=1e-5):
    return (f(a + step) - f(a - step)) / (2 * step)


def near(got, want, steps=1):
    assert np.abs(got.astype(np.int64) - want).max() <= steps
    assert (got == want).mean() > 0.95


def to_int8(a):
    return np.clip(np.round(a), -128, 127)


def by_rows(a):
    scale = np.abs(a).max(-1, keepdims=True) / 127
    return to_int8(a / scale), scale


def gelu_tanh(a):
    return 0.5 * a * (1 + np.tanh(np.sqrt(2 / np.pi) * (a + 0.044715 * a ** 3)))


def rms(a, g, eps=1e-5):
    return a / np.sqrt((a * a).mean(-1, keepdims=True) + eps) * g


def mean_var(a):
    mean = a.mean(-1, keepdims=True)
    return (a - mean) / np.sqrt(((a - mean) ** 2).mean(-1, keepdims=True) + 1e-5), mean


def nearest_rows(count, to, exact):
    return np.minimum(np.floor((np.arange(to) + (0.5 if exact else 0)) * count / to).astype(int),
                      count - 1)


def nearest(a, sizes, exact):
    for axis, to in enumerate(sizes):
        a = np.take(a, nearest_rows(a.shape[2 + axis], to, exact), 2 + axis)
    return a


def nearest_back(dy, sizes, exact):
    for axis, count in enumerate(sizes):
        d = np.moveaxis(dy, 2 + axis, 0)
        made = np.zeros((count, *d.shape[1:]))
        np.add.at(made, nearest_rows(count, d.shape[0], exact), d)
        dy = np.moveaxis(made, 0, 2 + axis)
    return dy


def pad_back(g, a, mode):
    """The gradient of a pad by one on all sides of three axes."""
    at = np.arange(a.size).reshape(a.shape)
    wide = np.pad(at, [(0, 0), (0, 0), (1, 1), (1, 1), (1, 1)], mode)
    made = np.zeros(a.size)
    np.add.at(made, wide.ravel(), g.ravel())
    return made.reshape(a.shape)


def case(name, *arguments, **options):
    return Case("aclnn" + name, list(arguments[:-1]), arguments[-1], **options)


CASES = [
    case("Selu", x(3, 4), out(3, 4), selu),
    case("SeluBackward", x(3, 4), x(3, 4), out(3, 4),
         lambda g, y: g * np.where(y > 0, 1.0507009873554805,
                                   y + 1.0507009873554805 * 1.6732632423543772)),
    case("HardswishBackward", x(3, 4), x(3, 4), out(3, 4),
         lambda g, a: g * np.where(a < -3, 0, np.where(a > 3, 1, a / 3 + 0.5))),
    case("GeluBackwardV2", x(3, 4), x(3, 4), Skip("tanh"), out(3, 4),
         lambda g, a: g * slope(gelu_tanh, a.astype(np.float64)), tolerance=1e-4),
    case("SoftMarginLossBackward", x(1), x(3, 4), x(3, 4, like=np.where(np.arange(12) % 2, 1, -1)),
         Skip(1), out(3, 4),
         lambda g, a, t: -g * t * sigmoid(-a * t) / 12),
    case("MseLossOut", x(3, 4), x(3, 4), Skip(1), out(), lambda a, b: ((a - b) ** 2).mean()),
    case("MeanV2", x(3, 4), Skip([1]), Skip(True), Skip(True), out(3, 1),
         lambda a: a.mean(1, keepdims=True)),
    case("MaxV2", x(3, 4), Skip([0]), Skip(False), Skip(True), out(4), lambda a: a.max(0)),
    case("AminmaxAll", x(3, 4), out(), out(), lambda a: (a.min(), a.max())),
    case("AminmaxDim", x(3, 4), Skip(1), Skip(True), out(3, 1), out(3, 1),
         lambda a: (a.min(1, keepdims=True), a.max(1, keepdims=True))),
    case("Var", x(3, 4), Skip([1]), Skip(True), Skip(False), out(3), lambda a: a.var(1, ddof=1)),
    case("CumsumV2", x(3, 4), Skip(1), Skip(True), Skip(True), out(3, 4),
         lambda a: a[:, ::-1].cumsum(1)[:, ::-1] - a),
    case("Permute", x(2, 3, 4), Skip([2, 0, 1]), out(4, 2, 3), lambda a: a.transpose(2, 0, 1)),
    case("Slice", x(5, 4), Skip(0), Skip(1), Skip(5), Skip(2), out(2, 4), lambda a: a[1:5:2]),
    case("SliceV2", x(5, 4), Skip([1, 0]), Skip([5, 3]), Skip([0, 1]), Skip([2, 1]), out(2, 3),
         lambda a: a[1:5:2, :3]),
    case("SplitTensor", x(5, 4), Skip(2), Skip(0), [out(2, 4), out(2, 4), out(1, 4)],
         lambda a: (a[:2], a[2:4], a[4:])),
    case("RepeatInterleave", x(3), x(3, dtype="int64", like=[2, 0, 3]), Skip(5), out(5),
         lambda a, n: np.repeat(a, n)),
    case("GatherV2", x(5, 3), Skip(0), x(2, dtype="int64", like=[4, 1]), out(2, 3),
         lambda a, i: a[i]),
    case("Range", 2.0, 9.0, 3.0, out(3), lambda a, b, c: np.arange(a, b + 1e-9, c)),
    case("GemmaRmsNorm", x(3, 8), x(8), Skip(1e-5), out(3, 8), out(3, 1),
         lambda a, g: (rms(a, 1 + g), 1 / np.sqrt((a * a).mean(-1, keepdims=True) + 1e-5)),
         tolerance=1e-4),
    case("LayerNormWithImplMode", x(3, 8), Skip([8]), x(8), x(8), Skip(1e-5), out(3, 8), out(3, 1),
         out(3, 1), Skip(0),
         lambda a, g, b: (mean_var(a)[0] * g + b, mean_var(a)[1],
                          1 / np.sqrt(a.var(-1, keepdims=True) + 1e-5)), tolerance=1e-4),
    case("UpsampleNearest1d", x(2, 3, 4), Skip([7]), out(2, 3, 7),
         lambda a: nearest(a, [7], False)),
    case("UpsampleNearestExact3d", x(1, 2, 2, 3, 4), Skip([3, 5, 6]), Skip(0.0), Skip(0.0),
         Skip(0.0), out(1, 2, 3, 5, 6),
         lambda a: nearest(a, [3, 5, 6], True)),
    case("UpsampleNearest3dBackward", x(1, 2, 3, 5, 6), Skip([3, 5, 6]), Skip([1, 2, 2, 3, 4]),
         Skip(0.0), Skip(0.0), Skip(0.0),
         out(1, 2, 2, 3, 4), lambda g: nearest_back(g, [2, 3, 4], False)),
    case("UpsampleNearestExact3dBackward", x(1, 2, 3, 5, 6), Skip([3, 5, 6]), Skip([1, 2, 2, 3, 4]),
         Skip(0.0), Skip(0.0),
         Skip(0.0), out(1, 2, 2, 3, 4), lambda g: nearest_back(g, [2, 3, 4], True)),
    case("UpsampleNearestExact2dBackward", x(1, 2, 5, 6), Skip([5, 6]), Skip([1, 2, 3, 4]),
         Skip(0.0), Skip(0.0),
         out(1, 2, 3, 4), lambda g: nearest_back(g, [3, 4], True)),
    case("ReflectionPad3dBackward", x(1, 2, 4, 5, 6), x(1, 2, 2, 3, 4), Skip([1] * 6),
         out(1, 2, 2, 3, 4),
         lambda g, a: pad_back(g, a, "reflect")),
    case("CircularPad3dBackward", x(1, 2, 4, 5, 6), x(1, 2, 2, 3, 4), Skip([1] * 6),
         out(1, 2, 2, 3, 4),
         lambda g, a: pad_back(g, a, "wrap")),
    case("MaxPool", x(1, 2, 4, 6), Skip([2, 2]), Skip([2, 2]), Skip(0), Skip([0, 0, 0, 0]),
         Skip([1, 1]), Skip(0),
         out(1, 2, 2, 3), lambda a: a.reshape(1, 2, 2, 2, 3, 2).max((3, 5))),
]


@pytest.mark.parametrize("item", CASES, ids=str)
def test_results(nn, item):
    item.check(nn)


def test_a_gate_of_gelu_goes_back(nn):
    g, a = floats(1, 3, 4), floats(2, 3, 8)
    u, v = np.split(a.astype(np.float64), 2, 1)
    y, t = nn.empty(np.float32, (3, 8)), nn.tensor
    nn.run("aclnnGeGluBackward", t(g), t(a), t(gelu_tanh(v).astype(np.float32)), -1, 1, y)
    want = np.concatenate([g * gelu_tanh(v), g * u * slope(gelu_tanh, v)], 1)
    np.testing.assert_allclose(y.read(), want, rtol=1e-3, atol=1e-4)
    nn.clear()


@pytest.mark.parametrize("name,size", [("UpsampleBilinear2dBackward", (5, 6)),
                                       ("UpsampleBicubic2dAAGrad", (3, 3))])
def test_resizing_goes_back(nn, name, size):
    """The gradient is the transpose of the function, which other tests compare."""
    a, g = floats(3, 1, 1, 4, 5), floats(4, 1, 1, *size)
    dx, y = nn.empty(np.float32, a.shape), nn.empty(np.float32, g.shape)
    forward = {"UpsampleBilinear2dBackward": "UpsampleBilinear2d",
               "UpsampleBicubic2dAAGrad": "UpsampleBicubic2dAA"}[name]
    nn.run("aclnn" + forward, nn.tensor(a), list(size), False, 0.0, 0.0, y)
    nn.run("aclnn" + name, nn.tensor(g), list(size), list(a.shape), False, 0.0, 0.0, dx)
    assert abs((y.read() * g).sum() - (dx.read() * a).sum()) < 1e-4
    nn.clear()


@pytest.mark.parametrize("axes", [2, 3])
def test_unpooling_goes_back(nn, axes):
    small, large = (1, 2, *[2] * axes), (1, 2, *[4] * axes)
    count = 4 ** axes
    index = np.stack([rng(5 + c).permutation(count)[:2 ** axes]
                      for c in range(2)]).reshape(small).astype(np.int64)
    g, dx, t = floats(6, *large), nn.empty(np.float32, small), nn.tensor
    more = [[2] * 3, [0] * 3] if axes == 3 else []
    nn.run(f"aclnnMaxUnpool{axes}dBackward", t(g), t(floats(7, *small)), t(index), [4] * axes,
           *more, dx)
    want = np.take_along_axis(g.reshape(1, 2, -1), index.reshape(1, 2, -1), 2).reshape(small)
    np.testing.assert_array_equal(dx.read(), want)
    nn.clear()


def test_decompositions(nn):
    a, t = floats(8, 2, 4, 3), nn.tensor
    q, r = nn.empty(np.float32, (2, 4, 3)), nn.empty(np.float32, (2, 3, 3))
    nn.run("aclnnQr", t(a), True, q, r)
    np.testing.assert_allclose(q.read() @ r.read(), a, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(np.swapaxes(q.read(), 1, 2) @ q.read(),
                               np.broadcast_to(np.eye(3), (2, 3, 3)), atol=1e-5)
    assert np.abs(np.tril(r.read(), -1)).max() == 0
    square = floats(9, 3, 4, 4)
    sign, log = nn.empty(np.float32, (3,)), nn.empty(np.float32, (3,))
    nn.run("aclnnSlogdet", t(square), sign, log)
    want = np.linalg.slogdet(square.astype(np.float64))
    np.testing.assert_allclose(sign.read(), want[0])
    np.testing.assert_allclose(log.read(), want[1], rtol=1e-4, atol=1e-5)
    nn.clear()


def test_the_scale_of_gradients_follows_infinities(nn):
    for found, tracker, want in ((1.0, 3, (32.0, 0)), (0.0, 3, (128.0, 0)), (0.0, 1, (64.0, 2))):
        scale = nn.tensor(np.array([64], np.float32))
        growth = nn.tensor(np.array([tracker], np.int32))
        made, counted = nn.empty(np.float32, (1,)), nn.empty(np.int32, (1,))
        nn.run("aclnnAmpUpdateScale", scale, growth, nn.tensor(np.array([found], np.float32)), 2.0,
               0.5, 4, made, counted)
        assert (made.read()[0], counted.read()[0]) == want
        nn.clear()


# --- random numbers: their form and their distribution

def seeds(nn):
    return nn.tensor(np.array([7], np.int64)), nn.tensor(np.array([3], np.int64))


def test_random_numbers_with_seeds_in_tensors(nn):
    a = nn.empty(np.float32, (20000,))
    nn.run("aclnnInplaceRandomTensor", a, 5, 9, *seeds(nn), 0)
    assert set(a.read()) == {5, 6, 7, 8} and abs((a.read() == 5).mean() - 0.25) < 0.02
    b = nn.empty(np.int8, (20000,))
    nn.run("aclnnInplaceRandomWithoutFromToTensor", b, *seeds(nn), 0)
    assert b.read().min() == 0 and b.read().max() == 127
    bits = nn.empty(np.uint8, (2560,))
    nn.run("aclnnDropoutGenMaskV2Tensor", [20480], 0.25, *seeds(nn), 0, 0, bits)
    assert abs(np.unpackbits(bits.read()).mean() - 0.75) < 0.02
    nn.clear()


def test_random_numbers_with_seeds_in_numbers(nn):
    bits = nn.empty(np.uint8, (2560,))
    nn.run("aclnnDropoutGenMask", [20480], 0.25, 1, 2, bits)
    assert abs(np.unpackbits(bits.read()).mean() - 0.75) < 0.02
    a = nn.empty(np.float32, (20000,))
    nn.run("aclnnBernoulli", nn.empty(np.float32, (20000,)), 0.3, 1, 2, a)
    assert set(a.read()) == {0, 1} and abs(a.read().mean() - 0.3) < 0.02
    nn.run("aclnnBernoulliTensor", nn.empty(np.float32, (20000,)),
           nn.empty(np.float32, (20000,), 0.8), 1, 2, a)
    assert abs(a.read().mean() - 0.8) < 0.02
    nn.run("aclnnNormalFloatTensor", 2.0, nn.empty(np.float32, (20000,), 0.5), 1, 2, a)
    assert abs(a.read().mean() - 2) < 0.03 and abs(a.read().std() - 0.5) < 0.03
    nn.clear()


def test_slopes_that_are_drawn(nn):
    a, noise = nn.tensor(floats(10, 1000)), nn.empty(np.float32, (1000,))
    before = a.array.copy()
    nn.run("aclnnInplaceRReluWithNoise", a, noise, 0.1, 0.3, True, 1, 2)
    got, drawn = a.read(), noise.read()
    low = before < 0
    assert (drawn[~low] == 1).all() and drawn[low].min() >= 0.1 and drawn[low].max() <= 0.3
    np.testing.assert_allclose(got, before * drawn, rtol=1e-6)
    nn.clear()


# --- quantised operators

def test_norms_that_are_quantised_in_their_other_versions(nn):
    a, b, g, beta = floats(11, 4, 16), floats(12, 4, 16), floats(13, 16), floats(14, 16)
    total, t = (a + b).astype(np.float64), nn.tensor
    y1, y2, s1 = nn.empty(np.int8, (4, 16)), nn.empty(np.int8, (4, 16)), nn.empty(np.float32, (4,))
    s2 = nn.empty(np.float32, (4,))
    kept, normed = nn.empty(np.float32, (4, 16)), nn.empty(np.float32, (4, 16))
    smooth = rng(15).random(16).astype(np.float32)
    nn.run("aclnnAddRmsNormDynamicQuantV2", t(a), t(b), t(g), t(smooth), None, t(beta), 1e-5,
           [True, False], y1, y2, kept, s1, s2)
    want, scale = by_rows((rms(total, g) + beta) * smooth)
    near(y1.read(), want)
    np.testing.assert_allclose(s1.read(), scale[:, 0], rtol=1e-4)
    scales = (rng(16).random(16) + 0.05).astype(np.float32)
    zero = rng(17).integers(-5, 5, 16).astype(np.int32)
    nn.run("aclnnAddRmsNormQuantV2", t(a), t(b), t(g), t(scales), None, t(zero), None, t(beta), -1,
           1e-5, True, y1, None, kept,
           normed)
    near(y1.read(), to_int8((rms(total, g) + beta) / scales + zero))
    np.testing.assert_allclose(kept.read(), total, rtol=1e-5)
    rstd = nn.empty(np.float32, (4, 1))
    nn.run("aclnnRmsNormQuantV3", t(a), t(g), t(np.array([0.05], np.float32)),
           t(np.array([3], np.int8)), t(beta), 1e-5, True,
           True, y1, rstd)
    near(y1.read(), to_int8((rms(a.astype(np.float64), g) + beta) / 0.05 + 3))
    nn.clear()


def test_a_deep_norm_goes_back(nn):
    a, gx, g, dy = floats(18, 3, 8), floats(19, 3, 8), floats(20, 8), floats(21, 3, 8)
    alpha = 0.3
    wide = [v.astype(np.float64) for v in (a, gx, g)]

    def loss(a, gx, g):
        s = alpha * a + gx
        mean = s.mean(-1, keepdims=True)
        variance = ((s - mean) ** 2).mean(-1, keepdims=True)
        return (dy * (s - mean) / np.sqrt(variance + 1e-5) * g).sum()
    total = alpha * wide[0] + wide[1]
    mean = total.mean(-1, keepdims=True)
    rstd = 1 / np.sqrt(((total - mean) ** 2).mean(-1, keepdims=True) + 1e-5)
    t = nn.tensor
    outs = [nn.empty(np.float32, s) for s in ((3, 8), (3, 8), (8,), (8,))]
    nn.run("aclnnDeepNormGrad", t(dy), t(a), t(gx), t(g), t(mean.astype(np.float32)),
           t(rstd.astype(np.float32)), alpha, *outs)

    def gradient(which):
        made = np.zeros(wide[which].shape)
        for at in np.ndindex(made.shape):
            up, down = [v.copy() for v in wide], [v.copy() for v in wide]
            up[which][at] += 1e-6
            down[which][at] -= 1e-6
            made[at] = (loss(*up) - loss(*down)) / 2e-6
        return made
    np.testing.assert_allclose(outs[0].read(), gradient(0), rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(outs[1].read(), gradient(1), rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(outs[2].read(), dy.sum(0), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(outs[3].read(), gradient(2), rtol=1e-3, atol=1e-4)
    nn.clear()


A, B = int8(31, 6, 32), int8(32, 32, 8)
SUMS = A.astype(np.int64) @ B
SCALE = (rng(33).random(8) * 1e-3).astype(np.float32)
TOKEN = (rng(34).random(6) + 0.5).astype(np.float32)
BIAS = rng(35).integers(-200, 200, 8).astype(np.int32)


def words(scale):
    return scale.astype(np.float32).view(np.uint32).astype(np.uint64)


def test_quantised_products_in_their_other_versions(nn):
    t = nn.tensor

    def check(name, want, *arguments, dtype=np.float16):
        y = nn.empty(dtype, want.shape)
        nn.run("aclnn" + name, *arguments, y)
        np.testing.assert_allclose(y.read().astype(np.float64), want, rtol=2e-3, atol=2e-3,
                                   err_msg=name)
    check("QuantMatmul", (SUMS + BIAS) * 1e-3, t(A), t(B), t(BIAS), 1e-3)
    check("QuantMatmulV2", (SUMS + BIAS) * SCALE, t(A), t(B), t(BIAS), t(words(SCALE)), False,
          False)
    check("QuantMatmulWeightNz", SUMS * SCALE * TOKEN[:, None], t(A), t(B), t(TOKEN), t(SCALE),
          *[None] * 5, False, False, 0)
    check("BatchMatmulQuant", SUMS * SCALE, t(A), t(B), t(words(SCALE)), None, False, False)
    old = floats(36, 6, 8)
    y = t(old)
    nn.run("aclnnQuantBatchMatmulInplaceAdd", t(A), t(B), t(TOKEN), t(SCALE), y, False, False, 0)
    np.testing.assert_allclose(y.read(), old + SUMS * SCALE * TOKEN[:, None], rtol=1e-3, atol=1e-3)
    w, offset = int8(37, 32, 8), floats(38, 8)
    a = floats(39, 6, 32, dtype=np.float16)
    want = a.astype(np.float64) @ ((w + offset.astype(np.float64)) * SCALE)
    check("WeightQuantBatchMatmulNz", want, t(a), t(w), t(SCALE.astype(np.float16)),
          t(offset.astype(np.float16)), None, None,
          None, 0)
    nn.clear()


def test_quantisation_in_its_other_versions(nn):
    t, a = nn.tensor, floats(41, 6, 16)
    y, s = nn.empty(np.int8, (6, 16)), nn.empty(np.float32, (6,))
    nn.run("aclnnDynamicQuantV4", t(a), None, None, 2, True, "pertoken", 0.0, y, s, None)
    want, scale = by_rows(a.astype(np.float64))
    near(y.read(), want)
    np.testing.assert_allclose(s.read(), scale[:, 0], rtol=1e-5)
    half = nn.empty(np.int8, (6, 8))
    gate, other = np.split(a.astype(np.float64), 2, 1)
    gated = gate * sigmoid(gate) * other
    nn.run("aclnnSwiGluQuantV2", t(a), None, None, None, True, "dynamic", 0, 2, half, s)
    near(half.read(), by_rows(gated)[0])
    whole = rng(42).integers(-1000, 1000, (6, 16)).astype(np.int32)
    column = (rng(43).random(16) * 1e-2).astype(np.float32)
    u, v = np.split(whole * column.astype(np.float64) * TOKEN[:, None], 2, 1)
    nn.run("aclnnDequantSwigluQuantV2", t(whole), t(column[None]), t(TOKEN), None, None, None, None,
           True, "dynamic", 2, "rint",
           -1, 0, 0.0, 0.0, 0.0, half, s)
    near(half.read(), by_rows(u * sigmoid(u) * v)[0])
    nn.run("aclnnGeluQuant", t(a), t(np.full(16, 20, np.float32)), t(np.full(16, 3, np.float32)),
           "tanh", "static", "rint", 2, y,
           None)
    near(y.read(), to_int8(gelu_tanh(a.astype(np.float64)) * 20 + 3))
    factors = (rng(44).random((2, 16)) * 30).astype(np.float32)
    nn.run("aclnnGroupQuant", t(a), t(factors), t(np.array([2, 6], np.int32)),
           t(np.array([1], np.float32)), 2, y)
    near(y.read(), to_int8(a * np.repeat(factors, [2, 4], 0) + 1))
    packed = nn.empty(np.uint64, (8,))
    nn.run("aclnnTransQuantParamV3", t(SCALE), None, 0, packed)
    bits = SCALE.view(np.uint32).astype(np.uint64) & np.uint64(0xffffe000)
    np.testing.assert_array_equal(packed.read(), bits | np.uint64(1 << 46))
    grid = (rng(45).random(16) * 0.1 + 0.01).astype(np.float32)
    zero = rng(46).integers(-3, 4, 16).astype(np.int32)
    fake, mask = nn.empty(np.float32, (6, 16)), nn.empty(np.bool_, (6, 16))
    nn.run("aclnnFakeQuantPerChannelAffineCachemask", t(a), t(grid), t(zero), 1, -8, 7, fake, mask)
    steps = np.round(a / grid) + zero
    np.testing.assert_allclose(fake.read(), (np.clip(steps, -8, 7) - zero) * grid, rtol=1e-5,
                               atol=1e-6)
    np.testing.assert_array_equal(mask.read(), (steps >= -8) & (steps <= 7))
    nn.clear()


def test_tokens_that_become_integers_on_their_way(nn):
    a, ids, t = floats(47, 4, 8), np.array([[1, 0], [0, 2], [2, 1], [1, 2]], np.int32), nn.tensor
    rows = np.arange(8).reshape(2, 4).T.astype(np.int32)  # place j of token i is j * tokens + i
    outs = [nn.empty(np.int8, (8, 8)), nn.empty(np.int32, (8,)), nn.empty(np.int32, (8,))]
    nn.run("aclnnMoeInitRoutingQuant", t(a), t(rows), t(ids), 4, 20.0, 1.0, *outs)
    order = np.argsort(ids.ravel(), kind="stable")
    near(outs[0].read(), to_int8(a[rows.ravel()[order] % 4] * 20.0 + 1))
    np.testing.assert_array_equal(outs[2].read(), ids.ravel()[order])
    nn.clear()


# --- products of groups

X, W, ENDS = floats(51, 9, 8), floats(52, 3, 8, 4), np.array([2, 5, 9], np.int64)


def grouped(a, w):
    return np.concatenate([a[i:j].astype(np.float64) @ m for i, j, m in zip([0, 2, 5], ENDS, w)])


def test_products_of_groups_in_their_other_versions(nn):
    t = nn.tensor
    y = nn.empty(np.float32, (9, 4))
    nn.run("aclnnGroupedMatmulV3", nn.tensors([t(X)]), nn.tensors([t(W)]), None, None, None, None,
           None, t(ENDS), 3, 0,
           nn.tensors([y]))
    np.testing.assert_allclose(y.read(), grouped(X, W), rtol=1e-4, atol=1e-4)
    y = nn.empty(np.float32, (9, 4))
    nn.run("aclnnGroupedMatmulWeightNz", nn.tensors([t(X)]), nn.tensors([t(W)]), *[None] * 6,
           t(ENDS), None, None, None, 3, 0, 0,
           0, None, 0, nn.tensors([y]), None, None)
    np.testing.assert_allclose(y.read(), grouped(X, W), rtol=1e-4, atol=1e-4)
    old, g = floats(53, 3 * 8, 4), floats(54, 9, 4)
    sums = t(old)
    nn.run("aclnnGroupedMatmulAdd", t(X), t(g), t(ENDS), sums, True, False, 2)
    want = old + np.concatenate([X[i:j].T.astype(np.float64) @ g[i:j] for i,
                                 j in zip([0, 2, 5], ENDS)])
    np.testing.assert_allclose(sums.read(), want, rtol=1e-4, atol=1e-4)
    nn.clear()


def test_products_of_groups_of_integers_in_their_other_versions(nn):
    t = nn.tensor
    a, w = int8(55, 9, 32), int8(56, 3, 32, 8)
    column = (rng(57).random((3, 8)) * 1e-3).astype(np.float32)
    token = (rng(58).random(9) + 0.5).astype(np.float32)
    sums = np.concatenate([a[i:j].astype(np.int64) @ m * s.astype(np.float64)
                           for i, j, m, s in zip([0, 2, 5], ENDS, w, column)]) * token[:, None]
    gate, other = np.split(sums, 2, 1)
    for name in ("aclnnGroupedMatmulSwigluQuant", "aclnnGroupedMatmulSwigluQuantWeightNZ"):
        y, s = nn.empty(np.int8, (9, 4)), nn.empty(np.float32, (9,))
        nn.run(name, t(a), t(w), None, None, t(column), t(token), t(ENDS), y, s, None)
        want, scale = by_rows(gate * sigmoid(gate) * other)
        near(y.read(), want)
        np.testing.assert_allclose(s.read(), scale[:, 0], rtol=1e-3)
    row = np.array([0, 1, 2, 3, 0, 1, 2, 3, 0], np.int64)
    logit, shared = rng(59).random(9).astype(np.float32), floats(60, 2, 8)
    want = np.zeros((4, 8))
    np.add.at(want, row, sums * logit[:, None])
    want[1:3] += 0.5 * shared
    shared = shared.astype(BF16)
    parts = [t(shared), t(logit), t(row), 0, 0.5, 1, False, False, 0]
    for name, head in (("FinalizeRoutingV3", [t(column), None, None, None, None, t(token),
                                              t(ENDS)]),
                       ("FinalizeRoutingWeightNz", [t(column), None, t(token), t(ENDS)]),
                       ("FinalizeRoutingWeightNzV2",
                        [t(column), None, None, None, None, t(token), t(ENDS)])):
        y = nn.empty(np.float32, (4, 8))
        tuning = [] if name.endswith("WeightNz") else [None]
        nn.run("aclnnGroupedMatmul" + name, t(a), t(w), *head, *parts, *tuning, y)
        np.testing.assert_allclose(y.read(), want, rtol=1e-2, atol=2e-2, err_msg=name)
    x16 = floats(61, 9, 32, dtype=np.float16)
    y = nn.empty(np.float16, (9, 8))
    nn.run("aclnnQuantGroupedMatmulDequant", t(x16), t(w), t(column), t(ENDS), None, None, None,
           None, "pertoken", False, y)
    q, s = by_rows(x16.astype(np.float64))
    want = np.concatenate([q[i:j] @ m * c for i, j, m, c in zip([0, 2, 5], ENDS, w, column)]) * s
    np.testing.assert_allclose(y.read().astype(np.float64), want, rtol=2e-2, atol=2e-2)
    nn.clear()


def test_feed_forward_of_experts_by_ends(nn):
    a, w1, w2, t = floats(62, 9, 8), floats(63, 3, 8, 6), floats(64, 3, 6, 8), nn.tensor
    y = nn.empty(np.float32, (9, 8))
    nn.run("aclnnFFNV2", t(a), t(w1), t(w2), [2, 5, 9], *[None] * 10, "relu", 0, True, y)
    want = grouped(np.maximum(grouped(a, w1), 0), w2)
    np.testing.assert_allclose(y.read(), want, rtol=1e-3, atol=1e-3)
    nn.clear()


# --- attention

def softmax(s):
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@pytest.mark.parametrize("version", [2, 3])
def test_one_step_of_attention(nn, version):
    q, k, v, t = floats(71, 2, 4, 1, 8), floats(72, 2, 2, 6, 8), floats(73, 2, 2, 6, 8), nn.tensor
    lengths, y = [4, 6], nn.empty(np.float32, q.shape)
    more = [None, None, None] if version == 3 else []
    tail = [0, 0] if version == 3 else []
    nn.run(f"aclnnIncreFlashAttentionV{version}", t(q), nn.tensors([t(k)]), nn.tensors([t(v)]),
           None, None, lengths, *[None] * 5,
           *more, 4, 0.35, "BNSD", 2, *tail, y)
    for b, length in enumerate(lengths):
        for h in range(4):
            keys = k[b, h // 2, :length].astype(np.float64)
            want = softmax(q[b, h] @ keys.T * 0.35) @ v[b, h // 2, :length]
            np.testing.assert_allclose(y.read()[b, h], want, rtol=1e-4, atol=1e-5)
    nn.clear()


@pytest.mark.parametrize("version", [2, 4])
def test_attention_of_samples_behind_each_other(nn, version):
    q, k, v, dy = floats(74, 7, 2, 4), floats(75, 9, 2, 4), floats(76, 9, 2, 4), floats(77, 7, 2, 4)
    t = nn.tensor
    rows, keys = [3, 7], [4, 9]

    def attention(q, k, v):
        out = []
        for (i, j), (m, n) in zip([(0, 3), (3, 7)], [(0, 4), (4, 9)]):
            out.append(np.einsum("hqk,khd->qhd",
                                 softmax(np.einsum("qhd,khd->hqk", q[i:j], k[m:n]) * 0.5), v[m:n]))
        return np.concatenate(out)
    wide = [a.astype(np.float64) for a in (q, k, v)]
    most, sums = nn.empty(np.float32, (7, 2, 8)), nn.empty(np.float32, (7, 2, 8))
    y = nn.empty(np.float32, q.shape)
    starts = [None, None] if version == 2 else []
    last = [1] if version == 2 else [None]
    big = 2147483647
    nn.run(f"aclnnFlashAttentionVarLenScoreV{version}", t(q), t(k), t(v), *[None] * 5, rows, keys,
           *starts, 0.5, 1.0, big, big, 2,
           "TND", 0, 0, *last, most, sums, None, y)
    np.testing.assert_allclose(y.read(), attention(*wide), rtol=1e-4, atol=1e-5)
    outs = [nn.empty(np.float32, a.shape) for a in (q, k, v)]
    tail = [1, *outs, None] if version == 2 else [*outs, None, None]
    nn.run(f"aclnnFlashAttentionUnpaddingScoreGradV{version}", t(q), t(k), t(v), t(dy), *[None] * 4,
           most, sums, None, y, None,
           rows, keys, *starts, 0.5, 1.0, big, big, 2, "TND", 0, 0, *tail)
    for which, got in enumerate(outs):
        want = np.zeros(wide[which].shape)
        for at in np.ndindex(want.shape):
            up, down = [a.copy() for a in wide], [a.copy() for a in wide]
            up[which][at] += 1e-6
            down[which][at] -= 1e-6
            want[at] = ((attention(*up) - attention(*down)) * dy).sum() / 2e-6
        np.testing.assert_allclose(got.read(), want, rtol=1e-3, atol=1e-4)
    nn.clear()
