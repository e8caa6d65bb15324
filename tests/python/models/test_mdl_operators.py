# SPDX-License-Identifier: Apache-2.0
"""acl.mdl about single operators: which one failed (7.10), what it stood for; weights apart."""
import os

import numpy as np
import pytest
from model_datasets import Model, atc, convert
from onnx import TensorProto, helper, numpy_helper
from onnx_models import network

import acl

RANDOM = np.random.default_rng(8)

pytestmark = pytest.mark.usefixtures("runtime")


def float_network(nodes, inputs, weights=()):
    """With the output y; weights: (name, array)."""
    return network(nodes, inputs, [("y", TensorProto.FLOAT, None)],
                   [numpy_helper.from_array(array, name) for name, array in weights])


@pytest.fixture(scope="module")
def picker(tmp_path_factory):
    """A model that fails when its index is out of range."""
    nodes = [helper.make_node("Relu", ["x"], ["r"], name="relu"),
             helper.make_node("Gather", ["r", "i"], ["g"], name="pick"),
             helper.make_node("Neg", ["g"], ["y"], name="neg")]
    model = float_network(nodes, [("x", TensorProto.FLOAT, [4, 3]), ("i", TensorProto.INT64, [2])])
    return convert(tmp_path_factory.mktemp("picker"), "picker", model)


def read_op(info, found):
    """The callback of the guide."""
    stream_id = acl.rt.get_stream_id_from_exception_info(info)
    device_id = acl.rt.get_device_id_from_exception_info(info)
    task_id = acl.rt.get_task_id_from_exception_info(info)
    op_name, input_desc, num_inputs, output_desc, num_outputs, ret = \
        acl.mdl.create_and_get_op_desc(device_id, stream_id, task_id, 256)
    assert ret == 0, acl.get_recent_err_msg()
    shapes = []
    for descs, count in ((input_desc, num_inputs), (output_desc, num_outputs)):
        for i in range(count):
            desc = acl.get_tensor_desc_by_index(descs, i)
            acl.get_tensor_desc_address(desc)
            rank = acl.get_tensor_desc_num_dims(desc)
            shapes.append([acl.get_tensor_desc_dim_v2(desc, d)[0] for d in range(rank)])
        acl.destroy_tensor_desc(descs)
    found.append((op_name, shapes))
    assert acl.mdl.create_and_get_op_desc(device_id, stream_id, task_id, 3)[-1] == 100000
    assert acl.mdl.create_and_get_op_desc(device_id, stream_id, task_id + 1, 256)[-1] == 100000


@pytest.mark.parametrize("how", ["synchronous", "asynchronous"])
def test_the_exception_callback_learns_which_operator_failed(picker, how):
    model, found = Model(picker), []
    assert acl.rt.set_exception_info_callback(lambda info: read_op(info, found)) == 0
    table = RANDOM.standard_normal((4, 3)).astype(np.float32)
    for index, good in ((3, True), (99, False)):
        model.feed(table, np.array([0, index], np.int64))
        if how == "synchronous":
            ret = model.execute()
        else:
            stream, _ = acl.rt.create_stream()
            assert acl.mdl.execute_async(model.id, model.inputs, model.outputs, stream) == 0
            ret = acl.rt.synchronize_stream(stream)
            assert acl.rt.destroy_stream(stream) == 0
        assert (ret == 0) == good
    assert acl.rt.set_exception_info_callback(None) == 0
    assert found == [("pick", [[4, 3], [2], [2, 3]])]
    model.close()


def test_an_operator_tells_which_ones_it_stands_for(tmp_path):
    nodes = [helper.make_node("Conv", ["x", "w"], ["c"], name="conv", pads=[1] * 4),
             helper.make_node("BatchNormalization", ["c", "s", "b", "m", "v"], ["n"], name="norm"),
             helper.make_node("Relu", ["n"], ["r"], name="relu"),
             helper.make_node("Softmax", ["r"], ["y"], name="last")]
    ones = [(name, np.ones(4, np.float32)) for name in "sbmv"]
    model = float_network(nodes, [("x", TensorProto.FLOAT, [1, 3, 4, 4])],
                          [("w", np.ones((4, 3, 3, 3), np.float32)), *ones])
    loaded = Model(convert(tmp_path, "net", model))
    attr = "_datadump_original_op_names"
    assert acl.mdl.get_op_attr(loaded.desc, "conv", attr) == "[4]conv[4]norm[4]relu"
    assert acl.mdl.get_op_attr(loaded.desc, "last", attr) == "[4]last"
    assert acl.mdl.get_op_attr(loaded.desc, "relu", attr) == ""
    assert "no operator 'relu'" in acl.get_recent_err_msg()
    assert acl.mdl.get_op_attr(loaded.desc, "conv", "color") == ""
    assert attr in acl.get_recent_err_msg()
    loaded.close()


