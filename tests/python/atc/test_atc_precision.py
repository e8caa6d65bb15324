# SPDX-License-Identifier: Apache-2.0
"""--precision_mode and its lists: which operators compute in which type, and how near they stay."""
import json
import re

import numpy as np
import pytest
from model_datasets import atc
from om_runner import run_om
from onnx import TensorProto, helper, numpy_helper, save
from onnx_models import network

RANDOM = np.random.default_rng(6)
PICTURE = RANDOM.standard_normal((1, 3, 8, 8)).astype(np.float32)


def weight(name, *shape):
    return numpy_helper.from_array(RANDOM.standard_normal(shape).astype(np.float32) / 4, name)


@pytest.fixture
def convert(tmp_path, monkeypatch, runtime):
    monkeypatch.chdir(tmp_path)
    nodes = [helper.make_node("Conv", ["x", "w1"], ["c1"], name="conv1", pads=[1] * 4),
             helper.make_node("Relu", ["c1"], ["r1"], name="relu1"),
             helper.make_node("Conv", ["r1", "w2"], ["c2"], name="conv2", pads=[1] * 4),
             helper.make_node("Add", ["c2", "r1"], ["s"], name="sum"),
             helper.make_node("GlobalAveragePool", ["s"], ["g"], name="pool"),
             helper.make_node("Flatten", ["g"], ["f"], name="flat"),
             helper.make_node("MatMul", ["f", "fc"], ["m"], name="fc"),
             helper.make_node("Softmax", ["m"], ["y"], name="prob")]
    weights = [weight("w1", 16, 3, 3, 3), weight("w2", 16, 16, 3, 3), weight("fc", 16, 10)]
    save(network(nodes, [("x", TensorProto.FLOAT, ["n", 3, 8, 8])],
                 [("y", TensorProto.FLOAT, None)], weights), "net.onnx")

    def run(*options, shape="x:1,3,8,8"):
        return atc("--model=net.onnx", "--framework=5", "--output=net", "--log=debug",
                   "--soc_version=Ascend310P3", f"--input_shape={shape}", *options)
    return run


def result(convert, *options):
    done = convert(*options)
    assert done.returncode == 0, done.stderr
    return run_om("net.om", [PICTURE])["prob:0:y"], types_of(done.stdout)


def types_of(log):
    """Node -> type of its result, from the printed graph of --log=debug."""
    line = re.compile(r'^  %\S+: (\w+)\S* = \S+ "([^"]*)"', re.M)
    return {name: kind for kind, name in line.findall(log)}


def error(a, b):
    return np.linalg.norm(a.astype(np.float64) - b) / np.linalg.norm(b.astype(np.float64))


@pytest.mark.parametrize("option,limit", [
    ("--precision_mode=force_fp16", 5e-3), ("--precision_mode_v2=fp16", 5e-3),
    ("--precision_mode=allow_fp32_to_fp16", 5e-3), ("--precision_mode=allow_mix_precision", 5e-3),
    ("--precision_mode=allow_mix_precision_fp16", 5e-3), ("--precision_mode=force_fp32", 5e-3),
    ("--precision_mode=cube_fp16in_fp32out", 5e-3), ("--precision_mode_v2=mixed_float16", 5e-3),
    ("--precision_mode=allow_mix_precision_bf16", 2e-2),
    ("--precision_mode_v2=mixed_bfloat16", 2e-2),
])
def test_every_mode_stays_near_float32_and_differs_from_it(convert, option, limit):
    exact, _ = result(convert)
    short, _ = result(convert, option)
    assert short.dtype == np.float32, "inputs and outputs keep their types"
    assert 0 < error(short, exact) < limit


def test_the_default_keeps_float32(convert):
    exact, types = result(convert)
    same, _ = result(convert, "--precision_mode=must_keep_origin_dtype")
    np.testing.assert_array_equal(exact, same)
    assert set(types.values()) == {"float32"}


def test_force_fp16_takes_every_operator(convert):
    _, types = result(convert, "--precision_mode=force_fp16")
    for name in ("conv1", "conv2", "pool", "fc", "prob"):
        assert types[name] == "float16", types
    assert "relu1" not in types and "sum" not in types, "part of the convolutions: the same type"


def test_mixed_precision_keeps_black_operators_and_gray_ones_follow(convert):
    _, types = result(convert, "--precision_mode_v2=mixed_float16")
    for name in ("conv1", "conv2", "pool", "fc"):
        assert types[name] == "float16", types
    assert "relu1" not in types and "sum" not in types, "part of the convolutions: the same type"
    assert types["prob"] == "float32", types


