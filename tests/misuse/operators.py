# SPDX-License-Identifier: Apache-2.0
"""Good values for acl.op: an Add of two tensors of three floats, compiled before the call."""

import atexit
import functools
import json
import os
import shutil
import subprocess
import tempfile

from misuse.models import NO_VALUE

FLOAT, ND = 0, 2
DESCS = {"input_desc": 2, "inputs_desc": 2, "in_desc_list": 2, "output_desc": 1,
         "outputs_desc": 1, "out_desc_list": 1}
BUFFERS = {"inputs": 2, "in_list": 2, "outputs": 1}
NUMBERS = {"num_outputs": 1, "truncate": 0, "max_op_num": 100, "engine_type": 0,
           "compile_flag": 0, "flag": 0, "dump_type": 1, "block_dim": 1, "arg_size": 64}


@functools.cache
def om_bytes():
    """A model of Add, made by atc."""
    folder = tempfile.mkdtemp(prefix="misuse_")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    tensor = {"format": "ND", "shape": [1, 3], "type": "float"}
    path = os.path.join(folder, "add.json")
    with open(path, "w") as file:
        json.dump([{"op": "Add", "name": "add", "input_desc": [tensor] * 2,
                    "output_desc": [tensor]}], file)
    subprocess.run(["atc", f"--singleop={path}", f"--output={folder}",
                    "--soc_version=Ascend310P3"], check=True, stdout=subprocess.DEVNULL)
    with open(os.path.join(folder, "add.om"), "rb") as file:
        return file.read()


def desc(acl):
    return acl.create_tensor_desc(FLOAT, [1, 3], ND)


def compile_add(acl):
    acl.op.compile("Add", [desc(acl), desc(acl)], [desc(acl)], 0, 0, 0, "")


def handle(acl):
    compile_add(acl)
    return acl.op.create_handle("Add", [desc(acl), desc(acl)], [desc(acl)], 0)[0]


def good(maker, function, argument):
    """The value of one argument, or NO_VALUE."""
    if not function.name.startswith("acl.op."):
        return NO_VALUE
    short, name, acl = function.name.rpartition(".")[2], argument.name, maker.acl
    if name == "op_type":
        if "compile" not in short and short != "infer_shape":
            compile_add(acl)
        return "Add"
    if name in DESCS:
        return [desc(acl) for _ in range(DESCS[name])]
    if name in BUFFERS:
        return [maker.handle("aclDataBuffer") for _ in range(BUFFERS[name])]
    if name == "handle":
        return handle(acl)
    if name in ("attr", "op_attr"):
        return acl.op.create_attr()
    if name in ("model_dir", "path", "graph_dump_path"):
        return tempfile.mkdtemp(prefix="misuse_")  # with no model in it
    if name == "model":
        return maker.acl.util.bytes_to_ptr(om_bytes())
    if name == "model_size":
        return len(om_bytes())
    if name == "attr_value" and argument.type.startswith("list"):
        return [1, 0]
    if name == "attr_value" and short == "set_attr_list_string":
        return ["a", "b"]
    if name == "attr_value" and short == "set_attr_list_list_int":
        return [[1], [2, 3]]
    if name.startswith("workspace_sizes"):
        return [64]
    if name == "num_workspaces":
        return 1
    if name == "values":
        return None
    if name == "op_path":
        return ""
    return NUMBERS.get(name, NO_VALUE)
