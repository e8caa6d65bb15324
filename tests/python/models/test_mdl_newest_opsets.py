# SPDX-License-Identifier: Apache-2.0
"""What opsets 23 to 28 of ONNX, and the package that has them, changed in operators of before."""
import numpy as np
import pytest
from model_datasets import Model, atc_over, convert
from onnx import TensorProto, helper, numpy_helper
from onnx_models import network

BF16 = TensorProto.BFLOAT16
KINDS = {np.float32: TensorProto.FLOAT, np.float16: TensorProto.FLOAT16,
         np.float64: TensorProto.DOUBLE, np.int8: TensorProto.INT8, np.int16: TensorProto.INT16,
         np.int32: TensorProto.INT32, np.int64: TensorProto.INT64, np.uint8: TensorProto.UINT8}

pytestmark = pytest.mark.usefixtures("runtime")


def kind_of(array):
    return KINDS[array.dtype.type]


def network_of(nodes, feeds, outputs, opset=28, weights=()):
    """feeds: {name: array or (type, array)}; outputs: {name: (type, shape)}."""
    typed = [(name, *(value if isinstance(value, tuple) else (kind_of(value), value)))
             for name, value in feeds.items()]
    return network(nodes, [(name, kind, array.shape) for name, kind, array in typed],
                   [(name, *output) for name, output in outputs.items()], weights, opset=opset)


def run(folder, nodes, feeds, outputs, opset=28, weights=()):
    """{name: array}; bfloat16 by its bits."""
    model = Model(convert(folder, "net", network_of(nodes, feeds, outputs, opset, weights)))
    model.run(*(value[1] if isinstance(value, tuple) else value for value in feeds.values()))
    by_kind = {kind: numpy_type for numpy_type, kind in KINDS.items()} | {BF16: np.uint16}
    results = {name: model.read(index, shape, by_kind[kind])
               for index, (name, (kind, shape)) in enumerate(outputs.items())}
    model.close()
    return results


@pytest.mark.parametrize("opset", range(23, 29))
def test_models_of_every_newer_opset_run(tmp_path, opset):
    x = np.arange(-3, 5, dtype=np.float32)
    y = run(tmp_path, [helper.make_node("Relu", ["x"], ["r"]),
                       helper.make_node("Identity", ["r"], ["y"])], {"x": x},
            {"y": (TensorProto.FLOAT, [8])}, opset)["y"]
    np.testing.assert_array_equal(y, np.maximum(x, 0))


@pytest.mark.parametrize("numpy_type", [np.int8, np.int16, np.int32, np.int64, np.uint8])
def test_bit_shift_takes_signed_integers(tmp_path, numpy_type):
    limit = np.iinfo(numpy_type)
    x = np.array([16, 4, 1, -8, -1, limit.min, limit.max, 64, -64], np.int64)
    x = np.repeat(np.clip(x, limit.min, limit.max), 8).astype(numpy_type)
    least = -1 if limit.min < 0 else 0
    y = np.tile([0, 1, 2, 7, limit.bits - 1, limit.bits, 100, least], 9).astype(numpy_type)
    got = run(tmp_path, [helper.make_node("BitShift", ["x", "y"], ["left"], direction="LEFT"),
                         helper.make_node("BitShift", ["x", "y"], ["right"], direction="RIGHT")],
              {"x": x, "y": y}, {name: (kind_of(x), x.shape) for name in ("left", "right")})
    inside = [0 <= shift < limit.bits for shift in y.tolist()]
    left = [value << shift if good else 0
            for value, shift, good in zip(x.tolist(), y.tolist(), inside)]
    right = [value >> shift if good else (-1 if value < 0 else 0)
             for value, shift, good in zip(x.tolist(), y.tolist(), inside)]
    mask = (1 << limit.bits) - 1
    wrapped = [value & mask for value in left]
    wrapped = [value - mask - 1 if value > limit.max else value for value in wrapped]
    assert got["left"].tolist() == wrapped
    assert got["right"].tolist() == right


