# SPDX-License-Identifier: Apache-2.0
"""acl.op.gen_graph_and_dump_for_op: the graph of one operator as a file that atc --mode=5 reads."""
import json
import os
import subprocess

import numpy as np
import pytest
from model_datasets import atc
from single_op import Tensor, make_attr

import acl

INVALID_PARAM, OP_NOT_FOUND, WRITE_FILE, SHAPE_INVALID = 100000, 100024, 100004, 145021
SYS = 0
A, B = np.ones((2, 3), np.float32), np.ones((3,), np.float32)

pytestmark = pytest.mark.usefixtures("device_0")


class Call:
    """A good call; tests spoil an argument of it."""

    def __init__(self, kind, inputs, outputs, attrs=None):
        self.inputs, self.outputs = [Tensor(x) for x in inputs], [Tensor(x) for x in outputs]
        self.attr = make_attr(attrs or {})
        self.values = dict(
            op_type=kind, input_desc=[t.desc for t in self.inputs],
            inputs=[t.buffer for t in self.inputs], output_desc=[t.desc for t in self.outputs],
            outputs=[t.buffer for t in self.outputs], attr=self.attr, engine_type=SYS)

    def dump(self, path, option=0, **changes):
        return acl.op.gen_graph_and_dump_for_op(*{**self.values, **changes}.values(), str(path),
                                                option)

    def free(self):
        for tensor in self.inputs + self.outputs:
            tensor.free()
        acl.op.destroy_attr(self.attr)


@pytest.fixture
def add(device_0):
    call = Call("Add", [A, B], [A])
    yield call
    call.free()


def read(path, folder):
    out = folder / "graph.json"
    done = atc("--mode=5", f"--om={path}", f"--json={out}")
    assert done.returncode == 0, done.stderr
    graph, = json.loads(out.read_text())["graph"]
    return {op["type"]: op for op in graph["op"]}


def test_the_graph_of_an_operator_is_read_back_by_atc(add, tmp_path):
    path = tmp_path / "add.txt"
    assert add.dump(path) == 0, acl.get_recent_err_msg()
    ops = read(path, tmp_path)
    assert set(ops) == {"Data", "Add", "NetOutput"}
    assert [desc["shape"]["dim"] for desc in ops["Add"]["input_desc"]] == [[2, 3], [3]]
    assert ops["Add"]["output_desc"][0]["dtype"] == "DT_FLOAT"
    done = subprocess.run(["anynpu", "graph", path], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and " = Add " in done.stdout, done.stderr


def test_attributes_are_in_the_graph(tmp_path):
    call = Call("SoftmaxV2", [A], [A], {"axes": [1]})
    assert call.dump(tmp_path / "softmax.txt") == 0, acl.get_recent_err_msg()
    softmax = read(tmp_path / "softmax.txt", tmp_path)["Softmax"]
    assert {"key": "axis", "value": {"i": 1}} in softmax["attr"]
    call.free()


def test_a_folder_gets_one_file_for_each_operator(add, tmp_path):
    other = Call("Add", [B, B], [B])
    for call in (add, other, add):
        assert call.dump(tmp_path) == 0
    names = os.listdir(tmp_path)
    assert len(names) == 2 and all(name.startswith("ge_proto_Add_") for name in names)
    other.free()


def test_an_option_is_made_used_and_destroyed_once(add, tmp_path):
    option = acl.op.create_graph_dump_opt()
    assert option != 0
    assert add.dump(tmp_path / "a.txt", option) == 0
    assert acl.op.destroy_graph_dump_opt(option) == 0
    assert acl.op.destroy_graph_dump_opt(option) == INVALID_PARAM
    assert add.dump(tmp_path / "b.txt", option) == INVALID_PARAM
    assert "graph dump option" in acl.get_recent_err_msg()
    assert os.listdir(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("changes, path, code, sentence", [
    ({"op_type": "Nonsense"}, "x", OP_NOT_FOUND, "Nonsense"),
    ({"op_type": ""}, "x", INVALID_PARAM, "opType is empty"),
    ({"op_type": "MatMulV2"}, "x", SHAPE_INVALID, "MatMul"),
    ({"engine_type": 3}, "x", INVALID_PARAM, "engineType is 3"),
    ({"inputs": [0, 0]}, "x", INVALID_PARAM, "item 0 of inputs"),
    ({"input_desc": [0, 0]}, "x", INVALID_PARAM, "item 0 of inputDesc"),
    ({}, "", INVALID_PARAM, "graphDumpPath is empty"),
    ({}, "no/such/folder/x", WRITE_FILE, "no/such/folder"),
])
def test_a_bad_call_says_why_and_writes_nothing(add, tmp_path, changes, path, code, sentence):
    assert add.dump(tmp_path / path if path else "", **changes) == code
    assert sentence in acl.get_recent_err_msg()
    assert os.listdir(tmp_path) == []
