# SPDX-License-Identifier: Apache-2.0
"""Files that are no frozen GraphDef: a sentence with the command that helps, exit 1, no .om."""
import os
import re
import subprocess

import graph_def_file as gd
import numpy as np
import pytest


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(path, *sentences, content=None, framework=3, more=()):
    if content is not None:
        with open(path, "wb") as file:
            file.write(content)
    done = subprocess.run(["atc", f"--model={path}", f"--framework={framework}", "--output=net",
                           "--soc_version=Ascend310P3", *more],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    for sentence in sentences:
        assert re.search(sentence, done.stderr, re.S), done.stderr
    assert not os.path.exists("net.om")


X = gd.placeholder("x", [2])


def test_a_saved_model_is_refused_with_the_command_that_freezes_it():
    os.mkdir("saved")
    with open("saved/saved_model.pb", "wb") as file:
        file.write(b"\x08\x01\x12\x02\x0a\x00")
    refused("saved", r"SavedModel", r'tf\.saved_model\.load\("saved"\)')
    refused("saved/saved_model.pb", r'tf\.saved_model\.load\("saved"\)')
    refused("other.pb", "SavedModel", content=b"\x08\x01\x12\x02\x0a\x00")


@pytest.mark.parametrize("name, content, sentence", [
    ("m.h5", b"\x89HDF\r\n\x1a\n", r'load_model\("m\.h5"\)'),
    ("m.keras", b"PK\x03\x04", r'load_model\("m\.keras"\)'),
    ("m.tflite", b"\x1c\0\0\0TFL3", "tf2onnx.convert --tflite m.tflite"),
    ("m.weights.h5", b"\x89HDF\r\n\x1a\n", r'weights of Keras.*load_weights\("m\.weights\.h5"\)'),
    ("m.pb", b"\x89HDF\r\n\x1a\n", r'cp "m\.pb" "m\.pb\.h5" && .*load_model\("m\.pb\.h5"\)'),
    ("m.pb", b"PK\x03\x04" + bytes(30), r'load_model\("m\.pb\.keras"\)'),
    ("m.pb", b"\x1c\0\0\0TFL3" + bytes(30), "tf2onnx.convert --tflite m.pb"),
    ("m.ckpt-3.meta", b"x", r'restore\(s, "m\.ckpt-3"\)'),
    ("m.ckpt-3.index", b"x", r'TensorFlow 2.*restore\("m\.ckpt-3"\)'),
    ("m.pbtxt", b'node {\n  name: "x"\n  op: "Placeholder"\n}\n',
     r'text_format\.Parse\(open\("m\.pbtxt"\)'),
])
def test_other_files_are_refused_by_their_name_and_content(name, content, sentence):
    refused(name, sentence, content=content)


def test_the_latest_checkpoint_of_a_folder_is_named():
    os.mkdir("run")
    for name in ("m.ckpt-7.meta", "m.ckpt-7.index"):
        with open("run/" + name, "wb") as file:
            file.write(b"x")
    text = b'model_checkpoint_path: "m.ckpt-7"\nall_model_checkpoint_paths: "m.ckpt-6"\n'
    refused("run/checkpoint", r'import_meta_graph\("run/m\.ckpt-7\.meta"\)', content=text)
    refused("run", r'import_meta_graph\("run/m\.ckpt-7\.meta"\)')
    refused("run/m.ckpt-7.index", r'restore\(s, "run/m\.ckpt-7"\)')
    refused("run/m.ckpt-7", r'restore\(s, "run/m\.ckpt-7"\)')  # as TensorFlow calls it


def onnx_file():
    from onnx import helper
    info = helper.make_tensor_value_info("x", 1, [1])
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [info],
                              [helper.make_tensor_value_info("y", 1, [1])])
    return helper.make_model(graph).SerializeToString()


def air_file():
    import ge_files
    graph = ge_files.Graph()
    graph.output(graph.op("Relu", "relu", [graph.data("x", np.float32, (2,))]))
    return ge_files.model_def(graph)


FROZEN = gd.graph([X, gd.node("y", "Relu", ["x"])])
PROTOTXT = b'name: "net"\nlayer { name: "data" type: "Input" top: "data" }\n'
KINDS = {  # file: its content, the right --framework (none: a model that is converted already)
    "m.prototxt": (lambda: PROTOTXT, 0),
    "m.caffemodel": (lambda: gd.data(1, "net") + gd.data(100, gd.data(1, "conv")), 0),
    "m.mindir": (lambda: b"\x0a\x031.1\x12\x09MindSpore", 1),
    "m.air": (air_file, 1),
    "m.pb": (lambda: FROZEN, 3),
    "m.onnx": (onnx_file, 5),
    "vendor.om": (lambda: b"IMOD" + bytes(400), None),
    "net2.om": (lambda: b"ANYNPUOM" + bytes(400), None),
}


