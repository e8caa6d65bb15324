# SPDX-License-Identifier: Apache-2.0
"""MindSpore's models through atc and acl.mdl: files that MindSpore 2.10 exported, against what its
CPU computed (tests/data/mindspore), and files that must be refused, with their sentences."""
import json
import os
import subprocess

import ge_files
import numpy as np
import pytest
from mindspore_files import check_outputs, convert, read_archive
from om_runner import run_om

pytestmark = pytest.mark.usefixtures("runtime")

NETS = read_archive("nets.tar.xz")
PRIMITIVES = read_archive("primitives.tar.xz")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(content, name="net.mindir"):
    with open(name, "wb") as file:
        file.write(content)
    return name


def check_failed(done, *sentences):
    assert done.returncode == 1
    for sentence in sentences:
        assert sentence in done.stderr, done.stderr
    assert not os.path.exists("net.om")


@pytest.mark.parametrize("name", list(NETS))
def test_networks_equal_mindspore(name):
    model, inputs, outputs = NETS[name]
    done = convert(write(model))
    assert done.returncode == 0, done.stderr
    check_outputs(run_om("net.om", inputs), outputs)


@pytest.mark.parametrize("name", list(PRIMITIVES))
def test_primitives_equal_mindspore(name):
    model, inputs, outputs = PRIMITIVES[name]
    done = convert(write(model))
    assert done.returncode == 0, done.stderr
    check_outputs(run_om("net.om", inputs), outputs)


def test_input_shape_changes_the_batch():
    model, inputs, _ = NETS["resnet_small"]
    done = convert(write(model), "--input_shape=x:3,3,32,32")
    assert done.returncode == 0, done.stderr
    one, = run_om("net.om", [np.concatenate(inputs * 3)]).values()
    assert one.shape == (3, 10)
    np.testing.assert_allclose(one[0], one[2], rtol=1e-5)


def test_gears_of_the_batch():
    model, _, _ = NETS["lenet"]
    done = convert(write(model), "--input_shape=x:-1,1,32,32", "--dynamic_batch_size=1,4")
    assert done.returncode == 0, done.stderr


