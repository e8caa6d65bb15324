# SPDX-License-Identifier: Apache-2.0
"""Models with gears (guide 7.6.1): dynamic batch, image size and dims, from atc to execution."""

import os
import subprocess
import sys

import numpy as np
import onnx
import pytest
from build_tree import SUPPORT
from model_datasets import Model, atc, convert
from onnx.reference import ReferenceEvaluator
from shape_models import image, net, product

import acl

INVALID_PARAM, INPUT_NOT_MATCH, NOT_DYNAMIC, GEAR_INVALID, LENGTH_INVALID = (
    100000,
    100017,
    100019,
    145013,
    145012,
)
GEAR_INPUT = "ascend_mbatch_shape_data"

pytestmark = pytest.mark.usefixtures("runtime")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gears")
    return {
        "fixed": convert(folder, "fixed", net(), "--input_shape=image:1,3,8,8"),
        "batch": convert(
            folder, "batch", net(), "--input_shape=image:-1,3,8,8", "--dynamic_batch_size=1,4,2"
        ),
        "image": convert(
            folder,
            "image",
            net(),
            "--input_shape=image:2,3,-1,-1",
            "--dynamic_image_size=8,8;16,12;4,6",
        ),
        "dims": convert(
            folder,
            "dims",
            product(),
            "--input_shape=a:-1,-1;b:-1",
            "--input_format=ND",
            "--dynamic_dims=2,3,3;5,4,4;1,7,7",
        ),
        "net": net(),
        "product": product(),
    }


@pytest.fixture
def load(files):
    made = []

    def make(name, **sizes):
        made.append(Model(files[name], **sizes))
        return made[-1]

    yield make
    for model in made:
        model.close()


def expected(model, **inputs):
    return ReferenceEvaluator(model).run(None, inputs)


def test_a_model_with_batch_gears_has_the_extra_input_and_the_sizes_of_the_largest(load):
    model = load("batch")
    assert acl.mdl.get_num_inputs(model.desc) == 2
    assert model.index(GEAR_INPUT) == 1
    assert acl.mdl.get_input_name_by_index(model.desc, 1) == GEAR_INPUT
    assert acl.mdl.get_input_size_by_index(model.desc, 0) == 4 * 3 * 8 * 8 * 4
    assert acl.mdl.get_input_size_by_index(model.desc, 1) > 0
    assert acl.mdl.get_output_size_by_index(model.desc, 0) == 4 * 5 * 4
    assert acl.mdl.get_input_dims(model.desc, 0)[0]["dims"] == [-1, 3, 8, 8]
    assert acl.mdl.get_output_dims(model.desc, 0)[0]["dims"] == [4, 5]
    assert acl.mdl.get_dynamic_batch(model.desc) == ({"batchCount": 3, "batch": [1, 4, 2]}, 0)
    assert acl.mdl.get_dynamic_hw(model.desc, -1) == ({"hwCount": 0, "hw": []}, 0)
    assert acl.mdl.get_input_dynamic_gear_count(model.desc, -1) == (0, 0)
    assert acl.mdl.get_input_dims_range(model.desc, 0)[0]["range"] == [
        [1, 4],
        [3, 3],
        [8, 8],
        [8, 8],
    ]


