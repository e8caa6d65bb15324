# SPDX-License-Identifier: Apache-2.0
"""Good values for acl.mdl: a small model, its description, datasets and memory."""

import atexit
import ctypes
import functools
import os
import shutil
import subprocess
import tempfile

NO_VALUE = object()  # not an argument that this file knows
INPUT, OUTPUT = "x", "node:0:y"
LOAD_TYPE, PATH, FROM_FILE = 1, 2, 1  # of a load configuration
RGB888 = 3


DYNAMIC_AIPP = "aipp_op { aipp_mode: dynamic max_src_image_size: 9 }"
STATIC_AIPP = "aipp_op { aipp_mode: static input_format: RGB888_U8 }"
# What a function needs of its model: options of atc, and the index of the input it is about.
GEARS = {
    "aipp": (["--insert_op_conf=" + DYNAMIC_AIPP], 1),
    "aipp data": (["--insert_op_conf=" + DYNAMIC_AIPP], 0),
    "static aipp": (["--insert_op_conf=" + STATIC_AIPP], 0),
    "batch": (["--input_shape=x:-1,3", "--dynamic_batch_size=1,2"], 1),
    "image": (["--input_shape=x:1,3,-1,-1", "--dynamic_image_size=3,3;6,3"], 1),
    "dims": (["--input_shape=x:-1,3", "--dynamic_dims=1;2", "--input_format=ND"], 1),
}
KIND_OF = {"set_dynamic_batch_size": "batch", "set_dynamic_hw_size": "image",
           "set_input_dynamic_dims": "dims", "get_input_dynamic_dims": "dims",
           "set_input_aipp": "aipp", "set_aipp_by_input_index": "aipp data",
           "get_aipp_type": "aipp data", "get_first_aipp_info": "static aipp"}
GEAR = {"batch_size": 1, "height": 3, "width": 3, "gear_count": 2,
        "dims": {"name": "", "dimCount": 2, "dims": [1, 3]}}


@functools.cache
def om_file(kind=""):
    """The path of a model with one input and one output of three floats; made once by atc."""
    import onnx
    from onnx import TensorProto, helper

    folder = tempfile.mkdtemp(prefix="misuse_")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    value = helper.make_tensor_value_info
    shape = {"": [1, 3], "image": [1, 3, "H", "W"]}.get(kind, ["N", 3])
    if "aipp" in kind:
        shape = [1, 3, 1, 3]
    nodes = [helper.make_node("MatMul", ["x", "w"], ["t"], name="first"),
             helper.make_node("MatMul", ["t", "w"], ["y"], name="node")]
    graph = helper.make_graph(
        nodes, "small", [value("x", TensorProto.FLOAT, shape)],
        [value("y", TensorProto.FLOAT, None)],
        [helper.make_tensor("w", TensorProto.FLOAT, [3, 3], [float(i) for i in range(9)])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    source, target = os.path.join(folder, "small.onnx"), os.path.join(folder, "small")
    onnx.save(model, source)
    options = list(GEARS.get(kind, ([], 0))[0])
    if "aipp" in kind:  # the option names a file
        config = os.path.join(folder, "aipp.cfg")
        with open(config, "w") as file:
            file.write(options[0].partition("=")[2])
        options = [f"--insert_op_conf={config}"]
    subprocess.run(["atc", f"--model={source}", "--framework=5", f"--output={target}",
                    "--soc_version=Ascend310P3", *options], check=True, stdout=subprocess.DEVNULL)
    return target + ".om"


@functools.cache
def om_bytes():
    with open(om_file(), "rb") as file:
        return file.read()


@functools.cache
def bundle_file():
    """The path of a bundle of two models."""
    path = os.path.join(os.path.dirname(om_file()), "bundle.om")
    subprocess.run(["anynpu", "bundle", om_file(), om_file("batch"), "-o", path], check=True)
    return path


@functools.cache
def bundle_bytes():
    with open(bundle_file(), "rb") as file:
        return file.read()


def load(acl, kind=""):
    return acl.mdl.load_from_file(om_file(kind))[0]


def queue():
    """The id of a queue, which the C library makes; 0 before acl.init."""
    c = ctypes.CDLL("libascendcl.so")
    c.acltdtCreateQueueAttr.restype = ctypes.c_void_p
    number = ctypes.c_uint32()
    c.acltdtCreateQueue(ctypes.c_void_p(c.acltdtCreateQueueAttr()), ctypes.byref(number))
    return number.value


def filled_desc(acl, kind=""):
    desc = acl.mdl.create_desc()
    acl.mdl.get_desc_from_file(desc, om_file(kind))
    return desc


def dataset(maker, buffers=1):
    made = maker.acl.mdl.create_dataset()
    for _ in range(buffers):
        maker.acl.mdl.add_dataset_buffer(made, maker.handle("aclDataBuffer"))
    return made


def described_dataset(maker):
    made = dataset(maker)
    maker.acl.mdl.set_dataset_tensor_desc(made, maker.handle("aclTensorDesc"), 0)
    return made


def aipp_set(acl):
    """Pictures of 3x1 pixels, RGB: what the models with AIPP take."""
    made = acl.mdl.create_aipp(1)
    acl.mdl.set_aipp_src_image_size(made, 3, 1)
    acl.mdl.set_aipp_input_format(made, RGB888)
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
    if function.name.startswith("acl.prof.") and argument.name == "model_id":
        return load(maker.acl, "")
    if not function.name.startswith("acl.mdl.") or function.status != "works":
        return NO_VALUE
    short, name = function.name.rpartition(".")[2], argument.name
    kind = KIND_OF.get(short, "")
    if name == "aipp_parms_set" and "aipp" in kind:
        return aipp_set(maker.acl)
    if kind and name in GEAR:
        return GEAR[name]
    if kind and name == "index":
        return GEARS[kind][1]
    if name == "dataset" and kind:
        return dataset(maker, 2)
    if name == "dataset" and short == "get_dataset_tensor_desc":
        return described_dataset(maker)
    if name == "dataset" and short == "set_dataset_tensor_desc":
        return dataset(maker)
    if name == "bundle_id":
        return maker.acl.mdl.bundle_load_from_file(bundle_file())[0]
    bundle = short.startswith("bundle")
    if name in ("model_path", "file_name"):
        return bundle_file() if bundle else om_file()
    content = bundle_bytes if bundle else om_bytes
    if name == "model":
        return maker.acl.util.bytes_to_ptr(content())
    if name == "model_size":
        return len(content())
    if name == "model_id":
        return load(maker.acl, kind)
    if name in ("work_ptr", "work_size", "weight_ptr", "weight_size"):
        return memory(maker, name)
    if name in ("input_q", "output_q"):
        return [queue()]
    if name == "model_desc" and not short.startswith(("get_desc", "destroy")):
        return filled_desc(maker.acl, kind)
    if name in ("input", "output") or (name == "dataset" and short == "get_dataset_buffer"):
        return dataset(maker)
    if name == "config_handle" and short == "load_with_config":
        return load_config(maker.acl)
    if name == "name":
        return OUTPUT if short == "get_output_index_by_name" else INPUT
    return NO_VALUE
