# SPDX-License-Identifier: Apache-2.0
"""ANYNPU_FAULT: operators and functions fail on demand, and programs see what they would then."""
import json
import os
import shutil
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from build_tree import DATA, SUPPORT, TESTS
from net_models import files_in, make_model, run_model
from onnx import TensorProto, helper

F32 = TensorProto.FLOAT
X = np.arange(6, dtype=np.float32) - 2
CALLBACK = """
    seen = []
    def callback(info):
        device = acl.rt.get_device_id_from_exception_info(info)
        stream_id = acl.rt.get_stream_id_from_exception_info(info)
        task = acl.rt.get_task_id_from_exception_info(info)
        name, in_desc, in_count, out_desc, out_count, ret = acl.mdl.create_and_get_op_desc(
            device, stream_id, task, 256)
        assert ret == 0, acl.get_recent_err_msg()
        first = acl.get_tensor_desc_by_index(in_desc, 0)
        seen.append((name, in_count, out_count, acl.get_tensor_desc_address(first) != 0,
                     acl.rt.get_error_code_from_exception_info(info) != 0))
        acl.destroy_tensor_desc(in_desc)
        acl.destroy_tensor_desc(out_desc)
    assert acl.rt.set_exception_info_callback(callback) == 0
"""


@pytest.fixture
def chain(tmp_path):
    """x -> Relu 'first' -> Neg 'second'"""
    make_model(tmp_path, [helper.make_node("Relu", ["x"], ["r"], name="first"),
                          helper.make_node("Neg", ["r"], ["y"], name="second")],
               [("x", F32, [6])], [("y", F32, [6])], arrays=[X])
    return tmp_path


@pytest.mark.parametrize("fault", ["op:second", "op:Neg"])
def test_the_exception_callback_learns_which_operator_failed(chain, fault):
    out = run_model(chain, {}, CALLBACK + """
    print(execute())
    print(acl.mdl.execute_async(model, inputs, outputs, stream))
    print(acl.rt.synchronize_stream(stream) != 0)
    print(seen)
    print(acl.get_recent_err_msg())
    """, ANYNPU_FAULT=fault)
    code, queued, failed, seen, message = out.strip().split("\n", 4)
    assert int(code) != 0 and queued == "0" and failed == "True"
    assert eval(seen) == [("second", 1, 1, True, True)] * 2  # noqa: S307
    assert "ANYNPU_FAULT" in message


def test_one_run_of_several_fails(chain):
    out = run_model(chain, {}, "print([execute() == 0 for _ in range(4)])",
                    ANYNPU_FAULT="op:first@2")
    assert out.strip() == "[True, True, False, True]"


def test_a_single_operator_fails(tmp_path):
    text = f"""
        import sys
        sys.path.insert(0, {SUPPORT!r})
        import acl, numpy as np, single_op
        assert acl.init() == 0 and acl.rt.set_device(0) == 0
        x = np.arange(6, dtype=np.float32)
        single_op.run("Mul", [x, x], [x])
        single_op.run("Add", [x, x], [x])
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(text)], capture_output=True,
                          text=True, timeout=300, env={**os.environ, "ANYNPU_FAULT": "op:Add"})
    assert done.returncode == 1
    assert "line 8" in done.stderr and "line 7" not in done.stderr, done.stderr


def documented_codes():
    path = os.path.join(DATA, "acl_constants.tsv")
    with open(path, encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    return sorted({int(value) for name, value in rows
                   if name.startswith("ACL_ERROR_") and int(value) != 0})


def test_every_documented_code_can_be_provoked():
    codes = documented_codes()
    assert len(codes) > 200
    faults = ",".join(f"aclrtSetDevice={code}@{i}" for i, code in enumerate(codes, start=1))
    text = """
        import acl
        assert acl.init() == 0
        print([acl.rt.set_device(0) for _ in range(%d)])
        print(acl.rt.get_device_count(), acl.get_recent_err_msg())
    """ % (len(codes) + 1)
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(text)], capture_output=True,
                          text=True, timeout=300,
                          env={**os.environ,
                               "ANYNPU_FAULT": faults + ",aclrtGetDeviceCount=507899"})
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.split("\n", 1)
    assert json.loads(first) == [*codes, 0]
    assert "507899" in second and "aclrtGetDeviceCount fails because ANYNPU_FAULT is" in second


def test_functions_without_a_code_fail_too_and_others_do_not():
    text = """
        import acl
        assert acl.init() == 0
        assert acl.create_data_buffer(64, 8) == 0
        assert acl.mdl.create_dataset() != 0
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(text)], check=True, timeout=300,
                   env={**os.environ, "ANYNPU_FAULT": "aclCreateDataBuffer=100000,nonsense"})


@pytest.mark.parametrize("scene", ["aic_err_brief_dump", "aic_err_norm_dump",
                                   "aic_err_detail_dump", "lite_exception"])
def test_the_operator_that_fails_is_dumped(chain, scene):
    from anynpu import dump_file
    run_model(chain, {"dump": {"dump_scene": scene, "dump_path": "out"}},
              "assert execute() != 0", ANYNPU_FAULT="op:second")
    ((name, path),) = files_in(chain / "out").items()
    assert name.startswith("extra-info/data-dump/0/Neg.second.")
    dump = dump_file.read(path)
    np.testing.assert_array_equal(dump.inputs[0].array(), np.maximum(X, 0))
    assert len(dump.outputs) == 1


def test_exception_dumps_go_where_the_environment_says(chain):
    config = {"dump": {"dump_scene": "lite_exception", "dump_path": "out"}}
    body = "assert execute() != 0"
    run_model(chain, config, body, ANYNPU_FAULT="op:first", NPU_COLLECT_PATH=str(chain / "npu"),
              ASCEND_WORK_PATH=str(chain / "work"))
    run_model(chain, config, body, ANYNPU_FAULT="op:first", ASCEND_WORK_PATH=str(chain / "work"))
    run_model(chain, {"dump": {"dump_scene": "lite_exception"}}, body, ANYNPU_FAULT="op:first")
    for root in ("npu", "work", "."):
        found = [f for f in files_in(chain / root / "extra-info")]
        assert len(found) == 1, root
    assert not (chain / "out").exists()


@pytest.mark.skipif(shutil.which("clang-19") is None, reason="clang-19 is not installed")
def test_a_kernel_of_the_programs_own_that_traps_is_dumped(tmp_path):
    from anynpu import dump_file
    here = os.path.join(TESTS, "python", "operators")
    (tmp_path / "acl.json").write_text('{"dump": {"dump_scene": "lite_exception"}}')
    (tmp_path / "app.py").write_text(textwrap.dedent(f"""
        import pathlib, sys
        sys.path.insert(0, {here!r})
        import acl, numpy as np
        import test_op_kernel as kernels
        class Factory:
            def mktemp(self, name):
                return pathlib.Path(".")
        made = kernels.kernel_object.__wrapped__(Factory())
        assert acl.init("acl.json") == 0 and acl.rt.set_device(0) == 0
        kernels.register(made, "bad", "trap", kernels.tiling_selector([]))
        x = np.arange(4, dtype=np.float32)
        try:
            kernels.execute("bad", [x], [x])
        except Exception:
            print("failed")
    """))
    done = subprocess.run([sys.executable, "app.py"], cwd=tmp_path, capture_output=True, text=True,
                          timeout=300)
    assert done.stdout == "failed\n", done.stderr
    ((name, path),) = files_in(tmp_path / "extra-info").items()
    assert name.startswith("data-dump/0/bad.bad.")
    np.testing.assert_array_equal(dump_file.read(path).inputs[0].array(), np.arange(4))