@pytest.mark.parametrize("numpy_type", [np.float16, np.float32, np.float64])
def test_mod_of_floats_rounds_the_quotient_down_or_towards_zero(tmp_path, numpy_type):
    inf, nan = np.inf, np.nan
    pairs = [(-4.3, 2.1), (7.2, -3.4), (5, 8), (4.3, -2.1), (0.0, -2), (-0.0, 2), (0.0, 2),
             (-0.0, -2), (-3, inf), (3, inf), (-1, -inf), (1, -inf), (inf, 2), (-inf, 2), (1, 0.0),
             (1, -0.0), (nan, 2), (1, nan), (6, 3), (-6, 3), (6, -3)]
    x, y = (np.array(side, numpy_type) for side in zip(*pairs))
    got = run(tmp_path, [helper.make_node("Mod", ["x", "y"], ["floor"], fmod=0),
                         helper.make_node("Mod", ["x", "y"], ["trunc"], fmod=1)],
              {"x": x, "y": y}, {name: (kind_of(x), x.shape) for name in ("floor", "trunc")})
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(got["trunc"], np.fmod(x, y))
        want = np.mod(x.astype(np.float64), y.astype(np.float64)).astype(numpy_type)
    np.testing.assert_array_equal(got["floor"], want)
    zero = want == 0
    np.testing.assert_array_equal(np.signbit(got["floor"][zero]), np.signbit(y[zero]))


@pytest.mark.parametrize("mode", ["DCR", "CRD"])
def test_space_to_depth_has_both_orders_and_depth_to_space_takes_them_back(tmp_path, mode):
    x = np.arange(2 * 3 * 4 * 6, dtype=np.float32).reshape(2, 3, 4, 6)
    got = run(tmp_path, [helper.make_node("SpaceToDepth", ["x"], ["y"], blocksize=2, mode=mode),
                         helper.make_node("DepthToSpace", ["y"], ["z"], blocksize=2, mode=mode)],
              {"x": x}, {"y": (TensorProto.FLOAT, [2, 12, 2, 3]),
                         "z": (TensorProto.FLOAT, x.shape)})
    parts = x.reshape(2, 3, 2, 2, 3, 2)  # N, C, H, block, W, block
    order = (0, 3, 5, 1, 2, 4) if mode == "DCR" else (0, 1, 3, 5, 2, 4)
    np.testing.assert_array_equal(got["y"], parts.transpose(order).reshape(2, 12, 2, 3))
    np.testing.assert_array_equal(got["z"], x)


def test_range_of_short_floats_is_rounded_once(tmp_path):
    halves = run(tmp_path, [helper.make_node("Range", ["a", "b", "c"], ["y"])],
                 {"x": np.zeros(1, np.float32)}, {"y": (TensorProto.FLOAT16, [1000])}, 28,
                 [numpy_helper.from_array(np.array(value, np.float16), name)
                  for name, value in (("a", 0.1), ("b", 3100), ("c", 3.1))])["y"]
    start, delta = (float(np.float16(value)) for value in (0.1, 3.1))
    np.testing.assert_array_equal(halves, (start + np.arange(1000) * delta).astype(np.float16))
    weights = [TensorProto(name=name, data_type=BF16, raw_data=np.uint16(bits).tobytes())
               for name, bits in (("a", 0x4380), ("b", 0x4400), ("c", 0x3F80))]  # 256, 512, 1
    bits = run(tmp_path, [helper.make_node("Range", ["a", "b", "c"], ["y"], stash_type=1)],
               {"x": np.zeros(1, np.float32)}, {"y": (BF16, [256])}, 28, weights)["y"]
    numbers = (bits.astype(np.uint32) << 16).view(np.float32)
    even = np.arange(256, 512)
    even = np.where(even % 4 == 1, even - 1, np.where(even % 4 == 3, even + 1, even))
    np.testing.assert_array_equal(numbers, even)


def bf16_bits(values):
    """Of numbers that bfloat16 has."""
    return (np.asarray(values, np.float32).view(np.uint32) >> 16).astype(np.uint16)


