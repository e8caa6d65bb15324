# SPDX-License-Identifier: Apache-2.0
"""Models whose shapes come at run time (guide 7.6.2): -1 and ranges in --input_shape."""

import threading

import numpy as np
import onnx
import pytest
from model_datasets import Model, atc, convert
from onnx.reference import ReferenceEvaluator
from shape_models import image, net, product, windows

import acl

INVALID_PARAM, INPUT_NOT_MATCH, OUTPUT_NOT_MATCH, SHAPE_INVALID = 100000, 100017, 100018, 145021
NOT_DYNAMIC = 100019
LARGE = 1 << 20

pytestmark = pytest.mark.usefixtures("runtime")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ranges")
    return {
        "range": convert(folder, "range", net(), "--input_shape=image:1~8,3,4~40,-1"),
        "old": convert(folder, "old", net(), "--input_shape_range=image:[1~8,3,8,8]"),
        "any": convert(folder, "any", product(), "--input_shape=a:-1,-1;b:-1"),
        "net": net(),
    }


@pytest.fixture
def model(files):
    model = Model(files["range"], [LARGE], [LARGE, LARGE])
    yield model
    model.close()


def set_shape(dataset, shape, index=0, dtype=0, form=0):
    desc = acl.create_tensor_desc(dtype, shape, form)
    _, ret = acl.mdl.set_dataset_tensor_desc(dataset, desc, index)
    acl.destroy_tensor_desc(desc)
    return ret


def output_shape(dataset, index):
    desc = acl.mdl.get_dataset_tensor_desc(dataset, index)
    assert desc != 0
    return [
        acl.get_tensor_desc_dim_v2(desc, i)[0] for i in range(acl.get_tensor_desc_num_dims(desc))
    ]


@pytest.mark.parametrize("soc, told", [("Ascend310", True), ("Ascend310B4", True),
                                       ("Ascend310P3", False), ("Ascend910B1", False)])
def test_atc_tells_which_chips_run_no_shape_ranges(tmp_path, soc, told):
    onnx.save(net(), tmp_path / "net.onnx")
    common = [f"--model={tmp_path}/net.onnx", "--framework=5", f"--soc_version={soc}"]
    ranged = atc(*common, f"--output={tmp_path}/ranged", "--input_shape=image:1~8,3,8,8")
    assert ranged.returncode == 0, "the model runs here all the same"
    assert (f"{soc} runs no models with shapes that come at run time" in ranged.stderr) == told
    geared = atc(*common, f"--output={tmp_path}/geared", "--input_shape=image:-1,3,8,8",
                 "--dynamic_batch_size=1,2")
    assert geared.returncode == 0 and geared.stderr == "", "gears run on all of them"


def test_sizes_are_0_and_dims_are_open(model):
    assert acl.mdl.get_num_inputs(model.desc) == 1
    assert acl.mdl.get_input_size_by_index(model.desc, 0) == 0
    assert acl.mdl.get_output_size_by_index(model.desc, 0) == 0
    assert acl.mdl.get_input_dims(model.desc, 0)[0]["dims"] == [-1, 3, -1, -1]
    assert acl.mdl.get_output_dims(model.desc, 0)[0]["dims"] == [-1, 5]
    assert acl.mdl.get_output_dims(model.desc, 1)[0]["dims"] == [-1, 4, -1, -1]
    ranges, ret = acl.mdl.get_input_dims_range(model.desc, 0)
    assert ret == 0
    assert ranges == {"rangeCount": 4, "range": [[1, 8], [3, 3], [4, 40], [0, -1]]}