def test_allow_fp32_to_fp16_takes_convolutions_and_products_alone(convert):
    _, types = result(convert, "--precision_mode=allow_fp32_to_fp16")
    assert types["conv1"] == types["fc"] == "float16", types
    assert types["relu1"] == types["pool"] == types["prob"] == "float32", types


def test_modify_mixlist_moves_operators(convert, tmp_path):
    (tmp_path / "mix.json").write_text(json.dumps({
        "white-list": {"to-add": ["SoftmaxV2"], "to-remove": []},
        "black-list": {"to-add": ["Add"]}}))
    _, types = result(convert, "--precision_mode_v2=mixed_bfloat16", "--modify_mixlist=mix.json")
    assert types["prob"] == "bfloat16", types
    assert types["sum"] == types["pool"] == "float32", types


def test_keep_dtype_by_name_and_by_operator(convert, tmp_path):
    (tmp_path / "keep.cfg").write_text("conv2\nOpType::MatMulV2\n")
    _, types = result(convert, "--precision_mode=force_fp16", "--keep_dtype=keep.cfg")
    assert types["conv2"] == types["fc"] == "float32", types
    assert types["conv1"] == "float16", types


@pytest.mark.parametrize("option,text", [
    ("--keep_dtype", "norm\n"), ("--keep_dtype", "OpType::BatchNormalization\n"),
    ("--customize_dtypes", "norm::InputDtype:float32,OutputDtype:float32\n"),
    ("--modify_mixlist", '{"black-list": {"to-add": ["BatchNormalization"]}}')])
def test_an_operator_that_the_lists_name_is_not_folded_into_the_convolution(
        tmp_path, monkeypatch, runtime, option, text):
    monkeypatch.chdir(tmp_path)
    ones = [numpy_helper.from_array(np.full(4, number, np.float32), name)
            for name, number in (("s", 1), ("b", 1e-3), ("m", 0), ("v", 1 - 1e-5))]
    save(network([helper.make_node("Conv", ["x", "w"], ["c"], name="conv"),
                  helper.make_node("BatchNormalization", ["c", "s", "b", "m", "v"], ["y"],
                                   name="norm")],
                 [("x", TensorProto.FLOAT, [1, 1, 1, 1])], [("y", TensorProto.FLOAT, None)],
                 [numpy_helper.from_array(np.ones((4, 1, 1, 1), np.float32), "w"), *ones]),
         "net.onnx")
    (tmp_path / "list.cfg").write_text(text)
    args = ["--model=net.onnx", "--framework=5", "--output=net", "--soc_version=Ascend310P3",
            "--precision_mode_v2=mixed_float16", "--log=debug"]
    folded = atc(*args)
    assert types_of(folded.stdout)["conv"] == "float16" and "norm" not in types_of(folded.stdout)
    done = atc(*args, f"{option}=list.cfg")
    assert done.returncode == 0, done.stderr
    assert types_of(done.stdout)["norm"] == "float32"
    # 1024 + 0.001 is no float16: the sum was made in float32.
    result = run_om("net.om", [np.full((1, 1, 1, 1), 1024, np.float32)])["norm:0:y"]
    np.testing.assert_allclose(result, 1024.001, rtol=1e-7)


def test_customize_dtypes_name_single_operators(convert, tmp_path):
    (tmp_path / "custom.cfg").write_text(
        "conv1::InputDtype:bfloat16,bfloat16,OutputDtype:bfloat16\n"
        "OpType::Softmax::InputDtype:float16,OutputDtype:float16\n")
    _, types = result(convert, "--customize_dtypes=custom.cfg")
    assert types["conv1"] == "bfloat16", types
    assert types["prob"] == "float16", types
    assert types["conv2"] == "float32", types


