# SPDX-License-Identifier: Apache-2.0
"""Dumps that a program takes itself, the record of executed operators, and what kernels print."""
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from build_tree import SUPPORT
from hpe_programs import compile_kernels
from single_op import Tensor, check, make_attr, run
from test_dump import files_in, make_model, read_dump

import acl


@pytest.fixture
def dump_to(tmp_path, device_0):
    """Turns on the dump of a section for the test."""
    def start(**section):
        (tmp_path / "dump.json").write_text(json.dumps(
            {"dump": {"dump_path": str(tmp_path / "out"), **section}}))
        check(acl.mdl.init_dump())
        check(acl.mdl.set_dump(str(tmp_path / "dump.json")))
        return tmp_path / "out"
    yield start
    acl.mdl.dump_unreg_callback()
    acl.mdl.finalize_dump()


class Chunks:
    """Puts chunks together as a program on the card does: by file name and offset."""

    def __init__(self, answer=0):
        self.files, self.ended, self.seen, self.answer = {}, [], [], answer

    def __call__(self, chunk, length):
        name = chunk["fileName"]
        data = self.files.setdefault(name, bytearray())
        assert chunk["offset"] == len(data) and chunk["bufLen"] == len(chunk["dataBuf"])
        assert length > chunk["bufLen"]
        data += chunk["dataBuf"]
        self.seen.append(chunk)
        if chunk["isLastChunk"]:
            self.ended.append(name)
        return self.answer


def execute_net(folder):
    make_model(folder)
    model, ret = acl.mdl.load_from_file(str(folder / "net.om"))
    check(ret)
    sets = []
    for size in (3 * 64 * 4, 20 * 64 * 4):
        address, _ = acl.rt.malloc(size, 2)
        check(acl.rt.memset(address, size, 0, size))
        sets.append(acl.mdl.create_dataset())
        acl.mdl.add_dataset_buffer(sets[-1], acl.create_data_buffer(address, size))
    try:
        return acl.mdl.execute(model, *sets)
    finally:
        acl.mdl.unload(model)


def test_a_callback_takes_the_bytes_that_files_would_have(tmp_path, dump_to):
    out = dump_to(dump_list=[{"model_name": "net"}])
    chunks = Chunks()
    check(acl.mdl.dump_reg_callback(chunks, 5))
    assert execute_net(tmp_path) == 0
    assert not out.exists()
    assert len(chunks.files) == 3 and sorted(chunks.files) == sorted(chunks.ended)
    assert {c["flag"] for c in chunks.seen} == {5}
    for name, data in chunks.files.items():
        assert re.fullmatch(rf"{out}/\d{{14}}/0/net/\d+/0/\w+\.\w+\.\d+\.\d+\.\d+", name)
        (tmp_path / "one").write_bytes(data)
        dump = read_dump(tmp_path / "one")
        assert dump["outputs"][0].shape == (1, 20, 8, 8)
    acl.mdl.dump_unreg_callback()
    assert execute_net(tmp_path) == 0
    assert len(chunks.files) == 3 and len(files_in(out)) == 3


def test_large_tensors_come_in_several_chunks_in_order(tmp_path, dump_to):
    dump_to(dump_op_switch="on", dump_list=[{}], dump_mode="all")
    chunks = Chunks()
    check(acl.mdl.dump_reg_callback(chunks, 0))
    x = np.random.default_rng(1).random(700_000).astype(np.float32)
    run("Neg", [x], [x])
    ((name, data),) = chunks.files.items()
    assert [c["isLastChunk"] for c in chunks.seen] == [0] * (len(chunks.seen) - 1) + [1]
    assert len(chunks.seen) > 3 and "/Neg.Neg." in name
    (tmp_path / "one").write_bytes(data)
    dump = read_dump(tmp_path / "one")
    np.testing.assert_array_equal(dump["inputs"][0], x)
    np.testing.assert_array_equal(dump["outputs"][0], -x)


