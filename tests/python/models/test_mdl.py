# SPDX-License-Identifier: Apache-2.0
"""acl.mdl: loading, descriptions, datasets and execution, against the onnx package's reference."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from model_datasets import Model, convert
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx_models import network

import acl

INVALID_PARAM, PARSE_MODEL, DESERIALIZE_MODEL = 100000, 100013, 100012
INPUT_NOT_MATCH, OUTPUT_NOT_MATCH = 100017, 100018
MODEL_ID_INVALID, MODEL_PATH_INVALID = 145003, 145002
NO_CONTEXT, OTHER_CONTEXT, UNALIGNED = 107002, 107004, 200003
LOAD_TYPE, PATH, MEM_ADDR, MEM_SIZE, WEIGHT_ADDR, WEIGHT_SIZE, WORK_ADDR, WORK_SIZE = (
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    8,
)


def classifier():
    """Conv, BatchNormalization, Relu, pools, residual Add, Concat, Gemm, Softmax: two outputs."""
    rng = np.random.default_rng(5)

    def weight(name, *shape, low=-0.5, high=0.5):
        return numpy_helper.from_array(rng.uniform(low, high, shape).astype(np.float32), name)

    weights = [
        weight("w1", 8, 3, 3, 3),
        weight("s", 8),
        weight("b", 8),
        weight("m", 8),
        weight("v", 8, low=0.5),
        weight("w2", 8, 8, 3, 3),
        weight("b2", 8),
        weight("fc", 10, 16),
        weight("fb", 10),
        numpy_helper.from_array(np.float32(0), "low"),
        numpy_helper.from_array(np.float32(6), "high"),
    ]
    node = helper.make_node
    nodes = [
        node("Conv", ["image", "w1"], ["c1"], name="conv1", pads=[1] * 4),
        node("BatchNormalization", ["c1", "s", "b", "m", "v"], ["n1"], name="bn1"),
        node("Relu", ["n1"], ["r1"], name="relu1"),
        node("Conv", ["r1", "w2", "b2"], ["c2"], name="conv2", pads=[1] * 4),
        node("Add", ["c2", "r1"], ["a"], name="add"),
        node("Clip", ["a", "low", "high"], ["k"], name="clip"),
        node("MaxPool", ["k"], ["p"], name="pool", kernel_shape=[2, 2], strides=[2, 2]),
        node("AveragePool", ["p"], ["q"], name="mean", kernel_shape=[2, 2], strides=[2, 2]),
        node("GlobalAveragePool", ["q"], ["g"], name="gap"),
        node("Flatten", ["g"], ["f"], name="flat"),
        node("Concat", ["f", "f"], ["ff"], name="join", axis=1),
        node("Gemm", ["ff", "fc", "fb"], ["logits"], name="fc", transB=1),
        node("Softmax", ["logits"], ["prob"], name="soft", axis=1),
    ]
    scores = [(name, TensorProto.FLOAT, ["N", 10]) for name in ("prob", "logits")]
    return network(nodes, [("image", TensorProto.FLOAT, ["N", 3, 16, 16])], scores, weights,
                   opset=15)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mdl")
    model = classifier()
    om = convert(folder, "net", model, "--input_shape=image:2,3,16,16")
    image = np.random.default_rng(1).standard_normal((2, 3, 16, 16)).astype(np.float32)
    expected = ReferenceEvaluator(model).run(None, {"image": image})
    return {"om": om, "image": image, "expected": expected}

pytestmark = pytest.mark.usefixtures("runtime")


@pytest.fixture
def model_id(files):
    model, ret = acl.mdl.load_from_file(files["om"])
    assert ret == 0, acl.get_recent_err_msg()
    yield model
    assert acl.mdl.unload(model) == 0


def check(results, expected):
    for result, want in zip(results, expected):
        np.testing.assert_allclose(result, want.ravel(), rtol=1e-4, atol=1e-6)


def run_once(model, files):
    runner = Model.of_id(model)
    runner.run(files["image"])
    check(runner.read_all(), files["expected"])
    runner.free()


def test_execute_gives_what_the_reference_gives(model_id, files):
    run_once(model_id, files)


def test_the_description_tells_names_types_dims_and_sizes(model_id):
    desc = acl.mdl.create_desc()
    assert acl.mdl.get_desc(desc, model_id) == 0
    assert acl.mdl.get_num_inputs(desc) == 1
    assert acl.mdl.get_num_outputs(desc) == 2
    assert acl.mdl.get_input_name_by_index(desc, 0) == "image"
    assert acl.mdl.get_output_name_by_index(desc, 0) == "soft:0:prob"
    assert acl.mdl.get_output_name_by_index(desc, 1) == "fc:0:logits"
    assert acl.mdl.get_input_size_by_index(desc, 0) == 2 * 3 * 16 * 16 * 4
    assert acl.mdl.get_output_size_by_index(desc, 1) == 2 * 10 * 4
    assert acl.mdl.get_input_format(desc, 0) == 0
    assert acl.mdl.get_output_format(desc, 0) == 2
    assert acl.mdl.get_input_data_type(desc, 0) == 0
    assert acl.mdl.get_output_data_type(desc, 0) == 0
    dims, ret = acl.mdl.get_input_dims(desc, 0)
    assert ret == 0
    assert (dims["name"], dims["dimCount"], dims["dims"]) == ("image", 4, [2, 3, 16, 16])
    assert acl.mdl.get_input_dims_v2(desc, 0) == (dims, 0)
    for getter in (acl.mdl.get_output_dims, acl.mdl.get_cur_output_dims):
        dims, ret = getter(desc, 1)
        assert ret == 0 and dims["dims"] == [2, 10]
    assert acl.mdl.get_input_index_by_name(desc, "image") == (0, 0)
    assert acl.mdl.get_output_index_by_name(desc, "fc:0:logits") == (1, 0)
    assert acl.mdl.get_output_index_by_name(desc, "logits") == (1, 0)
    assert acl.mdl.get_tensor_real_name(desc, "image") == "image"
    assert acl.mdl.destroy_desc(desc) == 0


def test_the_description_comes_from_file_and_memory_too(files):
    desc = acl.mdl.create_desc()
    assert acl.mdl.get_desc_from_file(desc, files["om"]) == 0
    assert acl.mdl.get_input_name_by_index(desc, 0) == "image"
    raw = open(files["om"], "rb").read()
    assert acl.mdl.get_desc_from_mem(desc, acl.util.bytes_to_ptr(raw), len(raw)) == 0
    assert acl.mdl.get_num_outputs(desc) == 2
    assert acl.mdl.destroy_desc(desc) == 0


def test_load_from_memory_keeps_no_pointer_to_it(files):
    raw = open(files["om"], "rb").read()
    model, ret = acl.mdl.load_from_mem(acl.util.bytes_to_ptr(raw), len(raw))
    assert ret == 0
    del raw
    run_once(model, files)
    assert acl.mdl.unload(model) == 0


def test_load_with_memory_of_the_program(files):
    work, weight, ret = acl.mdl.query_size(files["om"])
    assert ret == 0 and work > 0 and weight > 0
    raw = open(files["om"], "rb").read()
    assert acl.mdl.query_size_from_mem(acl.util.bytes_to_ptr(raw), len(raw)) == (work, weight, 0)
    work_ptr, _ = acl.rt.malloc(work, 0)
    weight_ptr, _ = acl.rt.malloc(weight, 0)
    for load in (
        lambda *m: acl.mdl.load_from_file_with_mem(files["om"], *m),
        lambda *m: acl.mdl.load_from_mem_with_mem(acl.util.bytes_to_ptr(raw), len(raw), *m),
    ):
        for memory in [
            (work_ptr, work, weight_ptr, weight),
            (0, 0, weight_ptr, weight),
            (work_ptr, work, 0, 0),
        ]:
            for address, size in ((work_ptr, work), (weight_ptr, weight)):
                assert acl.rt.memset(address, size, 0, size) == 0
            model, ret = load(*memory)
            assert ret == 0, acl.get_recent_err_msg()
            run_once(model, files)
            assert acl.mdl.unload(model) == 0
            for address, size in (memory[:2], memory[2:]):
                written = size == 0 or Model.read_memory(address, (size,), np.uint8).any()
                assert written, "the model lies and works in it"
        for memory, code, sentence in [
            ((work_ptr, 64, weight_ptr, weight), INVALID_PARAM, "work memory has 64 bytes"),
            ((work_ptr, work, weight_ptr, weight - 1), INVALID_PARAM, "weight memory has"),
            ((work_ptr + 4, work, weight_ptr, weight), UNALIGNED, "expected a multiple of 64"),
            ((16, work, weight_ptr, weight), INVALID_PARAM, "is not allocated"),
        ]:
            assert load(*memory) == (0, code)
            assert sentence in acl.get_recent_err_msg()
    assert acl.rt.free(work_ptr) == 0
    assert acl.rt.free(weight_ptr) == 0


def test_load_with_config(files):
    raw = open(files["om"], "rb").read()
    work, weight, _ = acl.mdl.query_size(files["om"])
    work_ptr, _ = acl.rt.malloc(work, 0)
    weight_ptr, _ = acl.rt.malloc(weight, 0)
    memory = [
        (WORK_ADDR, work_ptr),
        (WORK_SIZE, work),
        (WEIGHT_ADDR, weight_ptr),
        (WEIGHT_SIZE, weight),
    ]
    from_memory = [(MEM_ADDR, acl.util.bytes_to_ptr(raw)), (MEM_SIZE, len(raw))]
    for options in (
        [(LOAD_TYPE, 1), (PATH, files["om"])],
        [(LOAD_TYPE, 2), (PATH, files["om"]), *memory],
        [(LOAD_TYPE, 3), *from_memory],
        [(LOAD_TYPE, 4), *from_memory, *memory],
    ):
        config = acl.mdl.create_config_handle()
        for key, value in options:
            assert acl.mdl.set_config_opt(config, key, value) == 0, acl.get_recent_err_msg()
        model, ret = acl.mdl.load_with_config(config)
        assert ret == 0, acl.get_recent_err_msg()
        assert acl.mdl.destroy_config_handle(config) == 0
        run_once(model, files)
        assert acl.mdl.unload(model) == 0
    assert acl.rt.free(work_ptr) == 0
    assert acl.rt.free(weight_ptr) == 0


def test_an_incomplete_config_is_refused():
    config = acl.mdl.create_config_handle()
    assert acl.mdl.load_with_config(config)[1] == INVALID_PARAM
    assert acl.mdl.set_config_opt(config, LOAD_TYPE, 1) == 0
    assert acl.mdl.load_with_config(config)[1] == INVALID_PARAM
    assert "ACL_MDL_PATH_PTR" in acl.get_recent_err_msg()
    for load_type in (5, 6, 7):
        assert acl.mdl.set_config_opt(config, LOAD_TYPE, load_type) == 0
        assert acl.mdl.load_with_config(config)[1] == INVALID_PARAM
    assert acl.mdl.destroy_config_handle(config) == 0


def test_execute_async_on_streams(model_id, files):
    stream, ret = acl.rt.create_stream()
    assert ret == 0
    for target in (stream, 0):
        runner = Model.of_id(model_id)
        runner.feed(files["image"])
        assert acl.mdl.execute_async(model_id, runner.inputs, runner.outputs, target) == 0
        assert acl.rt.synchronize_stream(target) == 0
        check(runner.read_all(), files["expected"])
        runner.free()
    assert acl.rt.destroy_stream(stream) == 0


def test_execute_v2_takes_a_stream_and_options(model_id, files):
    runner = Model.of_id(model_id)
    runner.feed(files["image"])
    config = acl.mdl.create_exec_config_handle()
    assert acl.mdl.set_exec_config_opt(config, 0, 10000) == 0
    assert acl.mdl.execute_v2(model_id, runner.inputs, runner.outputs, 0, config) == 0
    check(runner.read_all(), files["expected"])
    assert acl.mdl.destroy_exec_config_handle(config) == 0
    runner.free()


def test_several_threads_execute_one_model_at_once(model_id, files):
    context, _ = acl.rt.get_context()
    problems = []

    def work():
        try:
            assert acl.rt.set_context(context) == 0
            for _ in range(10):
                run_once(model_id, files)
        except AssertionError as problem:
            problems.append(problem)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems


def test_the_same_bytes_every_time(model_id, files):
    runner = Model.of_id(model_id)
    runner.feed(files["image"])
    seen = set()
    for _ in range(5):
        assert acl.mdl.execute(model_id, runner.inputs, runner.outputs) == 0
        seen.add(b"".join(result.tobytes() for result in runner.read_all()))
    assert len(seen) == 1
    runner.free()


def test_a_dataset_that_does_not_fit_is_refused_with_both_numbers(model_id):
    need = 2 * 3 * 16 * 16 * 4
    small = Model.of_id(model_id, input_sizes=[need - 1])
    assert acl.mdl.execute(model_id, small.inputs, small.outputs) == INPUT_NOT_MATCH
    message = acl.get_recent_err_msg()
    assert str(need - 1) in message and str(need) in message and "image" in message
    small.free()
    few = Model.of_id(model_id, output_sizes=[80])
    assert acl.mdl.execute(model_id, few.inputs, few.outputs) == OUTPUT_NOT_MATCH
    assert "has 1 buffers" in acl.get_recent_err_msg()
    few.free()
    large = Model.of_id(model_id, input_sizes=[need + 64], output_sizes=[80, 4096])
    assert acl.mdl.execute(model_id, large.inputs, large.outputs) == 0
    large.free()


EXECUTIONS = {
    "execute": acl.mdl.execute,
    "execute_async": lambda *args: acl.mdl.execute_async(*args, 0),
    "execute_v2": lambda *args: acl.mdl.execute_v2(*args, 0, 0),
    "execute_async_v2": lambda *args: acl.mdl.execute_async_v2(*args, 0, 0),
}


@pytest.mark.parametrize("execute", EXECUTIONS.values(), ids=EXECUTIONS)
def test_missing_and_spare_buffers_are_refused_by_every_execution(model_id, execute):
    runner = Model.of_id(model_id)
    empty, spare = acl.mdl.create_dataset(), acl.mdl.create_dataset()
    for _ in range(3):
        assert acl.mdl.add_dataset_buffer(spare, runner.output_data[0][1])[1] == 0
    for inputs, outputs, code, count in [
        (empty, runner.outputs, INPUT_NOT_MATCH, 0),
        (spare, runner.outputs, INPUT_NOT_MATCH, 3),
        (runner.inputs, empty, OUTPUT_NOT_MATCH, 0),
        (runner.inputs, spare, OUTPUT_NOT_MATCH, 3),
    ]:
        assert execute(model_id, inputs, outputs) == code
        assert f"dataset has {count} buffers" in acl.get_recent_err_msg()
    assert acl.rt.synchronize_stream(0) == 0, "nothing was queued"
    assert acl.mdl.destroy_dataset(empty) == acl.mdl.destroy_dataset(spare) == 0
    runner.free()


def test_bad_memory_and_handles_are_refused(model_id):
    runner = Model.of_id(model_id)
    freed, _ = acl.rt.malloc(6144, 0)
    assert acl.rt.free(freed) == 0
    for address in (0, 16, freed):
        dataset = acl.mdl.create_dataset()
        buffer = acl.create_data_buffer(address, 6144)
        acl.mdl.add_dataset_buffer(dataset, buffer)
        assert acl.mdl.execute(model_id, dataset, runner.outputs) == INVALID_PARAM, hex(address)
        assert "in input 0 ('image') of the dataset" in acl.get_recent_err_msg()
        acl.destroy_data_buffer(buffer)
        assert acl.mdl.execute(model_id, dataset, runner.outputs) == INVALID_PARAM
        assert acl.mdl.destroy_dataset(dataset) == 0
        assert acl.mdl.execute(model_id, dataset, runner.outputs) == INVALID_PARAM
    assert acl.mdl.execute(model_id, 0, runner.outputs) == INVALID_PARAM
    assert acl.mdl.execute(model_id, runner.desc, runner.outputs) == INVALID_PARAM
    runner.free()


def test_unknown_ids_have_their_code(files):
    model, _ = acl.mdl.load_from_file(files["om"])
    runner = Model.of_id(model)
    assert acl.mdl.unload(model) == 0
    for wrong in (model, 0, 65535, 2**32 - 1):
        assert acl.mdl.unload(wrong) == MODEL_ID_INVALID
        assert acl.mdl.execute(wrong, runner.inputs, runner.outputs) == MODEL_ID_INVALID
        assert acl.mdl.get_desc(runner.desc, wrong) == MODEL_ID_INVALID
        assert "load" in acl.get_recent_err_msg()
    runner.free()


def test_a_model_belongs_to_its_device(files):
    model, _ = acl.mdl.load_from_file(files["om"])
    runner = Model.of_id(model)
    assert acl.rt.set_device(1) == 0
    assert acl.mdl.execute(model, runner.inputs, runner.outputs) == OTHER_CONTEXT
    assert "device 0" in acl.get_recent_err_msg()
    assert acl.rt.reset_device(1) == 0
    assert acl.rt.set_device(0) == 0
    assert acl.rt.reset_device(0) == 0
    runner.free()
    assert acl.mdl.unload(model) == 0


def test_an_empty_description_says_so():
    desc = acl.mdl.create_desc()
    assert acl.mdl.get_num_inputs(desc) == 0
    assert "aclmdlGetDesc" in acl.get_recent_err_msg()
    assert acl.mdl.destroy_desc(desc) == 0
    assert acl.mdl.destroy_desc(desc) == INVALID_PARAM


def test_indexes_and_names_out_of_range(model_id):
    desc = acl.mdl.create_desc()
    assert acl.mdl.get_desc(desc, model_id) == 0
    assert acl.mdl.get_input_size_by_index(desc, 1) == 0
    assert "has 1 inputs" in acl.get_recent_err_msg()
    assert acl.mdl.get_input_dims(desc, 9)[1] == INVALID_PARAM
    assert acl.mdl.get_input_index_by_name(desc, "nothing")[1] == INVALID_PARAM
    assert "image" in acl.get_recent_err_msg()
    assert acl.mdl.destroy_desc(desc) == 0


def test_a_description_is_readable_after_its_model_was_unloaded(files):
    model, _ = acl.mdl.load_from_file(files["om"])
    desc = acl.mdl.create_desc()
    assert acl.mdl.get_desc(desc, model) == 0
    size = acl.mdl.get_input_size_by_index(desc, 0)
    assert acl.mdl.unload(model) == 0
    assert acl.mdl.get_input_size_by_index(desc, 0) == size > 0
    assert acl.mdl.destroy_desc(desc) == 0


def test_data_buffers_outlive_their_dataset_and_an_execution_needs_them(model_id):
    runner = Model.of_id(model_id)
    buffer = acl.mdl.get_dataset_buffer(runner.inputs, 0)
    other = acl.mdl.create_dataset()
    assert acl.mdl.add_dataset_buffer(other, buffer)[1] == 0
    assert acl.mdl.destroy_dataset(other) == 0
    assert acl.get_data_buffer_size(buffer) > 0, "each is destroyed by itself"
    gone = acl.create_data_buffer(acl.get_data_buffer_addr(buffer),
                                  acl.get_data_buffer_size(buffer))
    other = acl.mdl.create_dataset()
    assert acl.mdl.add_dataset_buffer(other, gone)[1] == 0
    assert acl.destroy_data_buffer(gone) == 0
    assert acl.mdl.execute(model_id, other, runner.outputs) == INVALID_PARAM
    assert acl.mdl.destroy_dataset(other) == 0
    runner.free()


def test_dataset_buffers_come_back_in_order():
    dataset = acl.mdl.create_dataset()
    memory, _ = acl.rt.malloc(64, 0)
    buffers = [acl.create_data_buffer(memory, 64) for _ in range(3)]
    for buffer in buffers:
        assert acl.mdl.add_dataset_buffer(dataset, buffer) == (dataset, 0)
    assert acl.mdl.get_dataset_num_buffers(dataset) == 3
    assert [acl.mdl.get_dataset_buffer(dataset, i) for i in range(3)] == buffers
    assert acl.mdl.get_dataset_buffer(dataset, 3) == 0
    assert acl.mdl.add_dataset_buffer(dataset, 0)[1] == INVALID_PARAM
    for buffer in buffers:
        assert acl.destroy_data_buffer(buffer) == 0
    assert acl.mdl.destroy_dataset(dataset) == 0
    assert acl.mdl.destroy_dataset(dataset) == INVALID_PARAM
    assert acl.rt.free(memory) == 0


def test_damaged_files_are_refused(files, tmp_path):
    good = open(files["om"], "rb").read()
    bad = tmp_path / "bad.om"

    def load(data):
        bad.write_bytes(data)
        model, ret = acl.mdl.load_from_file(str(bad))
        assert acl.get_recent_err_msg()
        return ret

    for size in (0, 7, 8, 63, 64, len(good) // 2, len(good) - 1):
        assert load(good[:size]) == PARSE_MODEL, size
    for place in range(0, len(good), 997):
        flipped = bytearray(good)
        flipped[place] ^= 16
        assert load(bytes(flipped)) in (PARSE_MODEL, DESERIALIZE_MODEL), place
    assert load(b"IMOD" + bytes(1000)) == PARSE_MODEL  # the magic of the vendor's files
    assert acl.mdl.load_from_file("/nowhere/x.om")[1] == MODEL_PATH_INVALID
    assert acl.mdl.load_from_mem(acl.util.bytes_to_ptr(good), 100)[1] == PARSE_MODEL
    assert acl.mdl.load_from_mem(0, 100)[1] == INVALID_PARAM
    assert acl.mdl.query_size(str(bad))[2] == PARSE_MODEL


def test_loading_needs_a_context(files):
    result = []
    thread = threading.Thread(target=lambda: result.append(acl.mdl.load_from_file(files["om"])))
    thread.start()
    thread.join()
    assert result == [(0, NO_CONTEXT)]


def test_calls_before_init_are_refused():
    code = (
        "import acl\n"
        "assert acl.mdl.load_from_file('x.om')[1] == 100001\n"
        "assert acl.mdl.execute(1, 0, 0) == 100001\n"
    )
    env = dict(os.environ)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=env, timeout=300
    )
    assert done.returncode == 0, done.stderr
