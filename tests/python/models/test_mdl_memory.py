# SPDX-License-Identifier: Apache-2.0
"""Device memory of models: what a loaded model occupies counts as used until it is unloaded."""
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from model_datasets import Model, convert
from onnx import TensorProto, helper, numpy_helper

import acl

GE_MEMORY_ALLOCATION = 245000
HBM = 1
MEBI = 1 << 20
SIDE = 384  # of matrices that take long enough for runs to meet


def product(name="net", rows=1024):
    """A matrix product whose weights take 4 MiB."""
    weights = np.ones((rows, 1024), np.float32)
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])], name,
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", rows])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 1024])],
        [numpy_helper.from_array(weights, "w")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("memory")
    return {"fixed": convert(folder, "fixed", product(), "--input_shape=x:8,1024"),
            "gears": convert(folder, "gears", product(), "--input_shape=x:-1,1024",
                             "--dynamic_batch_size=1,8,32")}


def used():
    free, total, ret = acl.rt.get_mem_info(HBM)
    assert ret == 0
    return total - free


@pytest.mark.parametrize("name", ["fixed", "gears"])
def test_a_loaded_model_occupies_its_memory_until_it_is_unloaded(models, name, device_0):
    before = used()
    work, weight, ret = acl.mdl.query_size(models[name])
    assert ret == 0 and weight >= 4 * MEBI
    ids = [acl.mdl.load_from_file(models[name])[0] for _ in range(2)]
    assert 2 * (work + weight) <= used() - before <= 2 * (work + weight + 8192)
    for model in ids:
        assert acl.mdl.unload(model) == 0
    assert used() == before


def test_memory_of_the_program_is_not_counted_twice(models, device_0):
    work, weight, _ = acl.mdl.query_size(models["fixed"])
    work_memory, _ = acl.rt.malloc(work, 0)
    weight_memory, _ = acl.rt.malloc(weight, 0)
    before = used()
    model, ret = acl.mdl.load_from_file_with_mem(models["fixed"], work_memory, work, weight_memory,
                                                 weight)
    assert ret == 0 and used() == before
    assert acl.mdl.unload(model) == 0
    acl.rt.free(work_memory), acl.rt.free(weight_memory)


def chain():
    """Six products that roll the columns: what is between lies in the work memory."""
    names = ["x", *"abcde", "y"]
    nodes = [helper.make_node("MatMul", [names[i], "w"], [names[i + 1]]) for i in range(6)]
    tensors = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", SIDE])
               for name in ("x", "y")]
    roll = numpy_helper.from_array(np.roll(np.eye(SIDE, dtype=np.float32), 1, axis=1), "w")
    graph = helper.make_graph(nodes, "chain", tensors[:1], tensors[1:], [roll])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.parametrize("options", [[f"--input_shape=x:{SIDE},{SIDE}"],
                                     [f"--input_shape=x:-1,{SIDE}",
                                      f"--dynamic_batch_size={SIDE},{SIDE // 2}"]],
                         ids=["fixed", "gears"])
def test_executions_that_share_memory_of_the_program_take_turns(tmp_path, device_0, options):
    path = convert(tmp_path, "chain", chain(), *options)
    work, weight, ret = acl.mdl.query_size(path)
    assert ret == 0 and work >= SIDE * SIDE * 4
    work_memory, _ = acl.rt.malloc(work, 0)
    weight_memory, _ = acl.rt.malloc(weight, 0)
    model_id, ret = acl.mdl.load_from_file_with_mem(path, work_memory, work, weight_memory, weight)
    assert ret == 0, acl.get_recent_err_msg()
    context, _ = acl.rt.get_context()
    wrong = []

    def run(seed, asynchronous):
        assert acl.rt.set_context(context) == 0
        model, rows = Model.of_id(model_id), SIDE
        if len(model.input_data) == 2:
            rows = SIDE // (seed % 2 + 1)
            assert acl.mdl.set_dynamic_batch_size(model_id, model.inputs, 1, rows) == 0
        x = np.random.default_rng(seed).integers(0, 99, (rows, SIDE)).astype(np.float32)
        model.feed(x)
        for _ in range(15):
            code = model.execute_on_stream() if asynchronous else model.execute()
            if code or not np.array_equal(model.read(0, x.shape), np.roll(x, 6, axis=1)):
                wrong.append((seed, code))
        model.free()

    threads = [threading.Thread(target=run, args=(seed, seed > 1)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert acl.mdl.unload(model_id) == 0
    acl.rt.free(work_memory), acl.rt.free(weight_memory)


def test_a_model_that_does_not_fit_the_device_is_refused(models):
    done = subprocess.run([sys.executable, "-c", """
import sys, acl
acl.init(), acl.rt.set_device(0)
memory, ret = acl.rt.malloc(6 << 20, 0)
_, total, _ = acl.rt.get_mem_info(1)
print(ret, total >> 20, acl.mdl.load_from_file(sys.argv[1])[1])
print(acl.get_recent_err_msg())
acl.rt.free(memory)
print(acl.mdl.load_from_file(sys.argv[1])[1])
""", models["fixed"]], capture_output=True, text=True, timeout=300,
                          env={**os.environ, "ANYNPU_DEVICE_MEMORY": "8M"})
    lines = done.stdout.splitlines()
    assert lines[0] == f"0 8 {GE_MEMORY_ALLOCATION}", done.stdout + done.stderr
    assert "for the weights and the work of the model" in done.stdout
    assert "device 0 has" in done.stdout and lines[-1] == "0"


def test_a_model_is_loaded_part_by_part_with_the_sizes_of_query_exe_om_desc(models, device_0):
    sizes, ret = acl.mdl.query_exe_om_desc(models["fixed"])
    assert ret == 0, acl.get_recent_err_msg()
    assert (sizes["workSize"], sizes["weightSize"], 0) == acl.mdl.query_size(models["fixed"])
    load_type, path, weight, work = 1, 2, 5, 7
    config, memory = acl.mdl.create_config_handle(), []
    options = [(load_type, 2), (path, models["fixed"])]
    for part, attribute in (("workSize", work), ("weightSize", weight), ("modelDescSize", 15),
                            ("kernelSize", 17), ("kernelArgsSize", 19), ("staticTaskSize", 21),
                            ("dynamicTaskSize", 23), ("fifoTaskSize", 26)):
        memory.append(acl.rt.malloc(max(sizes[part], 64), 0)[0])
        options += [(attribute, memory[-1]), (attribute + 1, sizes[part])]
    for attribute, value in options:
        assert acl.mdl.set_config_opt(config, attribute, value) == 0, acl.get_recent_err_msg()
    before = used()
    model, ret = acl.mdl.load_with_config(config)
    assert ret == 0, acl.get_recent_err_msg()
    assert used() - before < MEBI, "the model lies in the memory given"
    assert acl.mdl.unload(model) == 0
    assert acl.mdl.destroy_config_handle(config) == 0
    for address in memory:
        assert acl.rt.free(address) == 0
