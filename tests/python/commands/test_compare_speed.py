# SPDX-License-Identifier: Apache-2.0
"""`anynpu compare-speed`: which operators of both engines belong together, and the table."""
import subprocess

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper, save
from onnx_models import network

from anynpu import compare_speed


@pytest.fixture(scope="module")
def model():
    nodes = [helper.make_node("Conv", ["x", "w"], ["c"], name="conv"),
             helper.make_node("Relu", ["c"], ["r"], name="relu"),
             helper.make_node("MaxPool", ["r"], ["p"], name="pool", kernel_shape=[2, 2]),
             helper.make_node("Exp", ["p"], ["y"], name="exp")]
    weights = [numpy_helper.from_array(np.ones((4, 3, 3, 3), np.float32), "w")]
    made = network(nodes, [("x", TensorProto.FLOAT, [1, 3, 9, 9])],
                   [("y", TensorProto.FLOAT, None)], weights)
    made.ir_version = 8  # onnxruntime does not know the newest
    return made


def test_a_fused_operator_stands_for_what_lies_between_its_tensors(model):
    fused = [["conv_relu", ["x", "w"], ["r"]], ["reorder", ["r"], ["r_token_0"]],
             ["pool", ["r_token_0"], ["p"]], ["exp", ["p"], ["y"]]]
    found = compare_speed.origins_by_tensors(model, fused)
    assert sorted(found["conv_relu"]) == ["conv", "relu"]
    assert found["pool"] == ["pool"] and found["exp"] == ["exp"] and found["reorder"] == []


def test_a_node_that_nothing_stands_for_belongs_to_its_reader(model):
    found = compare_speed.fused_away(model, {"all": ["exp"], "conv": ["conv"]})
    assert sorted(found["all"]) == ["exp", "pool", "relu"] and found["conv"] == ["conv"]


def test_the_table_joins_what_stands_for_the_same_nodes_and_begins_with_the_greatest_loss():
    ours = {"a": ("FusedConv", 30.0), "b": ("Exp", 5.0)}
    peer = {"p": ("Conv", 10.0), "q": ("Relu", 5.0), "r": ("Exp", 9.0)}
    origins = [{"a": ["conv", "relu"], "b": ["exp"]}, {"p": ["conv"], "q": ["relu"], "r": ["exp"]}]
    lines = compare_speed.table(ours, peer, "onnxruntime", origins, 0)
    assert lines[1].split() == ["30.0", "15.0", "15.0", "FusedConv", "/", "Conv", "Relu", "(a)"]
    assert lines[2].split() == ["5.0", "9.0", "-4.0", "Exp", "/", "Exp", "(b)"]
    assert lines[3].split() == ["35.0", "24.0", "11.0", "in", "all"]
    short = compare_speed.table(ours, peer, "onnxruntime", origins, 1)
    assert short[2].split() == ["5.0", "9.0", "-4.0", "1", "more"]


def test_the_command_runs_both_engines(model, tmp_path):
    pytest.importorskip("onnxruntime")
    save(model, tmp_path / "net.onnx")
    done = subprocess.run(["anynpu", "compare-speed", str(tmp_path / "net.onnx"), "--runs=3",
                           "--threads=1"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "here us" in done.stdout and "onnxruntime us" in done.stdout
    assert "MaxPool" in done.stdout and "in all" in done.stdout
    assert "Without the measurement:" in done.stdout


def test_a_file_that_is_no_model_gives_a_message(tmp_path):
    (tmp_path / "net.onnx").write_bytes(b"no model")
    done = subprocess.run(["anynpu", "compare-speed", str(tmp_path / "net.onnx")],
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 2 and "expected an .onnx file" in done.stderr