@pytest.mark.parametrize("framework", [0, 1, 3, 5])
@pytest.mark.parametrize("name", KINDS)
def test_the_wrong_framework_is_named(name, framework):
    content, right = KINDS[name]
    if right == framework and name != "m.caffemodel":
        return
    sentence = "an offline model already" if right is None else f"use --framework={right}"
    more = []
    if framework == 0:
        with open("net.caffemodel", "wb") as file:
            file.write(KINDS["m.caffemodel"][0]())
        more = ["--weight=net.caffemodel"]
    refused(name, sentence, content=content(), framework=framework, more=more)


def test_the_wrong_weights_are_named():
    with open("w.onnx", "wb") as file:
        file.write(onnx_file())
    refused("m.prototxt", "--weight 'w.onnx' begins as an ONNX model does.*expected a .caffemodel",
            content=PROTOTXT, framework=0, more=["--weight=w.onnx"])


def test_an_input_format_that_is_none_is_named():
    refused("m.pb", "is 'NHCW'; for ONNX, TensorFlow and MindSpore expected NCHW, NHWC",
            content=FROZEN, more=["--input_format=NHCW"])


def test_variables_are_refused_with_the_way_to_freeze():
    nodes = [gd.node("v", "VarHandleOp"), gd.node("r", "ReadVariableOp", ["v"]),
             gd.node("y", "Relu", ["r"])]
    refused("m.pb", "not frozen, it has 2 variables", "convert_variables_to_constants_v2",
            content=gd.graph(nodes))


def test_all_unknown_operators_are_named_at_once():
    nodes = [X, gd.node("a", "Sofmax", ["x"]), gd.node("b", "NobodyKnows", ["a"])]
    refused("m.pb", "2 operators", "Sofmax 'a', nearest known name: Softmax", "NobodyKnows 'b'",
            content=gd.graph(nodes))


def test_missing_shapes_give_the_option_to_type():
    w = np.zeros((1, 1, 3, 4), np.float32)
    nodes = [gd.placeholder("x", [-1, 8, 8, 3]), gd.const("w", w),
             gd.node("y", "Conv2D", ["x", "w"], padding="SAME", strides=[1, 1, 1, 1])]
    refused("m.pb", r'--input_shape="x:1,8,8,3"', content=gd.graph(nodes))
    nodes[0] = gd.placeholder("x", None)
    refused("m.pb", r'--input_shape="x:', content=gd.graph(nodes))


def test_damage_is_refused():
    whole = gd.graph([X, gd.node("y", "Relu", ["x"])])
    for cut in (1, 5, len(whole) // 2, len(whole) - 1):
        refused("m.pb", "while reading the TensorFlow model 'm.pb'", content=whole[:cut])
    refused("m.pb", "is empty", content=b"")
    refused("m.pb", "while reading the TensorFlow model 'm.pb'", content=b"\xff" * 100)
    refused("m.pb", "depends on itself",
            content=gd.graph([gd.node("a", "Relu", ["b"]), gd.node("b", "Relu", ["a"]),
                              gd.node("y", "Relu", ["a"])]))


def test_constants_larger_than_their_file_are_refused():
    huge = gd.number(1, 1) + gd.data(2, gd.shape([1 << 20, 1 << 20]))  # no elements: all zeros
    node = (gd.data(1, "w") + gd.data(2, "Const")
            + gd.data(5, gd.data(1, "dtype") + gd.data(2, gd.number(6, 1)))
            + gd.data(5, gd.data(1, "value") + gd.data(2, gd.data(8, huge))))
    refused("m.pb", "node 'w'", content=gd.graph([X, node, gd.node("y", "Add", ["x", "w"])]))


def test_missing_shapes_of_several_inputs_are_all_given():
    nodes = [gd.placeholder("a", [-1, 3]), gd.placeholder("b", [-1, 4]),
             gd.const("last", np.int32(1)),
             gd.node("y", "ConcatV2", ["a", "b", "last"])]
    refused("m.pb", r'--input_shape="a:1,3;b:1,4"', content=gd.graph(nodes))


def test_an_output_that_is_not_there_is_named():
    nodes = [X, gd.node("relu", "Relu", ["x"])]
    refused("m.pb", "no node 'rellu'.*did you mean 'relu'", content=gd.graph(nodes),
            more=["--out_nodes=rellu:0"])
    refused("m.pb", "relu:3", content=gd.graph(nodes), more=["--out_nodes=relu:3"])
