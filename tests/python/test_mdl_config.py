# SPDX-License-Identifier: Apache-2.0
"""Every attribute of acl.mdl.set_config_opt and set_exec_config_opt: it works, or says why not.

What the attributes that choose something choose is tested where models are loaded and run.
"""
import ctypes

import numpy as np
import pytest
from model_datasets import Model, convert
from onnx import TensorProto, helper

import acl

INVALID_PARAM, UNSUPPORTED = 100000, 200006
ADDRESS, SIZE, INT32, TEXT = "address", "size", "int32", "text"
BYTES = {ADDRESS: 8, SIZE: 8, INT32: 4, TEXT: 8}
# By attribute; queues (9 to 12) are refused.
LOAD = {0: INT32, 1: SIZE, 2: TEXT, 3: ADDRESS, 4: SIZE, 5: ADDRESS, 6: SIZE, 7: ADDRESS, 8: SIZE,
        13: SIZE, 14: TEXT, 15: ADDRESS, 16: SIZE, 17: ADDRESS, 18: SIZE, 19: ADDRESS, 20: SIZE,
        21: ADDRESS, 22: SIZE, 23: ADDRESS, 24: SIZE, 25: SIZE, 26: ADDRESS, 27: SIZE, 28: INT32,
        29: INT32}
EXECUTION = {0: INT32, 1: INT32, 2: ADDRESS, 3: SIZE, 4: SIZE, 5: SIZE, 6: SIZE, 7: SIZE, 8: INT32,
             9: INT32}

pytestmark = pytest.mark.usefixtures("runtime")


@pytest.fixture(scope="module")
def om(tmp_path_factory):
    graph = helper.make_graph(
        [helper.make_node("Neg", ["x"], ["y"])], "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    return convert(tmp_path_factory.mktemp("config"), "net", model)


def c_function(name):
    function = getattr(ctypes.CDLL("libascendcl.so"), name)
    function.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t]
    return function


KINDS = [
    (LOAD, acl.mdl.create_config_handle, acl.mdl.set_config_opt, acl.mdl.destroy_config_handle,
     "aclmdlSetConfigOpt"),
    (EXECUTION, acl.mdl.create_exec_config_handle, acl.mdl.set_exec_config_opt,
     acl.mdl.destroy_exec_config_handle, "aclmdlSetExecConfigOpt"),
]


@pytest.mark.parametrize("table, create, set_opt, destroy, c_name", KINDS,
                         ids=["load", "execution"])
def test_every_attribute_takes_a_value_of_its_type_and_no_other(table, create, set_opt, destroy,
                                                                c_name):
    config, c_set = create(), c_function(c_name)
    value = (ctypes.c_char * 8)(*b"\1")
    for attribute, kind in table.items():
        assert set_opt(config, attribute, "." if kind == TEXT else 1) == 0, attribute
        for size in {0, 4, 8, 16} - {BYTES[kind]}:
            assert c_set(config, attribute, value, size) == INVALID_PARAM, (attribute, size)
            assert f"valueSize is {size}, expected {BYTES[kind]}" in acl.get_recent_err_msg()
        assert c_set(config, attribute, None, BYTES[kind]) == INVALID_PARAM
    for unknown in (-1, 30 if table is LOAD else 10, 65535):
        assert set_opt(config, unknown, 1) == INVALID_PARAM
        assert f"attribute {unknown}" in acl.get_recent_err_msg()
    assert destroy(config) == 0


def test_attributes_about_queues_are_refused_and_say_what_to_set_instead():
    config = acl.mdl.create_config_handle()
    for attribute in range(9, 13):
        assert acl.mdl.set_config_opt(config, attribute, 1) == UNSUPPORTED
        assert "load type to 1 to 4" in acl.get_recent_err_msg()
    assert acl.mdl.destroy_config_handle(config) == 0


def test_loading_with_queues_is_refused_and_says_what_to_call_instead(om):
    data = open(om, "rb").read()
    for ret in (acl.mdl.load_from_file_with_q(om, [], [])[1],
                acl.mdl.load_from_mem_with_q(acl.util.bytes_to_ptr(data), len(data), [], [])[1]):
        assert ret == UNSUPPORTED
    assert "load the model with aclmdlLoadFromFile or aclmdlLoadFromMem" in acl.get_recent_err_msg()


def test_a_model_runs_the_same_with_every_attribute_set(om):
    config = acl.mdl.create_exec_config_handle()
    memory, _ = acl.rt.malloc(4096, 0)
    values = {0: 60000, 1: 60000, 2: memory, 3: 4096}
    for attribute in EXECUTION:
        assert acl.mdl.set_exec_config_opt(config, attribute, values.get(attribute, 1)) == 0
    model = Model(om)
    x = np.arange(4, dtype=np.float32)
    model.feed(x)
    for execute in (acl.mdl.execute_v2, acl.mdl.execute_async_v2):
        assert execute(model.id, model.inputs, model.outputs, 0, config) == 0
        assert acl.rt.synchronize_stream(0) == 0
        assert np.array_equal(model.read(0, 4), -x)
    model.close()
    assert acl.mdl.destroy_exec_config_handle(config) == 0
    assert acl.rt.free(memory) == 0


@pytest.mark.parametrize("attribute", [0, 1])
def test_a_timeout_is_minus_one_or_more(attribute):
    config = acl.mdl.create_exec_config_handle()
    for value in (-1, 0, 2**31 - 1):
        assert acl.mdl.set_exec_config_opt(config, attribute, value) == 0
    assert acl.mdl.set_exec_config_opt(config, attribute, -2) == INVALID_PARAM
    assert "the timeout is -2 ms" in acl.get_recent_err_msg()
    assert acl.mdl.destroy_exec_config_handle(config) == 0
