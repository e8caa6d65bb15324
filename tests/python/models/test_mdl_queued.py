# SPDX-License-Identifier: Apache-2.0
"""Executions that are queued: they run with what was chosen and given when the call was made,
whatever becomes of the model, its datasets and its memory before their turn."""
import numpy as np
import pytest
from held_stream import HeldStream
from model_datasets import Model, convert
from shape_models import product

import acl

MODEL_ID_INVALID = 145003

pytestmark = pytest.mark.usefixtures("runtime")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("queued")
    return {
        "fixed": convert(folder, "fixed", product(), "--input_shape=a:3,4;b:4"),
        "gears": convert(folder, "gears", product(), "--input_shape=a:-1,4;b:4",
                         "--input_format=ND", "--dynamic_dims=1;3"),
        "range": convert(folder, "range", product(), "--input_shape=a:1~3,4;b:4"),
    }


def load(path, **sizes):
    model = Model(path, **sizes)
    model.a, model.b = np.arange(12, dtype=np.float32).reshape(3, 4), np.float32([1, 2, 3, 4])
    model.feed(model.a, model.b)
    return model


def clear(model):
    memory, _, size = model.output_data[0]
    assert acl.rt.memset(memory, size, 0, size) == 0


def submit(model, stream):
    ret = acl.mdl.execute_async(model.id, model.inputs, model.outputs, stream.handle)
    assert ret == 0, acl.get_recent_err_msg()


def choose(model, rows):
    gear = {"name": "", "dimCount": 3, "dims": [rows, 4, 4]}
    ret = acl.mdl.set_input_dynamic_dims(model.id, model.inputs, 2, gear)
    assert ret == 0, acl.get_recent_err_msg()


def describe(model, rows):
    desc = acl.create_tensor_desc(0, [rows, 4], 0)
    assert acl.mdl.set_dataset_tensor_desc(model.inputs, desc, 0)[1] == 0
    acl.destroy_tensor_desc(desc)


def wait(stream):
    stream.open()
    assert acl.rt.synchronize_stream(stream.handle) == 0, acl.get_recent_err_msg()


@pytest.mark.parametrize("kind", ["fixed", "gears", "range"])
def test_a_model_that_is_unloaded_runs_what_is_queued(files, kind):
    model = load(files[kind], output_sizes=[48], input_sizes=[48, 16] + [8] * (kind == "gears"))
    if kind == "range":
        describe(model, 3)
    with HeldStream() as stream:
        clear(model)
        for _ in range(5):
            submit(model, stream)
        assert acl.mdl.unload(model.id) == 0
        assert not model.read(0, (3, 4)).any(), "none has run yet"
        code = acl.mdl.execute_async(model.id, model.inputs, model.outputs, stream.handle)
        assert code == MODEL_ID_INVALID, "no more are taken"
        wait(stream)
    np.testing.assert_array_equal(model.read(0, (3, 4)), model.a + model.b)
    model.free()


def test_memory_of_the_program_is_used_until_the_last_queued_execution_has_run(files):
    work, weight, ret = acl.mdl.query_size(files["fixed"])
    assert ret == 0
    memory, _ = acl.rt.malloc(work + 64, 0)
    model_id, ret = acl.mdl.load_from_file_with_mem(files["fixed"], memory, work + 64, 0, 0)
    assert ret == 0, acl.get_recent_err_msg()
    model = Model.of_id(model_id)
    a, b = np.full((3, 4), 2, np.float32), np.float32([1, 2, 3, 4])
    model.feed(a, b)
    with HeldStream() as stream:
        submit(model, stream)
        assert acl.mdl.unload(model_id) == 0
        wait(stream)
    np.testing.assert_array_equal(model.read(0, (3, 4)), a + b)
    model.free()
    assert acl.rt.free(memory) == 0


def check_that_the_call_has_one_row(model, set_rows):
    with HeldStream() as stream:
        clear(model)
        set_rows(model, 1)
        submit(model, stream)
        set_rows(model, 3)
        wait(stream)
    want = model.a + model.b
    want[1:] = 0
    np.testing.assert_array_equal(model.read(0, (3, 4)), want, "one row alone was written")


def test_the_gear_is_the_one_of_the_call(files):
    model = load(files["gears"])
    check_that_the_call_has_one_row(model, choose)
    model.close()


def test_the_shape_is_the_one_of_the_call(files):
    model = load(files["range"], input_sizes=[48, 16], output_sizes=[48])
    check_that_the_call_has_one_row(model, describe)
    desc = acl.mdl.get_dataset_tensor_desc(model.outputs, 0)
    assert [acl.get_tensor_desc_dim_v2(desc, i)[0] for i in range(2)] == [1, 4]
    model.close()


@pytest.mark.parametrize("kind", ["fixed", "range"])
def test_datasets_and_data_buffers_may_be_destroyed_before_their_turn(files, kind):
    model = load(files[kind], input_sizes=[48, 16], output_sizes=[48])
    if kind == "range":
        describe(model, 3)
    with HeldStream() as stream:
        clear(model)
        submit(model, stream)
        for _, buffer, _ in model.input_data + model.output_data:
            assert acl.destroy_data_buffer(buffer) == 0
        assert acl.mdl.destroy_dataset(model.inputs) == 0
        assert acl.mdl.destroy_dataset(model.outputs) == 0
        wait(stream)
    np.testing.assert_array_equal(model.read(0, (3, 4)), model.a + model.b)
    for memory, _, _ in model.input_data + model.output_data:
        assert acl.rt.free(memory) == 0
    assert acl.mdl.destroy_desc(model.desc) == 0
    assert acl.mdl.unload(model.id) == 0
