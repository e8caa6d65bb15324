# SPDX-License-Identifier: Apache-2.0
"""atc beside converting: JSON, reports, stage graphs, model information, weights apart."""
import json
import os
import shutil
import subprocess

import numpy as np
import onnx
import pytest
from model_datasets import atc
from om_runner import run_om
from onnx import TensorProto, helper, numpy_helper, save
from onnx_models import network

import acl

RANDOM = np.random.default_rng(7)
PICTURE = RANDOM.standard_normal((1, 3, 8, 8)).astype(np.float32)
CONVERT = ["--model=net.onnx", "--framework=5", "--output=net", "--soc_version=Ascend310P3",
           "--input_shape=x:1,3,8,8"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def weight(name, *shape):
        return numpy_helper.from_array(RANDOM.standard_normal(shape).astype(np.float32), name)
    nodes = [helper.make_node("Conv", ["x", "w"], ["c"], name="conv", pads=[1] * 4),
             helper.make_node("Relu", ["c"], ["r"], name="relu"),
             helper.make_node("Mul", ["r", "m"], ["y"], name="scale")]
    save(network(nodes, [("x", TensorProto.FLOAT, ["n", 3, 8, 8])],
                 [("y", TensorProto.FLOAT, None)], [weight("w", 4, 3, 3, 3), weight("m", 4, 8, 8)]),
         "net.onnx")
    return tmp_path


def run(*args, **env):
    done = subprocess.run(["atc", *args], capture_output=True, text=True, timeout=300,
                          env={**os.environ, **env})
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "ATC run success, welcome to the next use."
    return done.stdout


def fails(*args):
    done = atc(*args)
    assert done.returncode == 1, done.stdout
    return done.stderr


def ops(path):
    return {op["name"]: op for op in json.load(open(path))["graph"][0]["op"]}


def test_mode_1_writes_a_model_as_json(folder):
    run(*CONVERT)
    run("--mode=1", "--om=net.om", "--json=net.json")
    root = json.load(open("net.json"))
    found = ops("net.json")
    assert root["name"] == "net" and root["soc_version"] == "Ascend310P3"
    assert "--input_shape=x:1,3,8,8" in root["atc_cmdline"]
    assert root["model_input"][0]["dims"] == [1, 3, 8, 8]
    assert found["x"]["type"] == "Data" and found["w"]["type"] == "Const"
    assert found["conv"]["type"] == "FusedConv"
    assert found["conv"]["input"][0] == "x:0"
    assert found["conv"]["output_desc"][0]["shape"]["dim"] == [1, 4, 8, 8]
    assert {"key": "pads", "value": {"list": {"i": [1, 1, 1, 1]}}} in found["conv"]["attr"]
    assert found["NetOutput"]["input"] == ["scale:0"]


def test_mode_1_writes_a_source_model_as_json_with_and_without_shapes(folder):
    run("--mode=1", "--om=net.onnx", "--framework=5", "--json=plain.json")
    assert ops("plain.json")["relu"]["type"] == "Relu"
    assert "shape" not in ops("plain.json")["relu"]["output_desc"][0]
    run("--mode=1", "--om=net.onnx", "--framework=5", "--json=shapes.json", "--dump_mode=1",
        "--input_shape=x:2,3,8,8")
    assert ops("shapes.json")["relu"]["output_desc"][0]["shape"]["dim"] == [2, 4, 8, 8]


def test_mode_1_writes_a_prototxt_as_json(folder):
    (folder / "net.prototxt").write_text(
        'name: "n" layer { name: "data" type: "Input" top: "data" '
        'input_param { shape { dim: 1 dim: 3 } } } '
        'layer { name: "r" type: "ReLU" bottom: "data" top: "r" '
        'relu_param { negative_slope: 0.5 } }')
    run("--mode=1", "--om=net.prototxt", "--framework=0", "--json=net.json")
    root = json.load(open("net.json"))
    assert root["layer"][0]["input_param"]["shape"]["dim"] == [1, 3]
    assert root["layer"][1]["relu_param"]["negative_slope"] == 0.5
    assert root["layer"][1]["bottom"] == ["data"]


def test_mode_3_reports_every_operator(folder):
    run("--mode=3", "--model=net.onnx", "--framework=5")
    report = json.load(open("check_result.json"))
    assert report["result"] == "success"
    assert [op["op_type"] for op in report["op"]] == ["Conv", "Relu", "Mul"]
    nodes = [helper.make_node("NotAnOp", ["x"], ["a"], name="first"),
             helper.make_node("Relu", ["a"], ["y"], name="second")]
    save(network(nodes, [("x", TensorProto.FLOAT, [1])], [("y", TensorProto.FLOAT, None)]),
         "odd.onnx")
    assert "odd.json" in fails("--mode=3", "--model=odd.onnx", "--framework=5",
                               "--check_report=odd.json")
    bad, good = json.load(open("odd.json"))["op"]
    assert (bad["op_name"], bad["op_type"], bad["opset"]) == ("first", "NotAnOp", 13)
    assert bad["result"] == "failed" and "NotAnOp" in bad["cause"]
    assert good["result"] == "success" and "cause" not in good
    fails("--model=odd.onnx", "--framework=5", "--output=odd", "--soc_version=Ascend310P3",
          "--check_report=again.json")
    assert json.load(open("again.json"))["result"] == "failed"


def test_mode_3_knows_calls_of_functions_and_their_opsets(folder):
    """The first function calls the second, which stands behind it; Swish came with opset 24."""
    opsets = [helper.make_opsetid("", 24), helper.make_opsetid("local", 1)]
    call = helper.make_node("Inner", ["x"], ["y"], domain="local", overload="b")
    swish = helper.make_node("Swish", ["x"], ["y"])
    made = network([helper.make_node("Outer", ["x"], ["y"], domain="local"),
                    helper.make_node("Inner", ["x"], ["z"], domain="local", name="no overload"),
                    helper.make_node("Swish", ["x"], ["u"], name="opset 13")],
                   [("x", TensorProto.FLOAT, [1])], [("y", TensorProto.FLOAT, None)])
    made.opset_import.append(opsets[1])
    made.functions.append(helper.make_function("local", "Outer", ["x"], ["y"], [call], opsets))
    made.functions.append(helper.make_function("local", "Inner", ["x"], ["y"], [swish], opsets,
                                               overload="b"))
    save(made, "calls.onnx")
    fails("--mode=3", "--model=calls.onnx", "--framework=5")
    report = json.load(open("check_result.json"))["op"]
    assert [(op["op_type"], op["opset"]) for op in report] == [
        ("Inner", 1), ("Swish", 24), ("Outer", 1), ("Inner", 1), ("Swish", 13)]
    assert [op["op_name"] for op in report if op["result"] == "failed"] == ["no overload",
                                                                           "opset 13"]


@pytest.mark.parametrize("opset", [7, 9, 11, 13, 15, 17, 18, onnx.defs.onnx_opset_version()])
def test_the_whole_default_domain_is_there(folder, opset):
    names = set()
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain == "" and schema.since_version <= opset:
            newest = onnx.defs.get_schema(schema.name, opset, "")
            if not newest.deprecated:
                names.add(schema.name)
    assert len(names) > 100
    nodes = [helper.make_node(name, ["x"], [name + "_out"], name=name) for name in sorted(names)]
    save(network(nodes, [("x", TensorProto.FLOAT, [1])], [("Relu_out", TensorProto.FLOAT, None)],
                 opset=opset), "all.onnx")
    atc("--mode=3", "--model=all.onnx", "--framework=5")
    report = json.load(open("check_result.json"))["op"]
    assert {op["op_type"] for op in report} == names
    assert [op["op_type"] for op in report if op["result"] != "success"] == []


def test_mode_3_reports_layers_of_caffe(folder):
    (folder / "net.prototxt").write_text(
        'layer { name: "d" type: "Data" top: "d" } layer { name: "r" type: "ReLU" bottom: "d" }')
    fails("--mode=3", "--model=net.prototxt", "--framework=0")
    data, relu = json.load(open("check_result.json"))["op"]
    assert data["result"] == "failed" and "deploy" in data["cause"]
    assert relu["result"] == "success"


def test_stage_graphs_are_written_and_read_by_mode_5(folder):
    run(*CONVERT, "--precision_mode=force_fp16", DUMP_GE_GRAPH="2", DUMP_GRAPH_LEVEL="1")
    stages = sorted(name for name in os.listdir(".") if name.startswith("ge_proto_"))
    assert [name.split("_net_")[1] for name in stages] == [
        "PreRunBegin.txt", "PrepareAfterInferFormatAndShape.txt", "OptimizeOriginalGraph.txt",
        "Build.txt"]
    run("--mode=5", f"--om={stages[0]}", "--json=first.json")
    run("--mode=5", f"--om={stages[-1]}", "--json=last.json")
    assert ops("first.json")["relu"]["input"] == ["conv:0"]
    assert ops("first.json")["relu"]["input_desc"][0]["name"] == "c"
    assert ops("last.json")["conv"]["output_desc"][0]["dtype"] == "DT_FLOAT16"
    run("--mode=1", "--om=net.om", "--json=model.json")
    whole = json.load(open("model.json"))["graph"]
    assert json.load(open("last.json"))["graph"] == whole


@pytest.mark.parametrize("level,stages", [("3", ["Build.txt"]), ("4", ["PreRunBegin.txt"])])
def test_stage_graphs_of_one_stage_go_to_the_folder_asked_for(folder, level, stages):
    run(*CONVERT, DUMP_GE_GRAPH="1", DUMP_GRAPH_LEVEL=level, DUMP_GRAPH_PATH="new/dump")
    assert [name.split("_net_")[1] for name in os.listdir("new/dump")] == stages
    assert not [name for name in os.listdir(".") if name.startswith("ge_proto_")]


@pytest.mark.parametrize("env,sentence", [
    ({"DUMP_GE_GRAPH": "7"}, "DUMP_GE_GRAPH is '7'"),
    ({"DUMP_GE_GRAPH": "yes"}, "expected 1 to 3"),
    ({"DUMP_GE_GRAPH": "1", "DUMP_GRAPH_LEVEL": "5"}, "DUMP_GRAPH_LEVEL is '5'"),
    ({"DUMP_GE_GRAPH": "2", "DUMP_GRAPH_PATH": "net.onnx"}, "a file beside 'net.onnx/")])
def test_stage_graphs_that_cannot_be_written_are_told_once_and_the_model_is_made(folder, env,
                                                                                 sentence):
    done = subprocess.run(["atc", *CONVERT], capture_output=True, text=True, timeout=300,
                          env={**os.environ, **env})
    assert done.returncode == 0 and done.stderr.count(sentence) == 1, done.stderr
    assert sorted(os.listdir(".")) == ["net.om", "net.onnx"]


def test_mode_6_and_display_model_info_print_the_same(folder):
    shown = run(*CONVERT, "--display_model_info=1")
    alone = run("--mode=6", "--om=net.om")
    text = alone[alone.index("===="):]
    assert text in shown
    assert "soc_version[Ascend310P3]" in text and "framework_type[5]" in text
    assert "input  0: name[x], dtype[float32], format[NCHW], dims[1x3x8x8], size[768 B]" in text
    assert "weight_size[" in text and "memory_size[" in text


@pytest.mark.parametrize("args,sentence", [
    (["--mode=1", "--om=net.onnx"], "--json is missing"),
    (["--mode=1", "--json=a.json"], "--om is missing"),
    (["--mode=1", "--om=net.onnx", "--json=a.json"], "give --framework"),
    (["--mode=1", "--om=net.onnx", "--json=a.json", "--framework=5", "--dump_mode=2"],
     "expected 0 or 1"),
    (["--mode=1", "--om=missing.om", "--json=a.json"], "cannot open 'missing.om'"),
    (["--mode=5", "--om=net.onnx", "--json=a.json"], "ge_proto"),
    (["--mode=5", "--om=text.txt", "--json=a.json"], "holds no graph"),
    (["--mode=3", "--model=net.onnx"], "--framework is missing"),
    (["--mode=3", "--model=text.txt", "--framework=5"], "text.txt"),
    (["--mode=6"], "--om is missing"),
    (["--mode=6", "--om=net.onnx"], "does not start as an offline model"),
    (["--mode=30"], "expected 0, 1, 3, 5 or 6"),
    (["--mode=x"], "expected 0, 1, 3, 5 or 6"),
    ([*CONVERT, "--external_weight=3"], "expected 0, 1 or 2"),
    ([*CONVERT, "--save_original_model=1"], "expected true or false"),
    ([*CONVERT, "--op_name_map=map.txt"], "for Caffe models"),
])
def test_mistakes_are_named(folder, args, sentence):
    (folder / "text.txt").write_text("a: 1\n")
    assert sentence in fails(*args)
    assert not os.path.exists("a.json") and not os.path.exists("net.om")


@pytest.mark.parametrize("place,count", [("1", 2), ("2", 1)])
def test_external_weights_lie_beside_the_model(folder, runtime, place, count):
    run(*CONVERT)
    whole = run_om("net.om", [PICTURE])
    os.remove("net.om")
    run(*CONVERT, f"--external_weight={place}")
    files = os.listdir("weight")
    assert len(files) == count
    assert all(name.startswith("weight_") for name in files) if place == "1" else (
        files == ["net_weight_combined"])
    np.testing.assert_array_equal(run_om("net.om", [PICTURE])["scale:0:y"], whole["scale:0:y"])

    path = os.path.join("weight", files[0])
    good = open(path, "rb").read()
    open(path, "wb").write(bytes([good[0] ^ 1]) + good[1:])
    assert acl.mdl.load_from_file("net.om")[1] != 0
    assert "does not belong to this model" in acl.get_recent_err_msg()
    shutil.rmtree("weight")
    assert acl.mdl.load_from_file("net.om")[1] != 0
    assert "cannot open" in acl.get_recent_err_msg()


def test_the_original_model_is_saved_beside_the_result(folder, runtime):
    run(*CONVERT, "--save_original_model=true", "--precision_mode=force_fp16")
    run("--mode=1", "--om=net_original.om", "--json=original.json")
    assert [ops("original.json")[name]["type"] for name in ("conv", "relu", "scale")] == [
        "Conv", "Relu", "Mul"]
    original = run_om("net_original.om", [PICTURE])["scale:0:y"]
    short = run_om("net.om", [PICTURE])["scale:0:y"]
    assert 0 < np.linalg.norm(original - short) / np.linalg.norm(original) < 5e-3


def test_op_name_map_reads_a_layer_as_another_type(folder, runtime):
    (folder / "net.prototxt").write_text(
        'layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 4 } } } '
        'layer { name: "r" type: "MyRelu" bottom: "data" top: "r" }')
    (folder / "empty.caffemodel").write_bytes(b"\xa2\x06\x06\x0a\x04data")
    args = ["--model=net.prototxt", "--weight=empty.caffemodel", "--framework=0", "--output=caffe",
            "--soc_version=Ascend310P3"]
    assert "MyRelu" in fails(*args)
    (folder / "map.txt").write_text("MyRelu:ReLU\n")
    run(*args, "--op_name_map=map.txt")
    result = run_om("caffe.om", [np.array([-1, 2, -3, 4], np.float32)])
    np.testing.assert_array_equal(result["r:0:r"], [0, 2, 0, 4])
    (folder / "map.txt").write_text("MyRelu\n")
    assert "the line 'MyRelu'" in fails(*args, "--op_name_map=map.txt")
