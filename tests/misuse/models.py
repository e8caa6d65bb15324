# SPDX-License-Identifier: Apache-2.0
"""Good values for acl.mdl: a small model, its description, datasets and memory."""

import atexit
import functools
import os
import shutil
import subprocess
import tempfile

NO_VALUE = object()  # not an argument that this file knows
INPUT, OUTPUT = "x", "node:0:y"
LOAD_TYPE, PATH, FROM_FILE = 1, 2, 1  # of a load configuration


@functools.cache
def om_file():
    """The path of a model with one input and one output of three floats; made once by atc."""
    import onnx
    from onnx import TensorProto, helper

    folder = tempfile.mkdtemp(prefix="misuse_")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    value = helper.make_tensor_value_info
    nodes = [helper.make_node("MatMul", ["x", "w"], ["t"], name="first"),
             helper.make_node("MatMul", ["t", "w"], ["y"], name="node")]
    graph = helper.make_graph(
        nodes, "small", [value("x", TensorProto.FLOAT, [1, 3])],
        [value("y", TensorProto.FLOAT, [1, 3])],
        [helper.make_tensor("w", TensorProto.FLOAT, [3, 3], [float(i) for i in range(9)])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    source, target = os.path.join(folder, "small.onnx"), os.path.join(folder, "small")
    onnx.save(model, source)
    subprocess.run(["atc", f"--model={source}", "--framework=5", f"--output={target}",
                    "--soc_version=Ascend310P3"], check=True, stdout=subprocess.DEVNULL)
    return target + ".om"


@functools.cache
def om_bytes():
    with open(om_file(), "rb") as file:
        return file.read()


def load(acl):
    return acl.mdl.load_from_file(om_file())[0]


def filled_desc(acl):
    desc = acl.mdl.create_desc()
    acl.mdl.get_desc_from_file(desc, om_file())
    return desc


def dataset(maker):
    made = maker.acl.mdl.create_dataset()
    maker.acl.mdl.add_dataset_buffer(made, maker.handle("aclDataBuffer"))
    return made


def load_config(acl):
    config = acl.mdl.create_config_handle()
    acl.mdl.set_config_opt(config, LOAD_TYPE, FROM_FILE)
    acl.mdl.set_config_opt(config, PATH, om_file())
    return config


def memory(maker, name):
    """work_ptr, work_size, weight_ptr and weight_size of a load function."""
    work, weight, _ = maker.acl.mdl.query_size(om_file())
    size = work if name.startswith("work") else weight
    return max(size, 64) if name.endswith("size") else maker.device_block(max(size, 64))


def good(maker, function, argument):
    """The value of one argument, or NO_VALUE."""
    if not function.name.startswith("acl.mdl.") or function.status != "works":
        return NO_VALUE
    short, name = function.name.rpartition(".")[2], argument.name
    if name in ("model_path", "file_name"):
        return om_file()
    if name == "model":
        return maker.acl.util.bytes_to_ptr(om_bytes())
    if name == "model_size":
        return len(om_bytes())
    if name == "model_id":
        return load(maker.acl)
    if name in ("work_ptr", "work_size", "weight_ptr", "weight_size"):
        return memory(maker, name)
    if name == "model_desc" and not short.startswith(("get_desc", "destroy")):
        return filled_desc(maker.acl)
    if name in ("input", "output") or (name == "dataset" and short == "get_dataset_buffer"):
        return dataset(maker)
    if name == "config_handle" and short == "load_with_config":
        return load_config(maker.acl)
    if name == "name":
        return OUTPUT if short == "get_output_index_by_name" else INPUT
    return NO_VALUE