def test_graph_shows_nodes_by_their_scope():
    write(NETS["lenet"][0])
    done = subprocess.run(["anynpu", "graph", "net.mindir"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert 'Conv "Default/conv1-Conv2d/Conv2D-op0"' in done.stdout


def test_report_lists_every_primitive():
    write(NETS["lenet"][0])
    done = subprocess.run(["atc", "--mode=3", "--framework=1", "--model=net.mindir"],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with open("check_result.json") as file:
        report = json.load(file)
    assert {"op_name": "Default/conv1-Conv2d/Conv2D-op0", "op_type": "Conv2D",
            "result": "success"} in report["op"]


def test_unknown_primitives_are_all_named():
    model = PRIMITIVES["ops_relu"][0]
    done = convert(write(model.replace(b"ReLU", b"ReLX")))
    check_failed(done, "1 operators of the model are not supported", "ReLX 'Default/",
                 "the nearest primitive that is known is ReLU")


@pytest.mark.parametrize("size", [0, 1, 100, 1000, 20000])
def test_a_file_that_is_cut_short(size):
    done = convert(write(NETS["lenet"][0][:size]))
    assert done.returncode == 1
    assert "net.mindir" in done.stderr
    assert not os.path.exists("net.om")


@pytest.mark.parametrize("content,sentence", [
    (b"\x89HDF\r\n\x1a\n" + bytes(100), "is HDF5"),
    (b"PK\x03\x04" + bytes(100), "is a zip archive"),
    (b"IMOD" + bytes(400), "is an offline model already"),
    (b'name: "net"\nlayer { }\n', "is text"),
    (b"\x08\x08" + b"\x3a\x00", "begins as an ONNX model does"),
    (bytes(500), "expected what mindspore.export"),
])
def test_other_files_are_refused_with_what_they_are(content, sentence):
    check_failed(convert(write(content)), sentence)


def test_a_mindspore_file_as_onnx():
    write(NETS["lenet"][0])
    done = subprocess.run(["atc", "--framework=5", "--model=net.mindir", "--output=net",
                           "--soc_version=Ascend310P3"], capture_output=True, text=True)
    check_failed(done, "--framework")


# .air: a graph of the vendor's operators.

def picture_net():
    random = np.random.RandomState(0)
    x = random.randn(1, 3, 8, 8).astype(np.float32)
    w = random.randn(4, 3, 3, 3).astype(np.float32)
    b = random.randn(4).astype(np.float32)
    graph = ge_files.Graph()
    source = graph.data("x", np.float32, x.shape, "NCHW")
    filters = graph.const("w", w, "NCHW")
    bias = graph.const("b", b)
    nchw = [ge_files.desc(np.float32, s, "NCHW") for s in (x.shape, w.shape)]
    conv = graph.op("Conv2D", "conv", [source, filters, bias],
                    {"strides": [1, 1, 2, 2], "pads": [1, 1, 1, 1], "dilations": [1, 1, 1, 1],
                     "groups": 1, "data_format": "NCHW"},
                    ins=[*nchw, ge_files.desc(np.float32, b.shape)],
                    outs=[ge_files.desc(np.float32, (1, 4, 4, 4), "NCHW")])
    relu = graph.op("Relu", "relu", [conv], outs=[ge_files.desc(np.float32, (1, 4, 4, 4), "NCHW")])
    axes = graph.const("axes", np.array([2, 3], np.int32))
    mean = graph.op("ReduceMean", "mean", [relu, axes], {"keep_dims": False},
                    outs=[ge_files.desc(np.float32, (1, 4))])
    graph.output(mean)
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    y = np.zeros((1, 4, 4, 4))
    for i in range(4):
        for j in range(4):
            window = padded[:, :, 2 * i:2 * i + 3, 2 * j:2 * j + 3]
            y[:, :, i, j] = np.einsum("nchw,ochw->no", window, w) + b
    return graph, x, np.maximum(y, 0).mean((2, 3))


def test_air_files_run():
    graph, x, wanted = picture_net()
    done = convert(write(ge_files.model_def(graph), "net.air"))
    assert done.returncode == 0, done.stderr
    got, = run_om("net.om", [x]).values()
    np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)


def test_air_with_attributes_of_every_kind_and_control_edges():
    graph = ge_files.Graph()
    x = graph.data("x", np.float32, (2, 6))
    graph.op("NoOp", "later", [x])
    parts = [ge_files.desc(np.float32, (2, 3))] * 2
    graph.op("SplitD", "split", [x, "later:-1"], {"split_dim": 1, "num_split": 2, "_note": b"\1",
                                                  "_floats": [1.5], "_flags": [True],
                                                  "_lists": [[1], [2, 3]]}, outs=parts)
    cast = graph.op("Cast", "cast", ["split:1"], {"dst_type": 1},
                    outs=[ge_files.desc(np.float16, (2, 3))])
    graph.output(cast, "split:0")
    done = convert(write(ge_files.model_def(graph), "net.air"))
    assert done.returncode == 0, done.stderr
    data = np.arange(12, dtype=np.float32).reshape(2, 6)
    first, second = run_om("net.om", [data]).values()
    np.testing.assert_array_equal(first, data[:, 3:].astype(np.float16))
    np.testing.assert_array_equal(second, data[:, :3])


def test_unknown_operators_of_air_are_all_named():
    graph = ge_files.Graph()
    x = graph.data("x", np.float32, (2,))
    a = graph.op("Reluu", "first", [x])
    graph.output(graph.op("Strange", "second", [a]))
    check_failed(convert(write(ge_files.model_def(graph), "net.air")),
                 "2 operators of the model", "Strange 'second'",
                 "Reluu 'first' (the nearest name that is known is Relu)")


def test_an_input_of_air_without_a_shape_gets_the_option_to_type():
    graph = ge_files.Graph()
    graph.output(graph.op("Relu", "relu", [graph.data("x", np.float32, (-2,))]))
    write(ge_files.model_def(graph), "net.air")
    check_failed(convert("net.air"), '--input_shape="x:1,3,224,224"')
    done = convert("net.air", "--input_shape=x:2,3")
    assert done.returncode == 0, done.stderr
    x = np.float32([[1, -1, 2], [-2, 0, 3]])
    got, = run_om("net.om", [x]).values()
    np.testing.assert_array_equal(got, np.maximum(x, 0))


def test_a_cycle_in_air():
    graph = ge_files.Graph()
    graph.op("Relu", "a", ["b:0"])
    graph.op("Relu", "b", ["a:0"])
    graph.output("a:0")
    check_failed(convert(write(ge_files.model_def(graph), "net.air")), "a cycle that is no loop")