@pytest.mark.parametrize("option,text,sentence", [
    ("--modify_mixlist", "[]", "expected an object"),
    ("--modify_mixlist", '{"red-list": {}}', '"red-list" is no list'),
    ("--modify_mixlist", '{"white-list": {"add": ["Add"]}}', '"add" in "white-list"'),
    ("--modify_mixlist", '{"white-list": {"to-add": "Add"}}', "is of kind string"),
    ("--modify_mixlist", '{"white-list": {"to-add": ["Add"]}, "gray-list": {"to-add": ["Add"]}}',
     "adds 'Add' to two lists"),
    ("--modify_mixlist", "{", "line 1"),
    ("--keep_dtype", "conv9\n", "no operator 'conv9'"),
    ("--keep_dtype", "OpType::\n", "line 1"),
    ("--customize_dtypes", "conv1\n", "line 1: 'conv1'"),
    ("--customize_dtypes", "conv1::InputDtype:int3\n", "type 'int3'"),
    ("--customize_dtypes", "conv1::InputDtype:float16,OutputDtype:float32\n", "one precision"),
    ("--fusion_switch_file", "Pass:maybe\n", "expected on or off"),
    ("--fusion_switch_file", '{"Swich": {}}', 'no object "Switch"'),
])
def test_mistakes_in_the_lists_are_named(convert, tmp_path, option, text, sentence):
    (tmp_path / "list.cfg").write_text(text)
    done = convert("--precision_mode_v2=mixed_float16", f"{option}=list.cfg")
    assert done.returncode == 1
    assert sentence in done.stderr


def test_weights_beyond_float16_are_clipped_unless_told_otherwise(tmp_path, monkeypatch, runtime):
    monkeypatch.chdir(tmp_path)
    save(network([helper.make_node("Mul", ["x", "w"], ["y"], name="mul")],
                 [("x", TensorProto.FLOAT, [1])], [("y", TensorProto.FLOAT, None)],
                 [numpy_helper.from_array(np.array([1e9], np.float32), "w")]), "big.onnx")
    for clip, wanted in (("1", 65504), ("0", np.inf)):
        assert atc("--model=big.onnx", "--framework=5", "--output=big", "--soc_version=Ascend310P3",
                   "--precision_mode=force_fp16", f"--is_weight_clip={clip}").returncode == 0
        assert run_om("big.om", [np.ones(1, np.float32)])["mul:0:y"][0] == wanted


@pytest.mark.parametrize("options,shape", [
    (["--dynamic_batch_size=1,2"], "x:-1,3,8,8"), ([], "x:1~4,3,8,8")])
def test_dynamic_models_compute_in_float16_too(convert, options, shape):
    done = convert("--precision_mode=force_fp16", *options, shape=shape)
    assert done.returncode == 0, done.stderr
    types = types_of(done.stdout)
    assert types["conv1"] == types["prob"] == "float16", types


@pytest.mark.parametrize("text", [
    '{"Switch":{"GraphFusion":{"ALL":"off"},"UBFusion":{"ALL":"off"}}}',
    "TbeConvReluFusionPass:off\nSomeOtherPass:off\n",
    '{"Switch":{"GraphFusion":{"ALL":"off"},"UBFusion":{"ALL":"on"}}}',
    '{"Switch":{"GraphFusion":{"fuse_conv":"off"}}}'])
def test_fusion_switched_off_leaves_the_operators_apart(convert, tmp_path, text):
    (tmp_path / "fusion.cfg").write_text(text)
    exact, fused = result(convert)
    apart, types = result(convert, "--fusion_switch_file=fusion.cfg")
    assert "relu1" in types and "relu1" not in fused
    assert error(apart, exact) < 1e-6


def test_fusion_switched_off_holds_inside_branches_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    numbers = [numpy_helper.from_array(np.ones(2, np.float32), name) for name in "sbmv"]
    weight_of = numpy_helper.from_array(np.ones((2, 2, 1, 1), np.float32), "w")
    branch = helper.make_graph(
        [helper.make_node("Conv", ["x", "w"], ["c"], name="conv"),
         helper.make_node("BatchNormalization", ["c", *"sbmv"], ["z"], name="norm")],
        "branch", [], [helper.make_tensor_value_info("z", TensorProto.FLOAT, None)])
    node = helper.make_node("If", ["take"], ["y"], then_branch=branch, else_branch=branch)
    save(network([node], [("take", TensorProto.BOOL, []), ("x", TensorProto.FLOAT, [1, 2, 3, 3])],
                 [("y", TensorProto.FLOAT, None)], [weight_of, *numbers]), "net.onnx")
    (tmp_path / "fusion.cfg").write_text("fold_batch_norm:off\n")
    for options, count in (([], 0), (["--fusion_switch_file=fusion.cfg"], 2)):
        done = atc("--model=net.onnx", "--framework=5", "--output=net", "--log=debug",
                   "--soc_version=Ascend310P3", *options)
        assert done.returncode == 0, done.stderr
        assert done.stdout.count("= BatchNormalization") == count