def test_operators_that_took_no_bfloat16_take_it(tmp_path):
    x = np.array([[3, -1, 2, 8], [7, 2, -4, 0.5], [3, -1, 2, 8]], np.float32)
    nodes = [
        helper.make_node("TopK", ["x", "two"], ["top", "at"]),
        helper.make_node("Compress", ["x", "keep"], ["kept"], axis=0),
        helper.make_node("ReverseSequence", ["x", "lengths"], ["turned"], batch_axis=0,
                         time_axis=1),
        helper.make_node("Einsum", ["x", "x"], ["product"], equation="ij,kj->ik"),
        helper.make_node("OneHot", ["at", "depth", "values"], ["hot"]),
        helper.make_node("Unique", ["x"], ["rows"], axis=0),
        helper.make_node("SplitToSequence", ["x", "one"], ["list"], axis=0),
        helper.make_node("SequenceAt", ["list", "index"], ["part"]),
        helper.make_node("Celu", ["x"], ["celu"], alpha=1.0),
    ]
    weights = [numpy_helper.from_array(np.array(value), name) for name, value in (
        ("two", [2]), ("keep", [True, False, True]), ("lengths", [4, 2, 1]), ("depth", 4),
        ("one", 1), ("index", 1))]
    weights.append(TensorProto(name="values", data_type=BF16, dims=[2],
                               raw_data=bf16_bits([0, 5]).tobytes()))
    at = np.argsort(-x, axis=1, kind="stable")[:, :2]
    turned = x.copy()
    turned[0], turned[1, :2] = x[0, ::-1], x[1, 1::-1]
    wanted = {"top": np.take_along_axis(x, at, 1), "kept": x[[0, 2]], "turned": turned,
              "product": x @ x.T, "hot": 5.0 * (np.arange(4) == at[..., None]), "rows": x[:2],
              "part": x[1:2], "celu": np.where(x < 0, np.expm1(x), x)}
    got = run(tmp_path, nodes, {"x": (BF16, bf16_bits(x))},
              {name: (BF16, want.shape) for name, want in wanted.items()}, 28, weights)
    for name, want in wanted.items():
        numbers = (got[name].astype(np.uint32) << 16).view(np.float32)
        np.testing.assert_allclose(numbers, want, rtol=2**-8, err_msg=name)


@pytest.mark.parametrize("length", [None, 10, 9, 6, 16])
def test_the_inverse_of_half_a_spectrum_is_real(tmp_path, length):
    random = np.random.default_rng(2)
    half = random.standard_normal((2, 6, 3)) + 1j * random.standard_normal((2, 6, 3))
    x = np.stack([half.real, half.imag], axis=-1).astype(np.float32)
    weights = [numpy_helper.from_array(np.array(1), "axis")]
    if length:
        weights.append(numpy_helper.from_array(np.array(length), "length"))
    node = helper.make_node("DFT", ["x", "length" if length else "", "axis"], ["y"], inverse=1,
                            onesided=1)
    want = np.fft.irfft(x[..., 0] + 1j * x[..., 1].astype(np.float64), length, axis=1)[..., None]
    y = run(tmp_path, [node], {"x": x}, {"y": (TensorProto.FLOAT, want.shape)}, 20, weights)["y"]
    np.testing.assert_allclose(y, want, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("node,sentence", [
    (helper.make_node("SpaceToDepth", ["x"], ["y"], blocksize=2, mode="RCD"),
     "mode is 'RCD', expected DCR or CRD"),
    (helper.make_node("SpaceToDepth", ["x"], ["y"], blocksize=2, depth=1), "depth")])
def test_attributes_that_no_opset_has_are_refused(tmp_path, node, sentence):
    x = np.zeros((1, 1, 2, 2), np.float32)
    done = atc_over(tmp_path, "net",
                    network_of([node], {"x": x}, {"y": (TensorProto.FLOAT, [1, 4, 1, 1])}))
    assert done.returncode != 0
    assert sentence in done.stderr
