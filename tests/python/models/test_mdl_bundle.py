# SPDX-License-Identifier: Apache-2.0
"""Bundles: `anynpu bundle` puts models into one file, acl.mdl.bundle_* loads them in one call."""
import os
import subprocess
import sys

import numpy as np
import pytest
from model_datasets import Model, convert
from onnx import TensorProto, helper, numpy_helper
from onnx_models import network

import acl

INVALID_PARAM, UNINITIALIZE, PARSE_MODEL, CONTEXT_NULL = 100000, 100001, 100013, 107002
MODEL_PATH_INVALID, MODEL_ID_INVALID, INVALID_BUNDLE = 145002, 145003, 148053
HBM = 1


def scale(by):
    """x times a number, or times a matrix element by element."""
    weights = np.full(4, by, np.float32) if np.isscalar(by) else by.astype(np.float32)
    return network([helper.make_node("Mul", ["x", "w"], ["y"])],
                   [("x", TensorProto.FLOAT, ["n", weights.shape[-1]])],
                   [("y", TensorProto.FLOAT, None)], [numpy_helper.from_array(weights, "w")])


def anynpu(*args):
    return subprocess.run(["anynpu", "bundle", *map(str, args)], capture_output=True, text=True,
                          timeout=60)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bundle")
    double = convert(folder, "double", scale(2), "--input_shape=x:1,4")
    triple = convert(folder, "triple", scale(3), "--input_shape=x:-1,4", "--dynamic_batch_size=1,2")
    done = anynpu(double, triple, "-o", folder / "all.om")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return {"double": double, "triple": triple, "all": str(folder / "all.om")}


def message():
    return acl.get_recent_err_msg()


def load_from_memory(path):
    with open(path, "rb") as file:
        data = file.read()
    return acl.mdl.bundle_load_from_mem(acl.util.bytes_to_ptr(data), len(data))


LOADERS = {"file": acl.mdl.bundle_load_from_file, "memory": load_from_memory}


def ids_of(bundle):
    count, ret = acl.mdl.bundle_get_model_num(bundle)
    assert ret == 0
    pairs = [acl.mdl.bundle_get_model_id(bundle, i) for i in range(count)]
    assert all(ret == 0 for _, ret in pairs)
    return [model for model, _ in pairs]


@pytest.mark.parametrize("loader", LOADERS.values(), ids=LOADERS)
def test_each_model_of_a_bundle_has_an_id_that_every_call_takes(files, loader, device_0):
    bundle, ret = loader(files["all"])
    assert ret == 0, message()
    models = ids_of(bundle)
    assert len(set(models)) == 2 and bundle not in models
    x = np.arange(4, dtype=np.float32)
    for model, by in zip(models, (2, 3)):
        net = Model.of_id(model)
        net.feed(x)
        if by == 3:
            assert acl.mdl.set_dynamic_batch_size(
                model, net.inputs, net.index("ascend_mbatch_shape_data"), 1) == 0
        assert net.execute() == 0, message()
        assert np.array_equal(net.read(0, 4), x * by)
        net.free()
    assert acl.mdl.bundle_unload(bundle) == 0


def test_unloading_the_bundle_unloads_its_models_and_frees_their_memory(files, device_0):
    free = acl.rt.get_mem_info(HBM)[0]
    bundle, _ = acl.mdl.bundle_load_from_file(files["all"])
    models = ids_of(bundle)
    assert acl.rt.get_mem_info(HBM)[0] < free
    assert acl.mdl.bundle_unload(bundle) == 0
    assert acl.rt.get_mem_info(HBM)[0] == free
    desc = acl.mdl.create_desc()
    for model in models:
        assert acl.mdl.get_desc(desc, model) == MODEL_ID_INVALID
        assert acl.mdl.unload(model) == MODEL_ID_INVALID
    assert acl.mdl.destroy_desc(desc) == 0


def test_a_model_that_was_unloaded_by_itself_is_not_unloaded_again(files, device_0):
    bundle, _ = acl.mdl.bundle_load_from_file(files["all"])
    first, second = ids_of(bundle)
    assert acl.mdl.unload(first) == 0
    assert acl.mdl.bundle_get_model_id(bundle, 0)[1] == MODEL_ID_INVALID
    assert "model 0 of the bundle" in message()
    assert acl.mdl.bundle_get_model_id(bundle, 1) == (second, 0)
    assert acl.mdl.bundle_get_model_num(bundle) == (2, 0)
    assert acl.mdl.bundle_unload(bundle) == 0
    assert acl.mdl.unload(second) == MODEL_ID_INVALID


def test_executions_that_are_queued_outlive_the_bundle(files, stream):
    bundle, _ = acl.mdl.bundle_load_from_file(files["all"])
    net = Model.of_id(ids_of(bundle)[0])
    x = np.arange(4, dtype=np.float32)
    net.feed(x)
    for _ in range(20):
        assert acl.mdl.execute_async(net.id, net.inputs, net.outputs, stream) == 0
    assert acl.mdl.bundle_unload(bundle) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert np.array_equal(net.read(0, 4), x * 2)
    assert net.execute() == MODEL_ID_INVALID
    net.free()


