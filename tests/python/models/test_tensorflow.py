# SPDX-License-Identifier: Apache-2.0
"""Frozen GraphDefs of TensorFlow through atc and acl.mdl, against numpy; TensorFlow itself is not
needed. tests/python/tensorflow_cases has recorded results of TensorFlow for every operator."""
import os
import subprocess
import sys

import graph_def_file as gd
import numpy as np
import pytest
from compiled_graph import types_of
from model_datasets import Model
from om_runner import run_om

import acl

pytestmark = pytest.mark.usefixtures("runtime")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def atc(nodes, *more, functions=()):
    with open("net.pb", "wb") as file:
        file.write(gd.graph(nodes, functions))
    return subprocess.run(["atc", "--model=net.pb", "--framework=3", "--output=net",
                           "--soc_version=Ascend310P3", *more],
                          capture_output=True, text=True, timeout=300)


def run(nodes, arrays, *more, functions=()):
    done = atc(nodes, *more, functions=functions)
    assert done.returncode == 0, done.stderr
    return run_om("net.om", arrays)


def one(results):
    assert len(results) == 1, list(results)
    return next(iter(results.values()))


def conv_same(x, w, stride):
    """NHWC, HWIO, padding SAME as TensorFlow defines it."""
    n, h, wd, _ = x.shape
    kh, kw, _, out = w.shape
    oh, ow = -(-h // stride), -(-wd // stride)
    ph, pw = max((oh - 1) * stride + kh - h, 0), max((ow - 1) * stride + kw - wd, 0)
    x = np.pad(x, ((0, 0), (ph // 2, ph - ph // 2), (pw // 2, pw - pw // 2), (0, 0)))
    y = np.zeros((n, oh, ow, out), np.float32)
    for i in range(oh):
        for j in range(ow):
            part = x[:, i * stride:i * stride + kh, j * stride:j * stride + kw]
            y[:, i, j] = np.tensordot(part, w, 3)
    return y


RNG = np.random.default_rng(3)


@pytest.mark.parametrize("size, stride", [((7, 8), 1), ((7, 8), 2), ((8, 5), 3), ((2, 2), 2)])
def test_convolution_with_same_padding_is_that_of_tensorflow(size, stride):
    x = RNG.standard_normal((2, *size, 3)).astype(np.float32)
    w = RNG.standard_normal((3, 3, 3, 4)).astype(np.float32)
    nodes = [gd.placeholder("x", x.shape), gd.const("w", w),
             gd.node("y", "Conv2D", ["x", "w"], padding="SAME", strides=[1, stride, stride, 1])]
    np.testing.assert_allclose(one(run(nodes, [x])), conv_same(x, w, stride), rtol=1e-4, atol=1e-4)


def test_a_small_network_gives_the_result_of_the_formula():
    x = RNG.standard_normal((1, 8, 8, 3)).astype(np.float32)
    w, b = RNG.standard_normal((3, 3, 3, 4)).astype(np.float32), np.arange(4, dtype=np.float32)
    dense = RNG.standard_normal((4, 5)).astype(np.float32)
    nodes = [gd.placeholder("x", [-1, 8, 8, 3]), gd.const("w", w), gd.const("b", b),
             gd.const("dense", dense), gd.const("axes", np.array([1, 2], np.int32)),
             gd.node("c", "Conv2D", ["x", "w"], padding="SAME", strides=[1, 1, 1, 1]),
             gd.node("bias", "BiasAdd", ["c", "b"]), gd.node("relu", "Relu", ["bias"]),
             gd.node("pool", "MaxPool", ["relu"], padding="VALID", strides=[1, 2, 2, 1],
                     ksize=[1, 2, 2, 1]),
             gd.node("mean", "Mean", ["pool", "axes"], keep_dims=False),
             gd.node("logits", "MatMul", ["mean", "dense"]), gd.node("prob", "Softmax", ["logits"])]
    relu = np.maximum(conv_same(x, w, 1) + b, 0)
    pool = relu.reshape(1, 4, 2, 4, 2, 4).max((2, 4))
    logits = pool.mean((1, 2)) @ dense
    want = np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()
    results = run(nodes, [x], "--input_shape=x:1,8,8,3")
    assert list(results) == ["prob:0:prob"]
    np.testing.assert_allclose(one(results), want, rtol=1e-4, atol=1e-5)
    chosen = run(nodes, [x], "--input_shape=x:1,8,8,3", "--out_nodes=mean:0;relu:0")
    assert [name.rsplit(":", 1)[0] for name in chosen] == ["mean:0", "relu:0"]
    np.testing.assert_allclose(list(chosen.values())[1], relu, rtol=1e-4, atol=1e-4)


def old_loop():
    """i, x = 0, x; while i < 4: i, x = i + 1, x * 2, as TensorFlow 1 writes it."""
    nodes = [gd.placeholder("x", [3]), gd.const("zero", np.int32(0)), gd.const("n", np.int32(4)),
             gd.const("one", np.int32(1)), gd.const("two", np.float32(2))]
    for name, start in (("i", "zero"), ("v", "x")):
        nodes += [gd.node(f"{name}/enter", "Enter", [start], frame_name="loop"),
                  gd.node(f"{name}/merge", "Merge", [f"{name}/enter", f"{name}/next"]),
                  gd.node(f"{name}/switch", "Switch", [f"{name}/merge", "go"]),
                  gd.node(f"{name}/exit", "Exit", [f"{name}/switch"])]
    for name in ("n", "one", "two"):
        nodes.append(gd.node(f"{name}/enter", "Enter", [name], frame_name="loop", is_constant=True))
    return nodes + [gd.node("less", "Less", ["i/merge", "n/enter"]),
                    gd.node("go", "LoopCond", ["less"]),
                    gd.node("i/add", "AddV2", ["i/switch:1", "one/enter"]),
                    gd.node("v/mul", "Mul", ["v/switch:1", "two/enter"]),
                    gd.node("i/next", "NextIteration", ["i/add"]),
                    gd.node("v/next", "NextIteration", ["v/mul"])]


def test_a_loop_of_tensorflow_1_runs():
    x = np.array([1, 2, 3], np.float32)
    results = run(old_loop(), [x], "--out_nodes=v/exit:0;i/exit:0")
    np.testing.assert_array_equal(list(results.values())[0], x * 16)
    assert list(results.values())[1] == 4


@pytest.mark.parametrize("flag", [False, True])
def test_a_branch_of_tensorflow_1_runs(flag):
    nodes = [gd.placeholder("x", [3]), gd.placeholder("c", [], "bool"),
             gd.node("s", "Switch", ["x", "c"]), gd.node("no", "Neg", ["s:0"]),
             gd.node("yes", "Square", ["s:1"]), gd.node("y", "Merge", ["no", "yes"])]
    x = np.array([1, -2, 3], np.float32)
    got = one(run(nodes, [x, np.array(flag)]))
    np.testing.assert_array_equal(got, x * x if flag else -x)


def test_a_loop_of_tensorflow_2_fills_a_list():
    """[x * 0, x * 1, x * 2]: a While of functions, a TensorList without the shape of elements."""
    args = [("i", "int32"), ("list", "float32"), ("x", "float32")]
    cond = gd.function("cond", args, [gd.const("n", np.int32(3)),
                                      gd.node("less", "Less", ["i", "n:output:0"])], ["less:z:0"])
    body = gd.function("body", args, [
        gd.const("one", np.int32(1)), gd.node("next", "AddV2", ["i", "one:output:0"]),
        gd.node("f", "Cast", ["i"], DstT=gd.Type(1)), gd.node("p", "Mul", ["x", "f:y:0"]),
        gd.node("set", "TensorListSetItem", ["list", "i", "p:z:0"], element_dtype=gd.Type(1)),
        gd.node("same", "Identity", ["x"])],
        ["next:z:0", "set:output_handle:0", "same:output:0"])
    nodes = [gd.placeholder("x", [2]), gd.const("zero", np.int32(0)), gd.const("n", np.int32(3)),
             gd.const("any", np.int32(-1)),
             gd.node("list", "TensorListReserve", ["any", "n"], element_dtype=gd.Type(1)),
             gd.node("w", "While", ["zero", "list", "x"], cond=gd.Function("cond"),
                     body=gd.Function("body")),
             gd.node("y", "TensorListStack", ["w:1", "any"], element_dtype=gd.Type(1))]
    x = np.array([5, 7], np.float32)
    got = one(run(nodes, [x], "--out_nodes=y:0", functions=[cond, body]))
    np.testing.assert_array_equal(got, np.stack([x * 0, x, x * 2]))


@pytest.mark.parametrize("rule", [{}, {"align_corners": True}, {"half_pixel_centers": True}])
def test_resize_follows_its_three_rules(rule):
    x = RNG.standard_normal((1, 3, 4, 2)).astype(np.float32)
    nodes = [gd.placeholder("x", x.shape), gd.const("size", np.array([5, 7], np.int32)),
             gd.node("y", "ResizeBilinear", ["x", "size"], **rule)]

    def places(out, size):
        at = np.arange(out, dtype=np.float64)
        if rule.get("align_corners"):
            return at * (size - 1) / (out - 1)
        if rule.get("half_pixel_centers"):
            return np.clip((at + 0.5) * size / out - 0.5, 0, None)
        return at * size / out

    def mix(array, axis, out):
        size = array.shape[axis]
        at = places(out, size)
        low = np.minimum(np.floor(at).astype(int), size - 1)
        high = np.minimum(low + 1, size - 1)
        part = (at - np.floor(at)).reshape([-1 if a == axis else 1 for a in range(array.ndim)])
        return np.take(array, low, axis) * (1 - part) + np.take(array, high, axis) * part

    want = mix(mix(x.astype(np.float64), 1, 5), 2, 7)
    np.testing.assert_allclose(one(run(nodes, [x])), want, rtol=1e-4, atol=1e-5)


def set_shape(model, shape):
    desc = acl.create_tensor_desc(0, shape, 1)
    _, ret = acl.mdl.set_dataset_tensor_desc(model.inputs, desc, 0)
    acl.destroy_tensor_desc(desc)
    return ret


DYNAMIC = {
    "batch": (["--input_shape=x:-1,6,6,2", "--dynamic_batch_size=1,3"],
              lambda m, s: acl.mdl.set_dynamic_batch_size(m.id, m.inputs, 1, s[0]),
              [(3, 6, 6, 2), (1, 6, 6, 2)]),
    "image": (["--input_shape=x:1,-1,-1,2", "--dynamic_image_size=8,6;5,7"],
              lambda m, s: acl.mdl.set_dynamic_hw_size(m.id, m.inputs, 1, s[1], s[2]),
              [(1, 8, 6, 2), (1, 5, 7, 2)]),
    "dims": (["--input_shape=x:-1,6,-1,2", "--dynamic_dims=2,6;1,9", "--input_format=ND"],
             lambda m, s: acl.mdl.set_input_dynamic_dims(
                 m.id, m.inputs, 1, {"dimCount": 4, "name": "", "dims": list(s)}),
             [(2, 6, 6, 2), (1, 6, 9, 2)]),
    "range": (["--input_shape=x:1~4,4~9,6,2"], set_shape, [(2, 6, 6, 2), (1, 9, 6, 2)]),
}


@pytest.mark.parametrize("kind", DYNAMIC)
def test_gears_and_ranges_of_pictures_in_nhwc_run(kind):
    options, choose, shapes = DYNAMIC[kind]
    w = RNG.standard_normal((3, 3, 2, 4)).astype(np.float32)
    nodes = [gd.placeholder("x", [-1, -1, -1, 2]), gd.const("w", w),
             gd.node("c", "Conv2D", ["x", "w"], padding="SAME", strides=[1, 2, 2, 1]),
             gd.node("y", "Relu", ["c"])]
    done = atc(nodes, *options)
    assert done.returncode == 0, done.stderr
    model = Model("net.om", *([[4096], [4096]] if kind == "range" else []))
    for shape in shapes:
        x = RNG.standard_normal(shape).astype(np.float32)
        model.feed(x)
        assert choose(model, list(shape)) == 0, acl.get_recent_err_msg()
        assert model.execute() == 0, acl.get_recent_err_msg()
        want = np.maximum(conv_same(x, w, 2), 0)
        np.testing.assert_allclose(model.read(0, want.shape), want, rtol=1e-4, atol=1e-5)
    model.close()


def test_aipp_feeds_pictures_in_nhwc():
    """Bytes of RGB pictures, rows of pixels as the model has them; mean and factor per channel."""
    w = RNG.standard_normal((3, 3, 3, 4)).astype(np.float32)
    nodes = [gd.placeholder("x", [1, 16, 32, 3]), gd.const("w", w),
             gd.node("y", "Conv2D", ["x", "w"], padding="SAME", strides=[1, 2, 2, 1])]
    with open("aipp.cfg", "w") as file:
        file.write("aipp_op { aipp_mode: static input_format: RGB888_U8 src_image_size_w: 32 "
                   "src_image_size_h: 16 mean_chn_0: 104 mean_chn_1: 117 mean_chn_2: 123 "
                   "var_reci_chn_0: 0.5 var_reci_chn_1: 0.25 var_reci_chn_2: 0.125 }")
    pixels = RNG.integers(0, 256, (1, 16, 32, 3), np.uint8)
    got = one(run(nodes, [pixels], "--insert_op_conf=aipp.cfg"))
    x = (pixels.astype(np.float32) - [104, 117, 123]) * [0.5, 0.25, 0.125]
    np.testing.assert_allclose(got, conv_same(x.astype(np.float32), w, 2), rtol=1e-3, atol=1e-2)


def test_random_numbers_are_the_same_in_every_run_and_spread_as_asked():
    nodes = [gd.placeholder("x", [3]), gd.const("shape", np.int32([100, 200])),
             gd.const("low", np.int32(-3)), gd.const("high", np.int32(4)),
             gd.const("logits", np.float32([[0, 0, -100]])), gd.const("draws", np.int32(2000)),
             gd.node("u", "RandomUniform", ["shape"], dtype=gd.Type(1), seed=5),
             gd.node("n", "RandomStandardNormal", ["shape"], dtype=gd.Type(1)),
             gd.node("t", "TruncatedNormal", ["shape"], dtype=gd.Type(1)),
             gd.node("i", "RandomUniformInt", ["shape", "low", "high"]),
             gd.node("m", "Multinomial", ["logits", "draws"]),
             gd.const("row", np.arange(500, dtype=np.float32)),
             gd.node("s", "RandomShuffle", ["row"]),
             gd.node("y", "Relu", ["x"])]
    names = "--out_nodes=u:0;n:0;t:0;i:0;m:0;s:0;y:0"
    first = list(run(nodes, [np.ones(3, np.float32)], names).values())
    second = list(run_om("net.om", [np.ones(3, np.float32)]).values())
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a, b)
    uniform, normal, truncated, whole, drawn, shuffled, _ = first
    assert 0 <= uniform.min() and uniform.max() < 1
    assert abs(uniform.mean() - 1 / 2) < 0.01 and abs(uniform.var() - 1 / 12) < 0.01
    assert abs(normal.mean()) < 0.03 and abs(normal.var() - 1) < 0.05
    assert np.abs(truncated).max() <= 2 and abs(truncated.var() - 0.774) < 0.03
    assert whole.dtype == np.int32
    values, counts = np.unique(whole, return_counts=True)
    assert list(values) == [-3, -2, -1, 0, 1, 2, 3]
    np.testing.assert_allclose(counts / whole.size, 1 / 7, atol=0.02)
    assert drawn.shape == (1, 2000) and set(np.unique(drawn)) == {0, 1}
    assert abs(drawn.mean() - 0.5) < 0.05
    assert sorted(shuffled) == list(range(500)) and list(shuffled) != list(range(500))


def test_a_part_of_a_picture_is_inside_it_and_shows_the_box():
    nodes = [gd.placeholder("boxes", [1, 1, 4]), gd.const("size", np.int32([100, 80, 3])),
             gd.const("least", np.float32(0.3)),
             gd.node("cut", "SampleDistortedBoundingBoxV2", ["size", "boxes", "least"])]
    box = np.float32([[[0.2, 0.3, 0.7, 0.6]]])
    begin, size, corners = run(nodes, [box], "--out_nodes=cut:0;cut:1;cut:2").values()
    assert begin[2] == 0 and size[2] == -1
    assert (begin[:2] >= 0).all() and (begin[:2] + size[:2] <= [100, 80]).all()
    extents = np.array([100, 80])
    part = np.concatenate([begin[:2] / extents, (begin[:2] + size[:2]) / extents])
    np.testing.assert_allclose(corners[0, 0], part, rtol=1e-5)
    low, high = np.maximum(part[:2], box[0, 0, :2]), np.minimum(part[2:], box[0, 0, 2:])
    assert np.prod(np.maximum(high - low, 0)) >= 0.3 * 0.5 * 0.3 - 1e-6


def test_what_comes_out_of_a_dataset_is_an_input():
    nodes = [gd.node("dataset", "OneShotIterator"),
             gd.node("next", "IteratorGetNext", ["dataset"], output_types=[gd.Type(1), gd.Type(3)],
                     output_shapes=[gd.Shape([-1, 3]), gd.Shape([-1])]),
             gd.node("y", "Relu", ["next"]), gd.node("z", "Identity", ["next:1"])]
    x, labels = RNG.standard_normal((2, 3)).astype(np.float32), np.array([4, 5], np.int32)
    shapes = "--input_shape=next:2,3;next:1:2"
    y, z = run(nodes, [x, labels], shapes, "--out_nodes=y:0;z:0").values()
    np.testing.assert_array_equal(y, np.maximum(x, 0))
    np.testing.assert_array_equal(z, labels)


def test_no_transpose_stands_between_convolutions():
    """Residual sums, squeeze and excitation, joins, paddings, slices and resizing in between."""
    conv = {"padding": "SAME", "strides": [1, 1, 1, 1]}
    w = RNG.standard_normal((3, 3, 4, 4)).astype(np.float32)
    narrow = RNG.standard_normal((1, 1, 8, 4)).astype(np.float32)
    nodes = [gd.placeholder("x", [1, 8, 8, 4]), gd.const("w", w), gd.const("narrow", narrow),
             gd.const("c", np.ones(4, np.float32)), gd.const("axes", np.int32([1, 2])),
             gd.const("last", np.int32(3)), gd.const("to", np.int32([1, 1, 1, 4])),
             gd.const("size", np.int32([16, 16])), gd.const("from", np.int32([0, 1, 1, 0])),
             gd.const("part", np.int32([1, 12, 12, 4])),
             gd.const("pads", np.int32([[0, 0], [1, 1], [1, 1], [0, 0]])),
             gd.node("a", "Conv2D", ["x", "w"], **conv), gd.node("ab", "BiasAdd", ["a", "c"]),
             gd.node("n", "FusedBatchNormV3", ["ab", "c", "c", "c", "c"], is_training=False),
             gd.node("r", "Relu6", ["n"]), gd.node("b", "Conv2D", ["r", "w"], **conv),
             gd.node("sum", "AddV2", ["b", "r"]), gd.node("m", "Mean", ["sum", "axes"]),
             gd.node("e", "Reshape", ["m", "to"]), gd.node("s", "Sigmoid", ["e"]),
             gd.node("se", "Mul", ["sum", "s"]), gd.node("cat", "ConcatV2", ["se", "r", "last"]),
             gd.node("d", "Conv2D", ["cat", "narrow"], **conv),
             gd.node("big", "ResizeBilinear", ["d", "size"]),
             gd.node("cut", "Slice", ["big", "from", "part"]), gd.node("p", "Pad", ["cut", "pads"]),
             gd.node("f", "Conv2D", ["p", "w"], padding="VALID", strides=[1, 1, 1, 1]),
             gd.node("y", "Mean", ["f", "axes"])]
    done = atc(nodes)
    assert done.returncode == 0, done.stderr
    types = types_of("net.om")
    assert types.count("Transpose") <= 1, types  # in front of the first convolution
    assert "BatchNormalization" not in types and "Pad" not in types, types


def test_atc_takes_at_most_one_and_a_half_times_the_memory_of_a_large_file():
    """Filters are turned into another order, so each is copied once; the file's pages go then."""
    filters = [np.full((3, 3, 256, 512), 0.01, np.float32),
               np.full((3, 3, 512, 256), 0.01, np.float32)]
    nodes = [gd.placeholder("x", [1, 4, 4, 256])]
    before = "x"
    for i in range(22):
        nodes += [gd.const(f"w{i}", filters[i % 2]),
                  gd.node(f"c{i}", "Conv2D", [before, f"w{i}"], padding="SAME",
                          strides=[1, 1, 1, 1])]
        before = f"c{i}"
    with open("net.pb", "wb") as file:
        file.write(gd.graph(nodes, ()))
    size = os.path.getsize("net.pb")
    assert size > 100e6
    # Started by a small process: a child counts what its parent held when it was forked.
    program = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, "
               "stdout=subprocess.DEVNULL); "
               "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
    done = subprocess.run([sys.executable, "-S", "-c", program, "atc", "--model=net.pb",
                           "--framework=3", "--output=net", "--soc_version=Ascend310P3"],
                          capture_output=True, text=True, check=True)
    assert int(done.stdout) * 1024 <= 1.5 * size


def test_layer_normalisation_and_gelu_become_the_operators_of_onnx():
    f = np.float32
    nodes = [gd.placeholder("x", [2, 3, 8]), gd.const("g", np.ones(8, f)),
             gd.const("b", np.ones(8, f)),
             gd.const("last", np.int32([-1])), gd.const("eps", f(1e-6)), gd.const("half", f(0.5)),
             gd.const("one", f(1)), gd.const("root", f(2 ** 0.5)),
             gd.node("m", "Mean", ["x", "last"], keep_dims=True),
             gd.node("d", "SquaredDifference", ["x", "m"]),
             gd.node("v", "Mean", ["d", "last"], keep_dims=True),
             gd.node("ve", "AddV2", ["v", "eps"]),
             gd.node("rs", "Rsqrt", ["ve"]), gd.node("rate", "Mul", ["rs", "g"]),
             gd.node("xr", "Mul", ["x", "rate"]), gd.node("mr", "Mul", ["m", "rate"]),
             gd.node("rest", "Sub", ["b", "mr"]), gd.node("ln", "AddV2", ["xr", "rest"]),
             gd.node("q", "RealDiv", ["ln", "root"]), gd.node("erf", "Erf", ["q"]),
             gd.node("s", "AddV2", ["erf", "one"]), gd.node("h", "Mul", ["ln", "half"]),
             gd.node("gelu", "Mul", ["h", "s"]), gd.node("sg", "Sigmoid", ["gelu"]),
             gd.node("y", "Mul", ["gelu", "sg"])]
    done = atc(nodes)
    assert done.returncode == 0, done.stderr
    assert types_of("net.om") == ["LayerNormalization", "Gelu", "Swish"]


def test_scope_fusion_passes_are_accepted():
    nodes = [gd.placeholder("x", [2]), gd.node("y", "Relu", ["x"])]
    done = atc(nodes, "--enable_scope_fusion_passes=ScopeBasicLSTMCellPass", "--input_format=NHWC")
    assert done.returncode == 0, done.stderr
