# SPDX-License-Identifier: Apache-2.0
"""Watchers, models whose shapes each run tells, overflow bits, and damaged dump files."""
import numpy as np
import pytest
from net_models import files_in, make_model, run_model
from onnx import TensorProto, helper

from anynpu import dump_file

F32, I32, F16, U8 = TensorProto.FLOAT, TensorProto.INT32, TensorProto.FLOAT16, TensorProto.UINT8


def test_a_watcher_writes_the_layers_again_after_each_of_its_nodes(tmp_path):
    x = np.array([-1, 2, 3], np.float32)
    make_model(tmp_path, [helper.make_node("Relu", ["x"], ["a"], name="one"),
                          helper.make_node("Exp", ["a"], ["b"], name="two"),
                          helper.make_node("Neg", ["b"], ["c"], name="three"),
                          helper.make_node("Add", ["c", "a"], ["y"], name="four")],
               [("x", F32, [3])], [("y", F32, [3])], arrays=[x])
    run_model(tmp_path, {"dump": {"dump_scene": "watcher", "dump_path": "out", "dump_list": [
        {"layer": ["one"], "watcher_nodes": ["two", "three"]}]}})
    found = files_in(tmp_path / "out")
    names = {name.split("/")[-1].split(".")[1]: path for name, path in found.items()}
    assert set(names) == {"one", "one_To_two", "one_To_three"}
    for path in names.values():  # nobody has written over it: `four` still needs it
        np.testing.assert_array_equal(dump_file.read(path).outputs[0].array(), np.maximum(x, 0))


def test_layers_of_a_model_whose_shapes_each_run_tells_are_dumped(tmp_path):
    x = np.array([0, 3, 0, 4], np.float32)
    make_model(tmp_path, [helper.make_node("Abs", ["x"], ["a"], name="before"),
                          helper.make_node("NonZero", ["a"], ["i"], name="found"),
                          helper.make_node("Cast", ["i"], ["y"], name="cast", to=I32)],
               [("x", F32, [4])], [("y", I32, [1, "n"])], arrays=[x])
    run_model(tmp_path, {"dump": {"dump_path": "out", "dump_mode": "all", "dump_list": []}},
              "assert execute() == 0 and execute() == 0")
    found = files_in(tmp_path / "out")
    assert {n.split("/")[-2] for n in found} == {"0", "1"}
    first = {n.split("/")[-1].split(".")[1]: dump_file.read(p) for n, p in found.items()
             if n.split("/")[-2] == "0"}
    assert set(first) == {"before", "found", "cast"}
    assert first["found"].outputs[0].array().tolist() == [[1, 3]]
    assert first["cast"].outputs[0].array().tolist() == [[1, 3]]
    np.testing.assert_array_equal(first["found"].inputs[0].array(), x)


LOWEST = np.iinfo(np.int32).min


@pytest.mark.parametrize("node, inputs, out, arrays, status", [
    (helper.make_node("Neg", ["x"], ["y"]), [("x", I32, [2])], I32,
     [np.array([1, LOWEST], np.int32)], 0x8),
    (helper.make_node("Add", ["x", "z"], ["y"]), [("x", I32, [2]), ("z", I32, [2])], I32,
     [np.array([1, 2**31 - 1], np.int32)] * 2, 0x10),
    (helper.make_node("Mul", ["x", "z"], ["y"]), [("x", I32, [2]), ("z", I32, [2])], I32,
     [np.array([1, 1 << 20], np.int32)] * 2, 0x10),
    (helper.make_node("Exp", ["x"], ["y"]), [("x", F32, [2])], F32,
     [np.array([1, 100], np.float32)], 0x20),
    (helper.make_node("Cast", ["x"], ["y"], to=U8), [("x", F32, [2])], U8,
     [np.array([1, -3], np.float32)], 0x80),
    (helper.make_node("Cast", ["x"], ["y"], to=F16), [("x", F32, [2])], F16,
     [np.array([1, 1e6], np.float32)], 0x100),
    (helper.make_node("Cast", ["x"], ["y"], to=F16), [("x", I32, [2])], F16,
     [np.array([1, 10**6], np.int32)], 0x100),
    (helper.make_node("MatMul", ["x", "z"], ["y"]), [("x", F32, [1, 2]), ("z", F32, [2, 1])], F32,
     [np.full(2, 3e38, np.float32)] * 2, 0x400),
    (helper.make_node("Add", ["x", "z"], ["y"]), [("x", I32, [2]), ("z", I32, [2])], I32,
     [np.array([1, 2], np.int32)] * 2, 0),
], ids=["neg", "add", "mul", "float", "unsigned", "to half", "whole to half", "cube", "none"])
def test_the_status_of_the_device_has_the_bit_of_the_overflow(tmp_path, node, inputs, out, arrays,
                                                              status):
    shape = [1, 1] if node.op_type == "MatMul" else [2]
    make_model(tmp_path, [node], inputs, [("y", out, shape)], (), "--status_check=1",
               arrays=arrays)
    out = run_model(tmp_path, {}, """
        print(status())
        assert execute() == 0
        print(status())
        assert acl.rt.reset_overflow_status(stream) == 0
        print(status())
    """)
    assert out.split() == ["0", str(status), "0"]


def test_overflow_bits_are_collected_until_they_are_reset(tmp_path):
    x = np.array([1, 100], np.float32)
    make_model(tmp_path, [helper.make_node("Mul", ["x", "k"], ["m"], name="mul"),
                          helper.make_node("Cast", ["m"], ["y"], to=F16, name="half"),
                          helper.make_node("Exp", ["x"], ["z"], name="exp")],
               [("x", F32, [2])], [("y", F16, [2]), ("z", F32, [2])],
               [("k", np.array(1000, np.float32))], "--status_check=1", arrays=[x])
    out = run_model(tmp_path, {}, "assert execute() == 0\nprint(status())")
    assert int(out) == 0x100 | 0x20


def test_models_without_status_check_set_no_bits_and_short_memory_is_refused(tmp_path):
    make_model(tmp_path, [helper.make_node("Exp", ["x"], ["y"])], [("x", F32, [2])],
               [("y", F32, [2])], arrays=[np.array([1, 100], np.float32)])
    out = run_model(tmp_path, {}, """
        assert execute() == 0
        print(status())
        memory, _ = acl.rt.malloc(64, 0)
        print(acl.rt.get_overflow_status(memory, 63, stream), acl.get_recent_err_msg())
    """)
    assert out.split()[:2] == ["0", "107000"] and "63" in out
