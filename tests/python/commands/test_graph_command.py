# SPDX-License-Identifier: Apache-2.0
"""`anynpu graph`: models as text, dot, picture and page."""
import json
import subprocess
import xml.etree.ElementTree as ElementTree

import pytest
from model_datasets import convert
from onnx import TensorProto, helper, save
from onnx_models import network


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("graph")
    nodes = [helper.make_node("Relu", ["x"], ["r"], name="relu"),
             helper.make_node("Softmax", ["r"], ["s"], name='the "soft" <one>', axis=1),
             helper.make_node("Add", ["r", "s"], ["y"], name="add")]
    model = network(nodes, [("x", TensorProto.FLOAT, [2, 3])], [("y", TensorProto.FLOAT, None)])
    save(model, folder / "source.onnx")
    return {"om": convert(folder, "net", model), "onnx": str(folder / "source.onnx")}


def graph(*args):
    return subprocess.run(["anynpu", "graph", *args], capture_output=True, text=True, timeout=300)


def test_a_model_is_printed_one_operator_a_line(models):
    done = graph(models["om"])
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "# name: net"
    assert "  input  %x: float32[2x3]" in lines
    assert '  %r: float32[2x3] = Relu "relu" (%x)' in lines
    assert '  %y: float32[2x3] = Add "add" (%r, %s)' in lines
    assert "  output %y: float32[2x3]" in lines
    assert any("{axis=1}" in line for line in lines)


def test_a_source_model_is_printed_too(models):
    out = graph(models["onnx"]).stdout
    assert '%r: float32[2x3] = Relu "relu" (%x)' in out


@pytest.mark.parametrize("name, content, advice", [
    ("junk.om", b"junk\n", "give a .om of atc, or a source model with its suffix: .air, .mindir"),
    ("junk.onnx", b"x", "the suffix says what a file is: .air, .mindir, .onnx"),
    ("text.mindir", b'layer { name: "x" }\n', "convert it with atc --framework=0 and give the .om"),
    ("keras.mindir", b"\x89HDF\r\n", "atc --framework=3 prints the command that freezes it"),
    ("other.mindir", b"PK\x03\x04", "give it the suffix .onnx"),
])
def test_a_file_that_is_no_model_gets_advice_that_this_command_can_follow(
        tmp_path, name, content, advice):
    (tmp_path / name).write_bytes(content)
    done = graph(str(tmp_path / name))
    assert done.returncode == 1 and advice in done.stderr, done.stderr
    assert "--framework" not in done.stderr.replace("atc --framework", ""), done.stderr


def test_dot_names_operators_and_what_runs_between_them(models):
    out = graph(models["om"], "--dot").stdout
    assert out.startswith("digraph model {") and out.rstrip().endswith("}")
    assert '"relu" -> "add" [label="float32 2x3"];' in out
    assert '"the \\"soft\\" <one>"' in out


def test_the_picture_has_a_box_for_each_operator_and_a_line_for_each_tensor(models, tmp_path):
    path = tmp_path / "net.svg"
    assert graph(models["om"], "--svg", "-o", str(path)).returncode == 0
    root = ElementTree.parse(path).getroot()
    space = "{http://www.w3.org/2000/svg}"
    assert len(root.findall(f"{space}g")) == 5  # input, three operators, output
    assert len(root.findall(f"{space}path")) == 5
    rows = [float(box.find(f"{space}rect").get("y")) for box in root.findall(f"{space}g")]
    assert len(set(rows)) == 5, "each stands below its inputs"


def test_the_page_holds_picture_and_text_and_escapes_names(models):
    out = graph(models["om"], "--html").stdout
    assert out.startswith("<!doctype html>") and "<canvas" in out
    assert "&lt;one&gt;" in out and "<one>" not in out


def test_json_is_what_atc_writes(models):
    root = json.loads(graph(models["om"], "--json").stdout)
    assert [op["type"] for op in root["graph"][0]["op"]] == [
        "Data", "Relu", "Softmax", "Add", "NetOutput"]


def test_what_is_no_model_is_named(tmp_path):
    done = graph("missing.om")
    assert done.returncode == 2 and "no file 'missing.om'" in done.stderr
    (tmp_path / "bad.om").write_bytes(b"nonsense")
    done = graph(str(tmp_path / "bad.om"))
    assert done.returncode == 1 and "does not start as an offline model" in done.stderr