LOAD_TYPE, PATH, MEMORY, MEMORY_SIZE, WEIGHT_PATH = 1, 2, 3, 4, 14
FROM_FILE, FROM_MEMORY = 1, 3


@pytest.fixture
def apart(tmp_path, monkeypatch):
    """A model whose weights lie in one file beside it: its matrix, and the file's bytes."""
    monkeypatch.chdir(tmp_path)
    weight = RANDOM.standard_normal((3, 2)).astype(np.float32)
    model = float_network([helper.make_node("MatMul", ["x", "w"], ["y"], name="fc")],
                          [("x", TensorProto.FLOAT, [1, 3])], [("w", weight)])
    convert(tmp_path, "net", model, "--external_weight=2")
    return weight, open("weight/net_weight_combined", "rb").read()


def set_option(config, attribute, value):
    assert acl.mdl.set_config_opt(config, attribute, value) == 0, acl.get_recent_err_msg()


def check_runs(model_id, weight):
    model, x = Model.of_id(model_id), np.float32([[1, 2, 3]])
    model.run(x)
    np.testing.assert_allclose(model.read(0, (1, 2)), x @ weight, rtol=1e-5, atol=1e-6)
    model.close()


def test_weights_come_from_the_folder_that_the_configuration_names(apart, tmp_path):
    weight, _ = apart
    os.rename("weight", "elsewhere")
    config = acl.mdl.create_config_handle()
    set_option(config, LOAD_TYPE, FROM_FILE)
    set_option(config, PATH, str(tmp_path / "net.om"))
    assert acl.mdl.load_with_config(config)[1] != 0
    set_option(config, WEIGHT_PATH, str(tmp_path / "elsewhere"))
    model_id, ret = acl.mdl.load_with_config(config)
    assert ret == 0, acl.get_recent_err_msg()
    check_runs(model_id, weight)
    assert acl.mdl.destroy_config_handle(config) == 0


def test_weights_come_from_memory_that_the_program_filled(apart, tmp_path):
    weight, raw = apart
    device, ret = acl.rt.malloc(len(raw), 0)
    assert ret == 0
    assert acl.rt.memcpy(device, len(raw), acl.util.bytes_to_ptr(raw), len(raw), 1) == 0
    om = open("net.om", "rb").read()
    os.remove("weight/net_weight_combined")
    config = acl.mdl.create_config_handle()
    set_option(config, LOAD_TYPE, FROM_MEMORY)
    set_option(config, MEMORY, acl.util.bytes_to_ptr(om))
    set_option(config, MEMORY_SIZE, len(om))
    assert acl.mdl.load_with_config(config)[1] != 0
    assert "aclmdlSetExternalWeightAddress" in acl.get_recent_err_msg()
    assert acl.mdl.set_external_weight_address(config, "other", device, len(raw)) == 0
    assert acl.mdl.load_with_config(config)[1] != 0
    assert "'net_weight_combined'" in acl.get_recent_err_msg()
    assert acl.mdl.set_external_weight_address(config, "net_weight_combined", device,
                                               len(raw)) == 0
    model_id, ret = acl.mdl.load_with_config(config)
    assert ret == 0, acl.get_recent_err_msg()
    check_runs(model_id, weight)
    assert acl.mdl.destroy_config_handle(config) == 0
    assert acl.rt.free(device) == 0


def test_a_model_of_the_vendors_atc_is_recognised(tmp_path):
    path = tmp_path / "card.om"
    path.write_bytes(b"IMOD" + bytes(4096))
    for function in (acl.mdl.load_from_file, acl.mdl.query_size):
        assert function(str(path))[-1] != 0
        assert "vendor's atc" in acl.get_recent_err_msg()
    assert "vendor's atc" in atc("--mode=6", f"--om={path}").stderr
