# SPDX-License-Identifier: Apache-2.0
"""Every attribute of acl.mdl.set_config_opt and set_exec_config_opt: it works, or says why not.

What the attributes that choose something choose is tested where models are loaded and run.
"""
import ctypes

import numpy as np
import pytest
from model_datasets import Model, convert
from onnx import TensorProto, helper
from onnx_models import network

import acl

INVALID_PARAM, SHAPE_INVALID = 100000, 145021
ADDRESS, SIZE, INT32, TEXT = "address", "size", "int32", "text"
BYTES = {ADDRESS: 8, SIZE: 8, INT32: 4, TEXT: 8}
# By attribute.
LOAD = {0: INT32, 1: SIZE, 2: TEXT, 3: ADDRESS, 4: SIZE, 5: ADDRESS, 6: SIZE, 7: ADDRESS, 8: SIZE,
        9: SIZE, 10: ADDRESS, 11: SIZE, 12: ADDRESS, 13: SIZE, 14: TEXT, 15: ADDRESS, 16: SIZE,
        17: ADDRESS, 18: SIZE, 19: ADDRESS, 20: SIZE, 21: ADDRESS, 22: SIZE, 23: ADDRESS, 24: SIZE,
        25: SIZE, 26: ADDRESS, 27: SIZE, 28: INT32, 29: INT32}
EXECUTION = {0: INT32, 1: INT32, 2: ADDRESS, 3: SIZE, 4: SIZE, 5: SIZE, 6: SIZE, 7: SIZE, 8: INT32,
             9: INT32}

pytestmark = pytest.mark.usefixtures("runtime")


def model_of(nodes, shape, result_shape, result_type=TensorProto.FLOAT):
    return network(nodes, [("x", TensorProto.FLOAT, shape)], [("y", result_type, result_shape)])


@pytest.fixture(scope="module")
def om(tmp_path_factory):
    return convert(tmp_path_factory.mktemp("config"), "net",
                   model_of([helper.make_node("Neg", ["x"], ["y"])], [4], [4]))


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


@pytest.fixture(scope="module")
def working_om(tmp_path_factory):
    """y = (x @ x) @ (x @ x): the product between lies in the work memory."""
    nodes = [helper.make_node("MatMul", ["x", "x"], ["a"]),
             helper.make_node("MatMul", ["a", "a"], ["y"])]
    return convert(tmp_path_factory.mktemp("work"), "net", model_of(nodes, [16, 16], [16, 16]))


@pytest.fixture(scope="module")
def open_om(tmp_path_factory):
    nodes = [helper.make_node("NonZero", ["x"], ["y"])]
    return convert(tmp_path_factory.mktemp("open"), "net",
                   model_of(nodes, [4], [1, None], TensorProto.INT64))


def execution_with_work(address, size):
    config = acl.mdl.create_exec_config_handle()
    assert acl.mdl.set_exec_config_opt(config, 2, address) == 0
    assert acl.mdl.set_exec_config_opt(config, 3, size) == 0
    return config


EXECUTIONS = pytest.mark.parametrize("execute", [acl.mdl.execute_v2, acl.mdl.execute_async_v2],
                                     ids=["execute_v2", "execute_async_v2"])


@EXECUTIONS
def test_an_execution_works_in_the_memory_it_is_given(working_om, execute):
    needed, _, ret = acl.mdl.query_size(working_om)
    assert ret == 0 and needed >= 16 * 16 * 4
    work, _ = acl.rt.malloc(needed, 0)
    assert acl.rt.memset(work, needed, 0, needed) == 0
    config = execution_with_work(work, needed)
    model = Model(working_om)
    x = np.random.default_rng(1).normal(size=(16, 16)).astype(np.float32)
    model.feed(x)
    assert execute(model.id, model.inputs, model.outputs, 0, config) == 0
    assert acl.rt.synchronize_stream(0) == 0
    assert model.read_memory(work, needed, np.uint8).any(), "the run wrote to it"
    given = model.read(0, (16, 16))
    assert model.execute() == 0
    assert np.array_equal(model.read(0, (16, 16)), given)
    model.close()
    assert acl.mdl.destroy_exec_config_handle(config) == 0
    assert acl.rt.free(work) == 0


@EXECUTIONS
def test_work_memory_that_cannot_serve_is_refused_before_the_run(working_om, execute):
    needed, _, _ = acl.mdl.query_size(working_om)
    work, _ = acl.rt.malloc(needed + 64, 0)
    model = Model(working_om)
    for address, size, sentence in [
            (work, needed - 1, f"work memory has {needed - 1} bytes, the model needs {needed}"),
            (work, 0, "work memory has 0 bytes"),
            (work + 4, needed, "expected a multiple of 64"),
            (work, needed + 2**20, "ACL_MDL_WORK_ADDR_PTR"),
            (0, needed, "at no address; set ACL_MDL_WORK_ADDR_PTR (2) too")]:
        config = execution_with_work(address, size)
        assert execute(model.id, model.inputs, model.outputs, 0, config) != 0
        assert sentence in acl.get_recent_err_msg()
        assert acl.mdl.destroy_exec_config_handle(config) == 0
    model.close()
    assert acl.rt.free(work) == 0


@EXECUTIONS
def test_work_memory_is_refused_where_nobody_knows_how_much_a_run_needs(open_om, execute):
    work, _ = acl.rt.malloc(4096, 0)
    config = execution_with_work(work, 4096)
    model = Model(open_om, output_sizes=[64])
    assert execute(model.id, model.inputs, model.outputs, 0, config) == SHAPE_INVALID
    assert "run it without work memory of your own" in acl.get_recent_err_msg()
    model.close()
    assert acl.mdl.destroy_exec_config_handle(config) == 0
    assert acl.rt.free(work) == 0


def test_executions_with_work_memory_of_their_own_run_beside_each_other(working_om):
    """Of a model whose own work memory is the program's, and so serves one at a time."""
    needed, weight, _ = acl.mdl.query_size(working_om)
    own, _ = acl.rt.malloc(needed, 0)
    weights, _ = acl.rt.malloc(weight + 64, 0)
    model_id, ret = acl.mdl.load_from_file_with_mem(working_om, own, needed, weights, weight + 64)
    assert ret == 0, acl.get_recent_err_msg()
    runs, x = [], np.eye(16, dtype=np.float32)
    for i in range(4):
        model = Model.of_id(model_id)
        model.feed(x * (i + 1))
        work, _ = acl.rt.malloc(needed, 0)
        stream, _ = acl.rt.create_stream()
        runs.append((model, work, stream, execution_with_work(work, needed)))
    for _ in range(20):
        for model, _, stream, config in runs:
            assert acl.mdl.execute_async_v2(model_id, model.inputs, model.outputs, stream,
                                            config) == 0
    for i, (model, work, stream, config) in enumerate(runs):
        assert acl.rt.synchronize_stream(stream) == 0
        assert np.array_equal(model.read(0, (16, 16)), x * (i + 1.0)**4)
        assert acl.rt.destroy_stream(stream) == 0
        assert acl.mdl.destroy_exec_config_handle(config) == 0
        assert acl.rt.free(work) == 0
        model.free()
    assert acl.mdl.unload(model_id) == 0
    assert acl.rt.free(own) == 0 and acl.rt.free(weights) == 0