def test_every_shape_of_the_range_runs_and_outputs_are_described(model, files):
    for shape in ([1, 3, 8, 8], [2, 3, 4, 50], [8, 3, 40, 1], [1, 3, 8, 8]):
        data = image(*shape)
        model.feed(data)
        assert set_shape(model.inputs, shape) == 0
        assert model.execute() == 0, acl.get_recent_err_msg()
        want = ReferenceEvaluator(files["net"]).run(None, {"image": data})
        for i, result in enumerate(want):
            assert output_shape(model.outputs, i) == list(result.shape)
            desc = acl.mdl.get_dataset_tensor_desc(model.outputs, i)
            assert acl.get_tensor_desc_size(desc) == result.nbytes
            np.testing.assert_allclose(model.read(i, result.shape), result, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("dtype, form", [(1, 2), (9, 1), (-1, -1)])
def test_type_and_format_come_from_the_model_and_not_from_the_description(model, files, dtype,
                                                                         form):
    data = image(1, 3, 8, 8)
    model.feed(data)
    assert set_shape(model.inputs, [1, 3, 8, 8], 0, dtype, form) == 0
    assert model.execute() == 0, acl.get_recent_err_msg()
    want = ReferenceEvaluator(files["net"]).run(None, {"image": data})[0]
    np.testing.assert_allclose(model.read(0, want.shape), want, rtol=1e-4, atol=1e-6)


def test_more_shapes_than_are_kept_ready_still_run(model, files):
    for _turn in range(2):
        for width in range(1, 20):
            data = image(1, 3, 4, width)
            model.feed(data)
            assert set_shape(model.inputs, [1, 3, 4, width]) == 0
            assert model.execute() == 0, acl.get_recent_err_msg()
            want = ReferenceEvaluator(files["net"]).run(None, {"image": data})[0]
            np.testing.assert_allclose(model.read(0, want.shape), want, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    "shape", [[9, 3, 8, 8], [1, 3, 3, 8], [1, 3, 41, 8], [1, 4, 8, 8], [3, 8, 8]]
)
def test_shapes_outside_the_range_are_refused(model, shape):
    assert set_shape(model.inputs, shape) == 0
    assert model.execute() == SHAPE_INVALID
    assert "was compiled for [1~8,3~3,4~40,0~]" in acl.get_recent_err_msg()


@pytest.mark.parametrize("shape, code", [
    ([1, 3, 8, -1], SHAPE_INVALID),
    ([], SHAPE_INVALID),
    ([8, 3, 40, 2**20], INPUT_NOT_MATCH),
    ([8, 3, 40, 2**50], INPUT_NOT_MATCH),
])
def test_absurd_shapes_have_their_code_and_leave_the_model_as_it_was(model, files, shape, code):
    assert set_shape(model.inputs, shape) == 0
    assert model.execute() == code, acl.get_recent_err_msg()
    assert set_shape(model.inputs, [1, 3, 8, 8]) == 0
    data = image(1, 3, 8, 8)
    model.run(data)
    want = ReferenceEvaluator(files["net"]).run(None, {"image": data})[0]
    np.testing.assert_allclose(model.read(0, want.shape), want, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("width, code", [(2**20, INVALID_PARAM), (2**40, SHAPE_INVALID)])
def test_a_buffer_that_claims_to_hold_an_absurd_shape_is_refused(model, width, code):
    memory, _, _ = model.input_data[0]
    claims = acl.create_data_buffer(memory, 2**46)
    inputs = acl.mdl.create_dataset()
    assert acl.mdl.add_dataset_buffer(inputs, claims)[1] == 0
    assert set_shape(inputs, [1, 3, 4, width]) == 0
    assert acl.mdl.execute(model.id, inputs, model.outputs) == code, acl.get_recent_err_msg()
    assert acl.mdl.destroy_dataset(inputs) == 0
    assert acl.destroy_data_buffer(claims) == 0


def test_an_extent_of_0_is_in_an_open_range(files):
    model = Model(files["any"], [4096, 4096], [4096])
    assert set_shape(model.inputs, [0, 5], 0) == set_shape(model.inputs, [5], 1) == 0
    assert model.execute() == 0, acl.get_recent_err_msg()
    assert output_shape(model.outputs, 0) == [0, 5]
    model.close()


def test_setters_of_gears_are_refused(model):
    dims = {"name": "", "dimCount": 4, "dims": [1, 3, 8, 8]}
    for setter, values in ((acl.mdl.set_dynamic_batch_size, (1,)),
                           (acl.mdl.set_dynamic_hw_size, (8, 8)),
                           (acl.mdl.set_input_dynamic_dims, (dims,))):
        assert setter(model.id, model.inputs, 0, *values) == NOT_DYNAMIC
        assert "only aclmdlSetDatasetTensorDesc may be called" in acl.get_recent_err_msg()


def test_without_a_shape_the_model_does_not_run(model):
    assert model.execute() == INVALID_PARAM
    assert "aclmdlSetDatasetTensorDesc" in acl.get_recent_err_msg()


def test_buffers_that_are_too_small_for_the_shape_are_refused(files):
    model = Model(files["range"], [1000], [LARGE, 64])
    assert set_shape(model.inputs, [1, 3, 8, 12]) == 0
    assert model.execute() == INPUT_NOT_MATCH
    assert set_shape(model.inputs, [1, 3, 8, 8]) == 0
    assert model.execute() == OUTPUT_NOT_MATCH
    model.close()


def test_sizes_are_not_asked_for(files):
    raw = open(files["range"], "rb").read()
    assert acl.mdl.query_size(files["range"]) == (0, 0, SHAPE_INVALID)
    in_memory = acl.util.bytes_to_ptr(raw), len(raw)
    assert acl.mdl.query_size_from_mem(*in_memory) == (0, 0, SHAPE_INVALID)
    assert "the memory it needs is not known" in acl.get_recent_err_msg()


def load_by_config(*options):
    config = acl.mdl.create_config_handle()
    for attribute, value in options:
        assert acl.mdl.set_config_opt(config, attribute, value) == 0, acl.get_recent_err_msg()
    result = acl.mdl.load_with_config(config)
    assert acl.mdl.destroy_config_handle(config) == 0
    return result


def test_memory_is_not_taken_from_the_program(files):
    raw = open(files["range"], "rb").read()
    data, size = acl.util.bytes_to_ptr(raw), len(raw)
    work, _ = acl.rt.malloc(LARGE, 0)
    weight, _ = acl.rt.malloc(LARGE, 0)
    both = work, LARGE, weight, LARGE
    attributes = (5, weight), (6, LARGE), (7, work), (8, LARGE)
    for load in (
        lambda: acl.mdl.load_from_file_with_mem(files["range"], *both),
        lambda: acl.mdl.load_from_mem_with_mem(data, size, *both),
        lambda: acl.mdl.load_from_file_with_mem(files["range"], work, LARGE, 0, 0),
        lambda: acl.mdl.load_from_file_with_mem(files["range"], 0, 0, weight, LARGE),
        lambda: load_by_config((1, 2), (2, files["range"]), *attributes),
        lambda: load_by_config((1, 4), (3, data), (4, size), *attributes),
    ):
        assert load() == (0, SHAPE_INVALID)
        assert "load it without memory of your own" in acl.get_recent_err_msg()
    for load in (
        lambda: acl.mdl.load_from_file(files["range"]),
        lambda: acl.mdl.load_from_mem(data, size),
        lambda: load_by_config((1, 1), (2, files["range"])),
    ):
        model_id, ret = load()
        assert ret == 0 and acl.mdl.unload(model_id) == 0
    assert acl.rt.free(work) == acl.rt.free(weight) == 0


def test_several_inputs_have_a_shape_each(files):
    model = Model(files["any"], [4096, 4096], [4096])
    a, b = image(3, 5), image(5)
    model.feed(a, b)
    assert set_shape(model.inputs, [3, 5], 0) == set_shape(model.inputs, [5], 1) == 0
    assert model.execute() == 0, acl.get_recent_err_msg()
    np.testing.assert_array_equal(model.read(0, (3, 5)), a + b)
    assert set_shape(model.inputs, [4], 1) == 0
    assert model.execute() == INPUT_NOT_MATCH, "5 and 4 do not broadcast"
    assert set_shape(model.inputs, [4], 2) == INVALID_PARAM
    model.close()


def test_the_older_option_gives_the_same_kind_of_model(files):
    model = Model(files["old"], [LARGE], [LARGE, LARGE])
    data = image(3, 3, 8, 8)
    model.feed(data)
    assert set_shape(model.inputs, [3, 3, 8, 8]) == 0
    assert model.execute() == 0, acl.get_recent_err_msg()
    assert output_shape(model.outputs, 0) == [3, 5]
    model.close()


@pytest.mark.parametrize("option", ["--precision_mode=force_fp16", None])
def test_a_model_that_few_shapes_fit_is_taken_and_checked_when_it_runs(tmp_path, option):
    onnx.save(windows(), tmp_path / "net.onnx")
    options = [option] if option else []
    done = atc(f"--model={tmp_path}/net.onnx", "--framework=5", f"--output={tmp_path}/net",
               "--soc_version=Ascend310P3", "--input_shape=x:-1,-1,4", *options)
    assert done.returncode == 0, done.stderr
    assert "none of the shapes that were tried" in done.stderr and "windows" in done.stderr
    model = Model(str(tmp_path / "net.om"), [LARGE], [LARGE])
    assert acl.mdl.get_output_dims(model.desc, 0)[0]["dims"] == [-1, -1, -1, -1]
    data = image(2, 12, 4)
    want = ReferenceEvaluator(windows()).run(None, {"x": data})[0]
    model.feed(data)
    assert set_shape(model.inputs, [2, 12, 4]) == 0
    assert model.execute() == 0, acl.get_recent_err_msg()
    assert output_shape(model.outputs, 0) == [2, 2, 6, 4]
    np.testing.assert_allclose(model.read(0, want.shape), want, atol=2e-3 if option else 1e-6)
    assert set_shape(model.inputs, [2, 11, 4]) == 0
    assert model.execute() == INPUT_NOT_MATCH
    assert "windows" in acl.get_recent_err_msg()
    model.close()


def test_a_bias_of_any_length_is_taken_and_checked_when_it_runs(tmp_path):
    weight = onnx.numpy_helper.from_array(np.ones((5, 1, 1, 1), np.float32), "w")
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Conv", ["x", "w", "b"], ["y"], name="conv")], "net",
        [onnx.helper.make_tensor_value_info("x", 1, [1, 1, 1, 1]),
         onnx.helper.make_tensor_value_info("b", 1, ["n"])],
        [onnx.helper.make_tensor_value_info("y", 1, None)], [weight])
    path = convert(tmp_path, "net", onnx.helper.make_model(
        graph, opset_imports=[onnx.helper.make_opsetid("", 13)]), "--input_shape=b:-1")
    model = Model(path, [4, 20], [20])
    model.feed(np.full(1, 10, np.float32), np.arange(5, dtype=np.float32))
    assert set_shape(model.inputs, [1, 1, 1, 1]) == 0
    assert set_shape(model.inputs, [4], 1) == 0
    assert model.execute() != 0 and "bias is 4, expected 5" in acl.get_recent_err_msg()
    assert set_shape(model.inputs, [5], 1) == 0
    assert model.execute() == 0, acl.get_recent_err_msg()
    np.testing.assert_array_equal(model.read(0, [5]), 10 + np.arange(5))
    model.close()


def test_a_model_that_no_shape_fits_is_refused(tmp_path):
    onnx.save(net(("N", 4, "H", "W")), tmp_path / "net.onnx")
    done = atc(f"--model={tmp_path}/net.onnx", "--framework=5", f"--output={tmp_path}/net",
               "--soc_version=Ascend310P3", "--input_shape=image:-1,4,-1,-1")
    assert done.returncode == 1 and not (tmp_path / "net.om").exists()
    assert "Conv 'conv': input has 4 channels" in done.stderr


def test_threads_with_different_shapes_do_not_disturb_each_other(files):
    problems = []

    def work(width):
        acl.rt.set_device(0)
        model = Model(files["range"], [LARGE], [LARGE, LARGE])
        data = image(1, 3, 8, width)
        want = ReferenceEvaluator(files["net"]).run(None, {"image": data})[0]
        for _ in range(20):
            model.feed(data)
            if set_shape(model.inputs, [1, 3, 8, width]) or model.execute():
                problems.append(acl.get_recent_err_msg())
            elif not np.allclose(model.read(0, want.shape), want, rtol=1e-4, atol=1e-6):
                problems.append(width)
        model.close()

    threads = [threading.Thread(target=work, args=(4 + i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems


def test_mistakes_in_the_older_option_are_named(tmp_path):
    onnx.save(net(), tmp_path / "net.onnx")
    common = [
        f"--model={tmp_path}/net.onnx",
        "--framework=5",
        f"--output={tmp_path}/out",
        "--soc_version=Ascend310P3",
    ]
    for options, sentence in [
        (["--input_shape_range=image:1,3"], 'expected "name1:[1~10,3,-1]'),
        (["--input_shape_range=image:[1~2,3;8,8]"], "has 'image:[1~2,3'"),
        (["--input_shape_range=image:[1~2],3,8,8"], "has 'image:[1~2],3,8,8'"),
        (["--input_shape_range=image:[1~2,3,8,8]", "--dynamic_batch_size=1,2"], "excludes"),
        (["--input_shape_range=image:[1~2,3,8,8]", "--input_shape=image:1,3,8,8"], "excludes"),
    ]:
        done = atc(*common, *options)
        assert done.returncode == 1 and sentence in done.stderr, done.stderr