def test_a_callback_that_refuses_fails_the_run_and_says_so(tmp_path, dump_to):
    dump_to(dump_list=[{"model_name": "net"}])
    check(acl.mdl.dump_reg_callback(Chunks(answer=3), 0))
    assert execute_net(tmp_path) != 0
    assert "returned 3" in acl.get_recent_err_msg()


def test_without_a_function_nothing_is_registered(device_0):
    assert acl.mdl.dump_reg_callback(None, 0) == 100000
    assert "messageCallback" in acl.get_recent_err_msg()
    assert acl.mdl.dump_unreg_callback() is None


def test_executed_operators_are_recorded_as_atc_reads_them(tmp_path, device_0):
    path = tmp_path / "args"
    check(acl.op.start_dump_args(1, str(path)))
    assert acl.op.start_dump_args(1, str(path)) == 100000
    x, y = np.arange(6, dtype=np.float32).reshape(2, 3), np.ones((2, 3), np.float32)
    for _ in range(3):  # one file however often it runs
        run("Add", [x, y], [x])
    run("ArgMaxD", [x], [np.zeros(2, np.int32)], {"dimension": 1})
    check(acl.op.stop_dump_args(1))
    run("Mul", [x, y], [x])
    assert sorted(os.listdir(path)) == ["0_Add_0_2_2_3_0_2_2_3_0_2_2_3.json",
                                        "1_ArgMaxD_0_2_2_3_3_2_2.json"]
    (op,) = json.loads((path / "1_ArgMaxD_0_2_2_3_3_2_2.json").read_text())
    assert op["op"] == "ArgMaxD"
    assert op["attr"] == [{"name": "dimension", "type": "int", "value": 1}]
    assert [(d["type"], d["format"], d["shape"]) for d in op["input_desc"] + op["output_desc"]] \
        == [("float", "ND", [2, 3]), ("int32", "ND", [2])]
    for name in os.listdir(path):
        done = subprocess.run(["atc", f"--singleop={path / name}", "--output=models",
                               "--soc_version=Ascend310P3"], cwd=tmp_path, capture_output=True,
                              text=True, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
    assert len(os.listdir(tmp_path / "models")) == 2


ATTRIBUTES = {
    "bool": True, "int": -(2**40), "float": 0.5, "string": "caf\u00e9", "data_type": 1,
    "list_bool": [1, 0, 1], "list_int": [2**40, -1], "list_float": [0.5, -2.0],
    "list_string": ["a", "", "b c"], "list_data_type": [0, 1, 27],
    "list_list_int": [[1], [], [2, 3]],
}  # fmt: skip


@pytest.mark.parametrize("with_count", [False, True])
def test_attributes_arrive_as_they_were_set_in_every_form(tmp_path, device_0, with_count):
    """Lists with and without their length; an attribute that is set again has the last value."""
    attr = acl.op.create_attr()
    for kind, value in ATTRIBUTES.items():
        set_one = getattr(acl.op, f"set_attr_{kind}")
        arguments = [len(value), value] if with_count and isinstance(value, list) else [value]
        if kind == "int":
            check(set_one(attr, kind, 7))
        check(set_one(attr, kind, *arguments))
    x = Tensor(np.ones(4, np.float32))
    check(acl.op.start_dump_args(1, str(tmp_path)))
    check(acl.op.compile_and_execute("Neg", [x.desc], [x.buffer], [x.desc], [x.buffer], attr, 0, 0,
                                     "", 0))
    check(acl.rt.synchronize_stream(0))
    check(acl.op.stop_dump_args(1))
    name, = os.listdir(tmp_path)
    (op,) = json.loads((tmp_path / name).read_text())
    assert {a["name"]: a["type"] for a in op["attr"]} == {kind: kind for kind in ATTRIBUTES}
    assert {a["name"]: a["value"] for a in op["attr"]} == ATTRIBUTES


def test_operators_run_by_handle_are_recorded_with_the_extents_of_the_run(tmp_path, device_0):
    x = Tensor(np.ones((4, 5), np.float32))
    attr = make_attr({})
    check(acl.op.compile("Neg", [x.desc], [x.desc], attr, 0, 0, ""))
    handle, ret = acl.op.create_handle("Neg", [x.desc], [x.desc], attr)
    check(ret)
    check(acl.op.start_dump_args(1, str(tmp_path)))
    check(acl.op.execute_with_handle(handle, [x.buffer], [x.buffer], 0))
    check(acl.op.stop_dump_args(1))
    assert os.listdir(tmp_path) == ["0_Neg_0_2_4_5_0_2_4_5.json"]


@pytest.mark.parametrize("call, words", [
    (lambda: acl.op.start_dump_args(2, "x"), "dumpType is 2; expected 1"),
    (lambda: acl.op.start_dump_args(1, ""), "path is ''"),
    (lambda: acl.op.stop_dump_args(0), "dumpType is 0"),
    (lambda: acl.op.stop_dump_args(1), "without aclopStartDumpArgs")])
def test_records_that_cannot_start_or_stop(device_0, call, words):
    assert call() == 100000
    assert words in acl.get_recent_err_msg()


KERNELS = """
#include <npurt.h>
extern "C" {
__global__ void tell(int* out) { if (CoreID == 0) printf("block %d of %d\\n", CoreID, CoreNum); }
__global__ void stop(int* out) { assert(out[0] == 7); }
}
"""

LAUNCH = f"""
    import sys
    sys.path.insert(0, {SUPPORT!r})
    import acl, numpy as np
    from single_op import Tensor, check
    check(acl.init("acl.json"))
    check(acl.rt.set_device(1))
    out = Tensor(np.zeros(8, np.int32))
    binary, ret = acl.rt.binary_load_from_file(sys.argv[1], None)
    for name in ("tell", "stop"):
        func, ret = acl.rt.binary_get_function(binary, name)
        check(ret)
        piece = out.address.to_bytes(8, "little")
        check(acl.rt.launch_kernel(func, 2, acl.util.bytes_to_ptr(piece), 8, 0))
        print(acl.rt.synchronize_stream(0))
"""


@pytest.mark.skipif(shutil.which("clang-19") is None, reason="clang-19 is not installed")
@pytest.mark.parametrize("words, env, files", [
    ("all", None, {"tell", "stop"}), ("printf", None, {"tell"}), ("assert", None, {"stop"}),
    ("tensor,timestamp", None, set()), ("printf", "ASCEND_DUMP_PATH", {"tell"}),
    ("printf", "ASCEND_WORK_PATH", {"tell"})])
def test_what_kernels_print_is_kept(tmp_path, words, env, files):
    kernels = compile_kernels(KERNELS, str(tmp_path), "k", "-O2")
    (tmp_path / "acl.json").write_text(json.dumps(
        {"dump": {"dump_path": "out", "dump_kernel_data": words}}))
    (tmp_path / "app.py").write_text(textwrap.dedent(LAUNCH))
    environ = {k: v for k, v in os.environ.items() if not k.startswith("ASCEND_")}
    if env:
        environ[env] = str(tmp_path / "elsewhere")
    done = subprocess.run([sys.executable, "app.py", kernels], cwd=tmp_path, capture_output=True,
                          text=True, timeout=300, env=environ)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["block", "0", "of", "2", "0", "507015"]
    found = {name: path for name, path in files_in(tmp_path / (
        "elsewhere" if env else "out")).items() if name.endswith(".txt")}
    assert {re.fullmatch(r"\d{14}/1/Kernel\.(\w+)\.\d+\.\d+\.\d+\.txt", name)[1]
            for name in found} == files
    for name, path in found.items():
        text = open(path).read()
        assert ("block 0 of 2" if ".tell." in name else "out[0] == 7") in text


def test_columns_of_statistics_are_chosen(tmp_path, dump_to):
    out = dump_to(dump_list=[{"model_name": "net", "layer": ["scaled"]}], dump_data="stats",
                  dump_stats=["Max", "Nan"])
    assert execute_net(tmp_path) == 0
    (path,) = files_in(out).values()
    head, line = open(path).read().splitlines()
    assert head == "Input/Output,Index,Data Type,Shape,Count,Max Value,Nan Count"
    assert line == "Output,0,float32,1x20x8x8,1280,0.5,0"
