# SPDX-License-Identifier: Apache-2.0
"""Guide 7.12: operators that overflow, their two files, and what msaccucmp.py makes of them."""
import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from blocks import block, shell
from build_tree import BUILD
from onnx import TensorProto, helper, save

TOOLKIT = "/home/HwHiAiUser/Ascend/ascend-toolkit/latest"
PROGRAM = """
import acl
import numpy as np
assert acl.init("acl.json") == 0
assert acl.rt.set_device(0) == 0
model, ret = acl.mdl.load_from_file("net.om")
assert ret == 0
sets = []
for data in (np.array([1, 100], np.float32), np.zeros(2, np.float32)):
    memory, ret = acl.rt.malloc(8, 0)
    assert acl.rt.memcpy(memory, 8, data.ctypes.data, 8, 1) == 0
    sets.append(acl.mdl.create_dataset())
    acl.mdl.add_dataset_buffer(sets[-1], acl.create_data_buffer(memory, 8))
assert acl.mdl.execute(model, *sets) == 0
print(model)
"""


@pytest.fixture(scope="module")
def collected(tmp_path_factory):
    """The folder of a program that ran with the page's configuration: Exp 'pool/1' overflows."""
    folder = tmp_path_factory.mktemp("overflow")
    graph = helper.make_graph(
        [helper.make_node("Exp", ["x"], ["y"], name="pool/1")], "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])])
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]),
         folder / "net.onnx")
    subprocess.run(["atc", "--model=net.onnx", "--framework=5", "--output=net",
                    "--soc_version=Ascend310P3", "--status_check=1"], cwd=folder, check=True,
                   stdout=subprocess.DEVNULL)
    (folder / "acl.json").write_text("""{
 "dump":{
 "dump_path":"output",
 "dump_debug":"on"
 }
}
""")
    (folder / "app.py").write_text(PROGRAM)
    done = subprocess.run([sys.executable, "app.py"], cwd=folder, capture_output=True, text=True,
                          timeout=300)
    assert done.returncode == 0, done.stderr
    return folder, int(done.stdout)


def dump_files(folder):
    return sorted(os.path.join(at, name) for at, _, names in os.walk(folder / "output")
                  for name in names)


@block("7.12", "{ \"dump\":{ \"dump_path\":\"output\", \"dump_debug\":\"on\" } }")
def test_7_12_two_files_for_the_operator_that_overflows(collected):
    operator, record = sorted(map(os.path.basename, dump_files(collected[0])))
    assert re.fullmatch(r"Exp\.pool_1\.\d+\.\d+\.\d+", operator)
    assert re.fullmatch(r"OpDebug\.Node_Opdebug\.\d+\.\d+\.\d+", record)


@block("7.12", "cd /home/HwHiAiUser/Ascend/ascend-toolkit/latest/toolkit/tools/operator_cmp/"
       "compare",
       note="the folder of the build stands for the installed toolkit")
@block("7.12", "python3 msaccucmp.py convert -d /home/HwHiAiUser/dump -out "
       "/home/HwHiAiUser/dumptonumpy -v 2")
@block("7.12", "$ python3 (np.load, flatten, savetxt)",
       slips=("the name of the file is that of another operator",))
def test_7_12_the_dump_becomes_numpy_and_text(collected, tmp_path):
    folder = collected[0]
    text = f"""
        cd {TOOLKIT}/toolkit/tools/operator_cmp/compare
        python3 msaccucmp.py convert -d /home/HwHiAiUser/dump -out /home/HwHiAiUser/dumptonumpy -v 2
    """
    path = next(p for p in dump_files(folder) if "Exp." in p)
    shell(text.replace(TOOLKIT, os.path.join(BUILD, "ascend", "latest"))
          .replace("/home/HwHiAiUser/dump ", f"{path} ")
          .replace("/home/HwHiAiUser", str(tmp_path)).replace("python3", sys.executable))
    made = tmp_path / "dumptonumpy" / (os.path.basename(path) + ".output.0.npy")
    a = np.load(made)
    b = a.flatten()
    np.savetxt(str(made)[:-4] + ".txt", b)
    assert a[0] == pytest.approx(np.e) and np.isinf(a[1])
    assert len(open(str(made)[:-4] + ".txt").readlines()) == 2


@block("7.12", "python3 msaccucmp.py convert -d /home/HwHiAiUser/opdebug/"
       "Opdebug.Node_OpDebug.59.1597922031178434 -out /home/HwHiAiUser/result")
@block("7.12", "{ \"DHA Atomic Add\": { ... }, \"L2 Atomic Add\": { ... }, \"AI Core\": { ... } }",
       note="addresses are those of this machine: 0x0 for code, which a CPU kernel does not have")
def test_7_12_the_record_becomes_the_documented_json(collected, tmp_path):
    folder, model = collected
    record = next(p for p in dump_files(folder) if "OpDebug" in p)
    other = tmp_path / "Opdebug.Node_OpDebug.59.1597922031178434"  # the older name
    other.write_bytes(open(record, "rb").read())
    compare = os.path.join(BUILD, "ascend", "latest", "toolkit", "tools", "operator_cmp", "compare")
    shell(f"cd {compare}\n{sys.executable} msaccucmp.py convert -d {other} -out {tmp_path}/result")
    (name,) = os.listdir(tmp_path / "result")
    result = json.loads((tmp_path / "result" / name).read_text())
    common = {"model_id", "stream_id", "task_id", "task_type", "pc_start", "para_base", "status"}
    assert list(result) == ["DHA Atomic Add", "L2 Atomic Add", "AI Core"]
    assert set(result["DHA Atomic Add"]) == set(result["L2 Atomic Add"]) == common
    core = result["AI Core"]
    assert set(core) == common | {"kernel_code", "block_idx"}
    assert core["model_id"] == model and core["status"] == 0x20
    assert core["pc_start"] == core["kernel_code"] == "0x0"
    assert int(core["para_base"], 16) != 0