def test_all_models_are_loaded_or_none(files, tmp_path):
    """The first fits the device, the second does not."""
    large = convert(tmp_path, "large", scale(np.ones((1024, 1024))), "--input_shape=x:1,1024")
    path = str(tmp_path / "all.om")
    assert anynpu(files["double"], large, "-o", path).returncode == 0
    done = subprocess.run([sys.executable, "-c", """
import sys, acl
acl.init(), acl.rt.set_device(0)
free = acl.rt.get_mem_info(1)[0]
print(acl.mdl.bundle_load_from_file(sys.argv[1])[1], "model 1 of the bundle" in
      acl.get_recent_err_msg(), acl.rt.get_mem_info(1)[0] == free)
print(acl.mdl.load_from_file(sys.argv[2])[1])
""", path, files["double"]], capture_output=True, text=True, timeout=60,
                          env={**os.environ, "ANYNPU_DEVICE_MEMORY": "2M"})
    assert done.stdout.split() == ["245000", "True", "True", "0"], done.stdout + done.stderr


def test_an_id_of_no_bundle_gives_the_documented_code(files, device_0):
    bundle, _ = acl.mdl.bundle_load_from_file(files["all"])
    model = ids_of(bundle)[0]
    assert acl.mdl.unload(bundle) == MODEL_ID_INVALID and "aclmdlBundleGetModelId" in message()
    assert acl.mdl.bundle_unload(model) == INVALID_BUNDLE
    assert acl.mdl.bundle_unload(bundle) == 0
    for call in (acl.mdl.bundle_unload(bundle), acl.mdl.bundle_get_model_num(bundle)[1],
                 acl.mdl.bundle_get_model_id(bundle, 0)[1], acl.mdl.bundle_unload(0)):
        assert call == INVALID_BUNDLE
    assert "ACL_ERROR_INVALID_BUNDLE_MODEL_ID" in message()


def test_an_index_outside_the_bundle_is_a_wrong_parameter(files, device_0):
    bundle, _ = acl.mdl.bundle_load_from_file(files["all"])
    for index in (2, 2**40):
        assert acl.mdl.bundle_get_model_id(bundle, index)[1] == INVALID_PARAM
        text = message()
        assert f"index is {index}" in text and "expected 0 to 1" in text
    assert acl.mdl.bundle_unload(bundle) == 0


def test_models_and_bundles_are_told_apart(files, device_0):
    desc = acl.mdl.create_desc()
    for call in (lambda path: acl.mdl.load_from_file(path)[1],
                 lambda path: acl.mdl.query_size(path)[2],
                 lambda path: acl.mdl.get_desc_from_file(desc, path)):
        assert call(files["all"]) == PARSE_MODEL
        assert "aclmdlBundleLoadFromFile" in message()
    assert acl.mdl.destroy_desc(desc) == 0
    for loader in LOADERS.values():
        assert loader(files["double"])[1] == PARSE_MODEL
        text = message()
        assert "expected a bundle" in text and "aclmdlLoadFromFile" in text


def test_a_bad_bundle_loads_nothing(files, tmp_path, device_0):
    free = acl.rt.get_mem_info(HBM)[0]
    whole = open(files["all"], "rb").read()
    bad = {"short": whole[:-64], "flipped": whole[:-200] + bytes([whole[-200] ^ 1]) + whole[-199:],
           "empty": b""}
    for name, data in bad.items():
        (tmp_path / name).write_bytes(data)
        assert acl.mdl.bundle_load_from_file(str(tmp_path / name))[1] == PARSE_MODEL, name
        assert message()
    assert acl.mdl.bundle_load_from_file(str(tmp_path / "none"))[1] == MODEL_PATH_INVALID
    assert acl.rt.get_mem_info(HBM)[0] == free


def test_a_bundle_needs_acl_and_a_context(files):
    assert acl.mdl.bundle_load_from_file(files["all"])[1] == UNINITIALIZE
    assert acl.init() == 0
    assert acl.mdl.bundle_load_from_file(files["all"])[1] == CONTEXT_NULL
    assert acl.finalize() == 0


def test_finalize_unloads_what_is_left(files):
    for _ in range(2):
        assert acl.init() == 0 and acl.rt.set_device(0) == 0
        bundle, ret = acl.mdl.bundle_load_from_file(files["all"])
        assert ret == 0
        assert acl.rt.reset_device(0) == 0 and acl.finalize() == 0
    assert acl.init() == 0
    assert acl.mdl.bundle_get_model_num(bundle)[1] == INVALID_BUNDLE
    assert acl.finalize() == 0


def test_the_command_lists_a_bundle_one_model_a_line(files):
    done = anynpu("--list", files["all"])
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert first == (f"0 double {os.path.getsize(files['double'])} bytes: "
                     "x: float32[1, 4] -> Mul_0:0:y: float32[1, 4]")
    assert second.startswith("1 triple ") and "ascend_mbatch_shape_data" in second


@pytest.mark.parametrize("args, code, sentence", [
    (["--list", "{double}"], 1, "expected a bundle of them"),
    (["--list", "{all}", "{all}"], 2, "--list takes one bundle, 2 files are given"),
    (["{double}"], 2, "one of the arguments -o/--output --list is required"),
    (["{double}", "{all}", "-o", "{new}"], 1, "is a bundle of models, expected one model"),
    (["{double}", "{none}", "-o", "{new}"], 1, "none.om"),
    (["{double}", "{triple}", "-o", "{double}"], 1, "would replace one of its models"),
    (["{double}", "-o", "{new}/sub/all.om"], 1, "sub/all.om"),
])
def test_the_command_says_what_is_wrong_and_writes_nothing(files, tmp_path, args, code, sentence):
    names = {**files, "new": tmp_path / "new.om", "none": tmp_path / "none.om"}
    done = anynpu(*(arg.format(**names) for arg in args))
    assert done.returncode == code and sentence in done.stderr, done.stderr
    assert os.listdir(tmp_path) == []