@pytest.mark.parametrize("batch", [1, 2, 4])
def test_every_batch_gear_gives_the_results_of_that_batch(load, files, batch):
    model = load("batch")
    data = image(batch, 3, 8, 8)
    model.feed(data)
    assert (
        acl.mdl.set_dynamic_batch_size(model.id, model.inputs, model.index(GEAR_INPUT), batch) == 0
    )
    assert model.execute() == 0, acl.get_recent_err_msg()
    want = expected(files["net"], image=data)
    np.testing.assert_allclose(model.read(0, (batch, 5)), want[0], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(model.read(1, want[1].shape), want[1], rtol=1e-4, atol=1e-6)
    assert acl.mdl.get_cur_output_dims(model.desc, 0)[0]["dims"] == [batch, 5]
    memory, _, size = model.input_data[1]
    assert model.read_memory(memory, (size // 8,), np.int64)[0] == batch, "filled in by the setter"


def test_the_largest_gear_is_used_when_no_setter_was_called(load, files):
    model = load("batch")
    assert model.index("ACL_DYNAMIC_TENSOR_NAME") == model.index(GEAR_INPUT)
    data = image(4, 3, 8, 8)
    model.feed(data, np.full(1, -1, np.int64))  # what lies there is not read
    assert acl.mdl.get_cur_output_dims(model.desc, 0)[0]["dims"] == [4, 5]
    assert model.execute() == 0, acl.get_recent_err_msg()
    np.testing.assert_allclose(
        model.read(0, (4, 5)), expected(files["net"], image=data)[0], rtol=1e-4, atol=1e-6
    )


RUN_WITHOUT_GEAR = """
import sys
import numpy as np
import acl
from model_datasets import Model
assert acl.init() == 0 and acl.rt.set_device(0) == 0
model = Model(sys.argv[1])
model.feed(np.zeros((4, 3, 8, 8), np.float32), np.zeros(1, np.int64))
assert model.execute() == 0
assert acl.mdl.set_dynamic_batch_size(model.id, model.inputs, 1, 2) == 0
print("a gear is set", flush=True)
assert model.execute() == 0
"""


def test_a_run_without_a_gear_is_told_in_the_log(files):
    path = os.pathsep.join([SUPPORT, os.environ.get("PYTHONPATH", "")])
    done = subprocess.run([sys.executable, "-c", RUN_WITHOUT_GEAR, files["batch"]],
                          capture_output=True, text=True, timeout=300,
                          env={**os.environ, "PYTHONPATH": path, "ASCEND_GLOBAL_LOG_LEVEL": "2",
                               "ASCEND_SLOG_PRINT_TO_STDOUT": "1"})
    assert done.returncode == 0, done.stderr
    without, _, with_gear = done.stdout.partition("a gear is set")
    assert "no gear was set for the model 'batch'" in without
    assert "the largest, 4, is used" in without
    assert "no gear" not in with_gear


def test_the_largest_gear_is_the_one_with_the_most_bytes_in_all_inputs(tmp_path, files):
    # No input is the largest of all in the last gear, both together are.
    path = convert(tmp_path, "dims", files["product"], "--input_shape=a:-1,-1;b:-1",
                   "--input_format=ND", "--dynamic_dims=20,1,1;1,10,10;4,5,5")
    model = Model(path)
    assert acl.mdl.get_output_dims(model.desc, 0)[0]["dims"] == [4, 5]
    assert acl.mdl.get_cur_output_dims(model.desc, 0)[0]["dims"] == [4, 5]
    assert [acl.mdl.get_input_size_by_index(model.desc, i) for i in range(2)] == [80, 40]
    a, b = image(4, 5), image(5)
    model.run(a, b)
    np.testing.assert_array_equal(model.read(0, (4, 5)), a + b)
    model.close()


def test_a_dataset_of_two_models_keeps_the_gear_of_each(load, files, tmp_path):
    model, other = load("batch"), Model(convert(tmp_path, "other", files["net"],
                                                "--input_shape=image:-1,3,8,8",
                                                "--dynamic_batch_size=3,2"))
    model.feed(image(4, 3, 8, 8))
    wanted = expected(files["net"], image=image(4, 3, 8, 8))[0]
    memory, _, size = model.output_data[0]
    assert acl.mdl.set_dynamic_batch_size(model.id, model.inputs, 1, 1) == 0
    assert acl.mdl.set_dynamic_batch_size(other.id, model.inputs, 1, 3) == 0
    for one, rows in ((model, 1), (other, 3)):
        assert acl.rt.memset(memory, size, 0, size) == 0
        assert acl.mdl.execute(one.id, model.inputs, model.outputs) == 0
        got = model.read(0, (4, 5))
        np.testing.assert_allclose(got[:rows], wanted[:rows], rtol=1e-4, atol=1e-6)
        assert not got[rows:].any(), "the rows of its gear alone were written"
    other.close()


def test_buffers_may_be_as_large_as_the_gear_needs_and_not_smaller(load):
    model = load("batch", input_sizes=[2 * 768, 8], output_sizes=[2 * 20, 2 * 1024])
    assert acl.mdl.set_dynamic_batch_size(model.id, model.inputs, 1, 2) == 0
    assert model.execute() == 0, acl.get_recent_err_msg()
    assert acl.mdl.set_dynamic_batch_size(model.id, model.inputs, 1, 4) == 0
    assert model.execute() == INPUT_NOT_MATCH
    assert "'image' has a buffer" in acl.get_recent_err_msg().replace("('image')", "'image'")


@pytest.mark.parametrize("height, width", [(8, 8), (16, 12), (4, 6)])
def test_every_image_gear_gives_the_results_of_that_size(load, files, height, width):
    model = load("image")
    assert acl.mdl.get_dynamic_hw(model.desc, -1)[0] == {
        "hwCount": 3,
        "hw": [[8, 8], [16, 12], [4, 6]],
    }
    assert acl.mdl.get_input_size_by_index(model.desc, 0) == 2 * 3 * 16 * 12 * 4
    assert acl.mdl.get_input_dims_range(model.desc, 0)[0]["range"][2:] == [[4, 16], [6, 12]]
    data = image(2, 3, height, width)
    model.feed(data)
    assert acl.mdl.set_dynamic_hw_size(model.id, model.inputs, 1, height, width) == 0
    assert model.execute() == 0, acl.get_recent_err_msg()
    want = expected(files["net"], image=data)
    np.testing.assert_allclose(model.read(0, (2, 5)), want[0], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(model.read(1, want[1].shape), want[1], rtol=1e-4, atol=1e-6)
    assert acl.mdl.get_cur_output_dims(model.desc, 1)[0]["dims"] == [2, 4, height, width]


def test_dims_gears_name_all_extents_of_all_inputs(load, files):
    model = load("dims")
    assert acl.mdl.get_input_dynamic_gear_count(model.desc, -1) == (3, 0)
    gears, ret = acl.mdl.get_input_dynamic_dims(model.desc, -1, 3)
    assert ret == 0
    assert [gear["dims"] for gear in gears] == [[2, 3, 3], [5, 4, 4], [1, 7, 7]]
    index = model.index(GEAR_INPUT)
    assert index == 2
    for gear in gears:
        rows, columns, _ = gear["dims"]
        a, b = image(rows, columns), image(columns)
        model.feed(a, b)
        assert acl.mdl.set_input_dynamic_dims(model.id, model.inputs, index, gear) == 0
        assert model.execute() == 0, acl.get_recent_err_msg()
        np.testing.assert_array_equal(model.read(0, (rows, columns)), a + b)
        assert acl.mdl.get_cur_output_dims(model.desc, 0)[0]["dims"] == [rows, columns]


def test_only_the_setter_of_its_kind_of_gears_works_on_a_model(load):
    dims = {"name": "", "dimCount": 4, "dims": [1, 3, 8, 8]}
    setters = {
        "batch": lambda m, i: acl.mdl.set_dynamic_batch_size(m.id, m.inputs, i, 1),
        "image": lambda m, i: acl.mdl.set_dynamic_hw_size(m.id, m.inputs, i, 8, 8),
        "dims": lambda m, i: acl.mdl.set_input_dynamic_dims(m.id, m.inputs, i, dims),
    }
    for name in setters:
        model = load(name)
        for kind, setter in setters.items():
            if kind != name:
                assert setter(model, model.index(GEAR_INPUT)) == INVALID_PARAM
                assert "may be called" in acl.get_recent_err_msg()
    assert setters["batch"](load("fixed"), 0) == NOT_DYNAMIC


def test_tensor_descriptions_and_gears_exclude_each_other(load):
    model = load("batch")
    desc = acl.create_tensor_desc(0, [1, 3, 8, 8], 0)
    assert acl.mdl.set_dataset_tensor_desc(model.inputs, desc, 0)[1] == 0
    assert model.execute() == INVALID_PARAM
    assert acl.mdl.set_dynamic_batch_size(model.id, model.inputs, 1, 1) == INVALID_PARAM
    assert "only one of" in acl.get_recent_err_msg()
    acl.destroy_tensor_desc(desc)


def test_what_is_none_of_the_gears_is_refused_by_the_documented_code(load):
    model = load("batch")
    assert acl.mdl.set_dynamic_batch_size(model.id, model.inputs, 1, 3) == GEAR_INVALID
    assert "it has: 1, 4, 2" in acl.get_recent_err_msg()
    assert acl.mdl.set_dynamic_batch_size(model.id, model.inputs, 0, 2) == INVALID_PARAM
    assert acl.mdl.set_dynamic_batch_size(model.id, model.inputs, 7, 2) == INVALID_PARAM
    model = load("image")
    assert acl.mdl.set_dynamic_hw_size(model.id, model.inputs, 1, 12, 16) == GEAR_INVALID
    small = load("dims", input_sizes=[80, 28, 4])
    gear = {"name": "", "dimCount": 3, "dims": [2, 3, 3]}
    assert acl.mdl.set_input_dynamic_dims(small.id, small.inputs, 2, gear) == LENGTH_INVALID
    gear["dims"] = [2, 3, 4]
    assert acl.mdl.set_input_dynamic_dims(small.id, small.inputs, 2, gear) == GEAR_INVALID


def test_without_a_buffer_for_the_gear_nothing_is_chosen_or_run(load):
    model = load("batch")
    lacking = acl.mdl.create_dataset()
    assert acl.mdl.add_dataset_buffer(lacking, model.input_data[0][1])[1] == 0
    assert acl.mdl.set_dynamic_batch_size(model.id, lacking, 1, 2) == INVALID_PARAM
    assert "in input 1 of the dataset" in acl.get_recent_err_msg()
    assert acl.mdl.execute(model.id, lacking, model.outputs) == INPUT_NOT_MATCH
    assert "has 1 buffers" in acl.get_recent_err_msg()
    assert acl.mdl.destroy_dataset(lacking) == 0


def test_gears_keep_one_copy_of_the_weights_they_have_in_common(files, tmp_path):
    alone = convert(tmp_path, "alone", files["net"], "--input_shape=image:4,3,8,8")
    _, single, _ = acl.mdl.query_size(alone)
    _, gears, ret = acl.mdl.query_size(files["batch"])
    assert ret == 0 and single <= gears < 1.2 * single, "three gears share their weights"


def test_a_model_with_gears_runs_in_memory_of_the_program(files):
    work, weight, ret = acl.mdl.query_size(files["batch"])
    assert ret == 0 and work > 0 and weight > 0
    work_ptr, _ = acl.rt.malloc(work, 0)
    weight_ptr, _ = acl.rt.malloc(weight, 0)
    loaded, ret = acl.mdl.load_from_file_with_mem(
        files["batch"], work_ptr, work, weight_ptr, weight
    )
    assert ret == 0, acl.get_recent_err_msg()
    model = Model(files["batch"])
    other, model.id = model.id, loaded
    for batch in (4, 1, 2):
        data = image(batch, 3, 8, 8)
        model.feed(data)
        assert acl.mdl.set_dynamic_batch_size(model.id, model.inputs, 1, batch) == 0
        assert model.execute() == 0, acl.get_recent_err_msg()
        np.testing.assert_allclose(
            model.read(0, (batch, 5)), expected(files["net"], image=data)[0], rtol=1e-4, atol=1e-6
        )
    model.id = other
    model.close()
    assert acl.mdl.unload(loaded) == 0
    assert acl.rt.free(work_ptr) == acl.rt.free(weight_ptr) == 0


@pytest.mark.parametrize(
    "options, sentence",
    [
        (["--dynamic_batch_size=1"], "2 to 100"),
        (["--dynamic_batch_size=" + ",".join(map(str, range(1, 102)))], "2 to 100"),
        (["--dynamic_batch_size=1,1"], "twice"),
        (["--dynamic_batch_size=1,0"], "above 0"),
        (["--dynamic_batch_size=1,x"], "'x'"),
        (["--dynamic_batch_size=1,2", "--dynamic_image_size=8,8;9,9"], "exclude each other"),
        (["--dynamic_batch_size=1,2", "--dynamic_dims=1;2"], "exclude each other"),
        (["--dynamic_batch_size=1,2", "--input_shape=image:1,3,8,8"], "needs an extent of -1"),
        (["--dynamic_batch_size=1,2", "--input_shape=image:-1,3,-1,8"], "the batch"),
        (["--dynamic_batch_size=1,2", "--input_shape=image:1~4,3,8,8"], "range"),
        (["--dynamic_image_size=8,8;9", "--input_shape=image:1,3,-1,-1"], "expected 2"),
        (["--dynamic_image_size=8,8;9,9", "--input_shape=image:-1,3,-1,-1"], "height and width"),
        (
            ["--dynamic_image_size=8,8;9,9", "--input_shape=image:1,3,-1,-1", "--input_format=ND"],
            "NCHW",
        ),
        (["--dynamic_dims=1;2"], "--input_format=ND"),
        (["--dynamic_dims=1,2;3,4", "--input_format=ND"], "as many"),
    ],
)
def test_mistakes_in_the_options_are_named(tmp_path, options, sentence):
    onnx.save(net(), tmp_path / "net.onnx")
    if not any(option.startswith("--input_shape=") for option in options):
        options = [*options, "--input_shape=image:-1,3,8,8"]
    done = atc(
        f"--model={tmp_path}/net.onnx",
        "--framework=5",
        f"--output={tmp_path}/out",
        "--soc_version=Ascend310P3",
        *options,
    )
    assert done.returncode == 1
    assert sentence in done.stderr
    assert not (tmp_path / "out.om").exists()
