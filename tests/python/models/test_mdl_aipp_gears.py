# SPDX-License-Identifier: Apache-2.0
"""AIPP of models whose shapes are chosen at run time: gears (guide 7.6.1) and ranges (7.6.2)."""
import numpy as np
import onnx
import pytest
from aipp_models import (
    AIPP_INPUT,
    AIPP_NOT_EXIST,
    GEAR_INPUT,
    INVALID_PARAM,
    dynamic,
    load,
    net,
    picture,
    settings_for,
    static,
)
from aipp_reference import RGB888, YUV420SP, aipp
from model_datasets import atc, atc_over

import acl

__all__ = ["load"]  # a fixture

INPUT_NOT_MATCH, SHAPE_INVALID = 100017, 145021


def test_with_batch_gears_the_parameters_are_for_the_largest_batch(load, tmp_path):
    model = load(
        dynamic(
            tmp_path,
            12 * 16 * 3 * 4,
            "--input_shape=image:-1,3,16,12",
            "--dynamic_batch_size=1,4",
            batch="N",
        )
    )
    index = model.index(AIPP_INPUT)
    assert acl.mdl.get_input_size_by_index(model.desc, index) == 64 + 4 * 96
    one = settings_for(1, RGB888, 12, 16)
    assert acl.mdl.set_input_aipp(model.id, model.inputs, index, one) == INVALID_PARAM
    assert acl.mdl.destroy_aipp(one) == 0
    made = settings_for(4, RGB888, 12, 16)
    assert (
        acl.mdl.set_input_aipp(model.id, model.inputs, index, made) == 0
    ), acl.get_recent_err_msg()
    assert acl.mdl.destroy_aipp(made) == 0
    raw = picture(RGB888, 12, 16, count=4)
    model.feed(raw)
    for batch in (4, 1):
        assert (
            acl.mdl.set_dynamic_batch_size(model.id, model.inputs, model.index(GEAR_INPUT), batch)
            == 0
        )
        assert model.execute() == 0, acl.get_recent_err_msg()
        want = np.stack([aipp(part, RGB888, 12, 16, 3) for part in np.split(raw, 4)[:batch]])
        np.testing.assert_array_equal(model.read(0, want.shape), want)


def test_with_batch_gears_a_buffer_for_the_pictures_of_the_gear_is_enough(load, tmp_path):
    path = dynamic(tmp_path, 12 * 16 * 3 * 4, "--input_shape=image:-1,3,16,12",
                   "--dynamic_batch_size=1,4", batch="N")
    small = load(path, input_sizes=[12 * 16 * 3, 8, 64 + 4 * 96])
    assert acl.mdl.get_input_size_by_index(small.desc, 0) == 12 * 16 * 3 * 4
    made = settings_for(4, RGB888, 12, 16)
    assert acl.mdl.set_input_aipp(small.id, small.inputs, 2, made) == 0
    assert acl.mdl.set_dynamic_batch_size(small.id, small.inputs, 1, 1) == 0
    raw = picture(RGB888, 12, 16)
    small.feed(raw)
    assert small.execute() == 0, acl.get_recent_err_msg()
    want = aipp(raw, RGB888, 12, 16, 3)
    np.testing.assert_array_equal(small.read(0, want.shape), want)
    assert acl.mdl.set_dynamic_batch_size(small.id, small.inputs, 1, 4) == 0
    assert small.execute() == INPUT_NOT_MATCH
    assert "576 bytes, the model needs 2304" in acl.get_recent_err_msg()
    assert acl.mdl.destroy_aipp(made) == 0


def test_the_gear_comes_before_the_parameters_of_aipp(load, tmp_path):
    model = load(dynamic(tmp_path, 12 * 16 * 3 * 4, "--input_shape=image:-1,3,16,12",
                         "--dynamic_batch_size=1,4", batch="N"))
    names = [acl.mdl.get_input_name_by_index(model.desc, i)
             for i in range(acl.mdl.get_num_inputs(model.desc))]
    assert names == ["image", GEAR_INPUT, AIPP_INPUT]
    assert acl.mdl.get_aipp_type(model.id, 0)[:2] == (2, 2)


@pytest.mark.parametrize("source", ["", "src_image_size_w: 20 src_image_size_h: 18 crop: true "
                                        "load_start_pos_w: 2 crop_size_w: 12 crop_size_h: 16"])
def test_static_aipp_with_batch_gears_serves_every_batch(load, tmp_path, source):
    model = load(static(tmp_path, f"input_format: RGB888_U8 rbuv_swap_switch: true {source}",
                        "--input_shape=image:-1,3,16,12", "--dynamic_batch_size=1,4,2",
                        batch="N"))
    width, height, crop = (20, 18, (2, 0, 12, 16)) if source else (12, 16, None)
    assert acl.mdl.get_input_dims(model.desc, 0)[0]["dims"] == [-1, height, width, 3]
    assert acl.mdl.get_input_size_by_index(model.desc, 0) == 4 * height * width * 3
    info, ret = acl.mdl.get_first_aipp_info(model.id, 0)
    assert ret == 0 and info["shapeCount"] == 3
    for gear, batch in enumerate((1, 4, 2)):
        raw = picture(RGB888, width, height, batch)
        assert info["outDims"][gear]["srcSize"] == raw.nbytes
        assert info["outDims"][gear]["aippOutdims"]["dims"] == [batch, 3, 16, 12]
        model.feed(raw)
        assert acl.mdl.set_dynamic_batch_size(model.id, model.inputs, 1, batch) == 0
        assert model.execute() == 0, acl.get_recent_err_msg()
        want = np.stack([aipp(one, RGB888, width, height, 3, swap=True, crop=crop)
                         for one in np.split(raw, batch)])
        np.testing.assert_array_equal(model.read(0, want.shape), want)


@pytest.mark.parametrize("gears", ["16,12;8,6", "8,6;16,12"])
def test_with_image_gears_crop_scaling_and_padding_of_dynamic_aipp_are_refused(
    load, tmp_path, gears
):
    model = load(
        dynamic(
            tmp_path,
            12 * 16 * 3,
            "--input_shape=image:1,3,-1,-1",
            f"--dynamic_image_size={gears}",
            height="H",
            width="W",
        )
    )
    index, gear = model.index(AIPP_INPUT), model.index(GEAR_INPUT)
    made = settings_for(1, RGB888, 12, 16)
    for setter, on, off in (
        (acl.mdl.set_aipp_crop_params, (1, 0, 0, 12, 16), (0, 0, 0, 0, 0)),
        (acl.mdl.set_aipp_scf_params, (1, 12, 16, 12, 16), (0, 0, 0, 0, 0)),
        (acl.mdl.set_aipp_padding_params, (1, 1, 1, 1, 1), (0, 0, 0, 0, 0)),
    ):
        assert setter(made, *on, 0) == 0, acl.get_recent_err_msg()
        assert acl.mdl.set_input_aipp(model.id, model.inputs, index, made) == INVALID_PARAM
        assert "exclude each other" in acl.get_recent_err_msg()
        assert setter(made, *off, 0) == 0
    assert acl.mdl.set_aipp_src_image_size(made, 6, 8) == 0
    assert acl.mdl.set_input_aipp(model.id, model.inputs, index, made) == INVALID_PARAM
    assert "largest gear" in acl.get_recent_err_msg()
    assert acl.mdl.set_aipp_src_image_size(made, 12, 16) == 0
    assert acl.mdl.set_input_aipp(model.id, model.inputs, index, made) == 0
    assert acl.mdl.destroy_aipp(made) == 0
    assert acl.mdl.set_dynamic_hw_size(model.id, model.inputs, gear, 8, 6) == INVALID_PARAM
    assert "not its largest, expected 16x12" in acl.get_recent_err_msg()
    raw = picture(RGB888, 12, 16)
    want = aipp(raw, RGB888, 12, 16, 3)
    model.feed(raw)
    assert model.execute() == 0, acl.get_recent_err_msg()
    np.testing.assert_array_equal(model.read(0, want.shape), want, "the largest without a setter")
    assert acl.mdl.set_dynamic_hw_size(model.id, model.inputs, gear, 16, 12) == 0
    assert model.execute() == 0, acl.get_recent_err_msg()
    np.testing.assert_array_equal(model.read(0, want.shape), want)


def test_static_aipp_with_image_gears_takes_the_size_of_the_gear(load, tmp_path):
    gears = ["--input_shape=image:1,3,-1,-1", "--dynamic_image_size=16,12;8,6"]
    model = load(static(tmp_path, "input_format: YUV420SP_U8", *gears, height="H", width="W"))
    assert acl.mdl.get_input_size_by_index(model.desc, 0) == 16 * 12 * 3 // 2
    for height, width in ((16, 12), (8, 6)):
        raw = picture(YUV420SP, width, height)
        model.feed(raw)
        assert acl.mdl.set_dynamic_hw_size(model.id, model.inputs, 1, height, width) == 0
        assert model.execute() == 0, acl.get_recent_err_msg()
        want = aipp(raw, YUV420SP, width, height, 3)
        np.testing.assert_array_equal(model.read(0, want.shape), want)
    source = "src_image_size_w: 12 src_image_size_h: 16"
    for wrong in ("", "crop: true crop_size_w: 8 crop_size_h: 8",
                  "padding: true left_padding_size: 1"):
        (tmp_path / "bad.cfg").write_text(
            "aipp_op { aipp_mode: static input_format: RGB888_U8 %s %s }" % (source, wrong))
        done = atc(
            f"--model={tmp_path}/net.onnx",
            "--framework=5",
            f"--output={tmp_path}/bad",
            "--soc_version=Ascend310P3",
            f"--insert_op_conf={tmp_path}/bad.cfg",
            *gears,
        )
        assert done.returncode == 1 and "src_image_size_h to 0" in done.stderr, wrong
        assert "leave crop and padding off" in done.stderr


@pytest.mark.parametrize("form", ["ND", "NCHW"])
@pytest.mark.parametrize("text", ["aipp_mode: static input_format: RGB888_U8",
                                  "aipp_mode: dynamic max_src_image_size: 576"])
def test_aipp_and_dims_gears_exclude_each_other(tmp_path, text, form):
    (tmp_path / "aipp.cfg").write_text("aipp_op { %s }" % text)
    done = atc_over(tmp_path, "net", net(batch="N"), f"--insert_op_conf={tmp_path}/aipp.cfg",
                    "--input_shape=image:-1,3,16,12", "--dynamic_dims=1;2",
                    f"--input_format={form}")
    assert done.returncode == 1 and not (tmp_path / "net.om").exists()
    assert "--insert_op_conf and --dynamic_dims exclude each other" in done.stderr


@pytest.mark.parametrize("shape, options, sentence", [
    ({"batch": 128}, [], "the batch of the input is 128; dynamic AIPP ({file}:1:1) takes at most"),
    ({"batch": "N"}, ["--input_shape=image:-1,3,16,12", "--dynamic_batch_size=200,1"],
     "the batch of the input is 200"),
    ({"channels": 5}, [], "input has 5 channels; pictures ({file}:1:1) have at most 4"),
])
def test_dynamic_aipp_that_no_parameters_could_serve_is_refused(tmp_path, shape, options, sentence):
    (tmp_path / "aipp.cfg").write_text("aipp_op { aipp_mode: dynamic max_src_image_size: 99999 }")
    done = atc_over(tmp_path, "net", net(**shape), f"--insert_op_conf={tmp_path}/aipp.cfg",
                    *options)
    assert done.returncode == 1 and not (tmp_path / "net.om").exists()
    assert sentence.format(file=tmp_path / "aipp.cfg") in done.stderr, done.stderr


def set_picture_shape(model, shape):
    desc = acl.create_tensor_desc(4, shape, 1)  # uint8, NHWC
    _, ret = acl.mdl.set_dataset_tensor_desc(model.inputs, desc, 0)
    acl.destroy_tensor_desc(desc)
    return ret


def test_static_aipp_with_ranges_takes_the_shape_of_each_run(load, tmp_path):
    path = static(tmp_path, "input_format: RGB888_U8 rbuv_swap_switch: true",
                  "--input_shape=image:1~2,3,4~32,-1", batch="N", height="H", width="W")
    model = load(path, input_sizes=[1 << 16], output_sizes=[1 << 18])
    assert acl.mdl.get_input_size_by_index(model.desc, 0) == 0
    assert acl.mdl.get_input_dims(model.desc, 0)[0]["dims"] == [-1, -1, -1, 3]
    ranges, ret = acl.mdl.get_input_dims_range(model.desc, 0)
    assert ret == 0 and ranges["range"] == [[1, 2], [4, 32], [0, -1], [3, 3]]
    assert acl.mdl.get_first_aipp_info(model.id, 0)[1] == 0
    for count, height, width in ((1, 16, 12), (2, 8, 20)):
        raw = picture(RGB888, width, height, count)
        model.feed(raw)
        assert set_picture_shape(model, [count, height, width, 3]) == 0
        assert model.execute() == 0, acl.get_recent_err_msg()
        each = np.split(raw, count)
        want = np.stack([aipp(one, RGB888, width, height, 3, swap=True) for one in each])
        np.testing.assert_array_equal(model.read(0, want.shape), want)
    assert set_picture_shape(model, [1, 99, 12, 3]) == 0
    assert model.execute() == SHAPE_INVALID
    assert "[1~2,4~32,0~,3~3]" in acl.get_recent_err_msg()


def test_static_aipp_with_a_fixed_source_takes_any_batch(load, tmp_path):
    path = static(
        tmp_path, "input_format: RGB888_U8 src_image_size_w: 20 src_image_size_h: 18 crop: true "
        "load_start_pos_w: 2 load_start_pos_h: 1 crop_size_w: 12 crop_size_h: 16",
        "--input_shape=image:1~4,3,16,12", batch="N")
    model = load(path, input_sizes=[1 << 16], output_sizes=[1 << 18])
    assert acl.mdl.get_input_dims(model.desc, 0)[0]["dims"] == [-1, 18, 20, 3]
    raw = picture(RGB888, 20, 18, 3)
    model.feed(raw)
    assert set_picture_shape(model, [3, 18, 20, 3]) == 0
    assert model.execute() == 0, acl.get_recent_err_msg()
    whole = raw.reshape(3, 18, 20, 3)[:, 1:17, 2:14].transpose(0, 3, 1, 2).astype(np.float32)
    np.testing.assert_array_equal(model.read(0, whole.shape), whole)


@pytest.mark.parametrize("text, sentence", [
    ("aipp_op { aipp_mode: static input_format: RGB888_U8 src_image_size_w: 12 "
     "src_image_size_h: 16 }", "src_image_size_h to 0"),
])
def test_aipp_that_ranges_exclude_is_named(tmp_path, text, sentence):
    onnx.save(net(batch="N", height="H", width="W"), tmp_path / "net.onnx")
    (tmp_path / "aipp.cfg").write_text(text)
    done = atc(f"--model={tmp_path}/net.onnx", "--framework=5", f"--output={tmp_path}/out",
               "--soc_version=Ascend310P3", f"--insert_op_conf={tmp_path}/aipp.cfg",
               "--input_shape=image:1,3,-1,-1")
    assert done.returncode == 1 and sentence in done.stderr, done.stderr


def set_parameters(model, count, width, height, crop=None):
    made = settings_for(count, RGB888, width, height)
    if crop:
        for i in range(count):
            assert acl.mdl.set_aipp_crop_params(made, 1, *crop, i) == 0
    ret = acl.mdl.set_input_aipp(model.id, model.inputs, model.index(AIPP_INPUT), made)
    assert acl.mdl.destroy_aipp(made) == 0
    return ret


def test_dynamic_aipp_with_ranges_makes_the_shape_of_each_run(load, tmp_path):
    path = dynamic(tmp_path, 2 * 32 * 32 * 3, "--input_shape=image:1~2,3,4~32,-1", batch="N",
                   height="H", width="W")
    model = load(path, output_sizes=[1 << 18])
    assert acl.mdl.get_input_size_by_index(model.desc, 0) == 2 * 32 * 32 * 3
    assert acl.mdl.get_input_dims(model.desc, 0)[0]["dims"] == [-1, -1, -1, 3]
    assert acl.mdl.get_input_size_by_index(model.desc, model.index(AIPP_INPUT)) == 64 + 2 * 96
    assert model.execute() == AIPP_NOT_EXIST
    for count, width, height, crop in ((1, 12, 16, None), (2, 20, 24, (2, 4, 10, 8)),
                                       (2, 32, 32, None)):
        raw = picture(RGB888, width, height, count)
        model.feed(raw)
        assert set_parameters(model, count, width, height, crop) == 0, acl.get_recent_err_msg()
        assert model.execute() == 0, acl.get_recent_err_msg()
        settings = {"crop": crop} if crop else {}
        want = np.stack([aipp(one, RGB888, width, height, 3, **settings)
                         for one in np.split(raw, count)])
        desc = acl.mdl.get_dataset_tensor_desc(model.outputs, 0)
        assert [acl.get_tensor_desc_dim_v2(desc, i)[0] for i in range(4)] == list(want.shape)
        np.testing.assert_array_equal(model.read(0, want.shape), want)


def test_what_dynamic_aipp_makes_must_lie_in_the_ranges(load, tmp_path):
    path = dynamic(tmp_path, 2 * 64 * 64 * 3, "--input_shape_range=image:[1~2,3,4~32,-1]",
                   batch="N", height="H", width="W")
    model = load(path, output_sizes=[1 << 18])
    assert set_parameters(model, 1, 12, 40) == INVALID_PARAM
    sentence = acl.get_recent_err_msg()
    assert "1x40x12x3 (N, H, W, C)" in sentence and "for a height of 4 to 32" in sentence
    assert set_parameters(model, 1, 12, 40, (0, 0, 12, 32)) == 0, "a crop brings it inside"
    assert set_parameters(model, 3, 12, 16) == INVALID_PARAM, "the batch is one of them"
    made = settings_for(2, RGB888, 12, 16)
    assert acl.mdl.set_aipp_crop_params(made, 1, 0, 0, 8, 8, 1) == 0
    index = model.index(AIPP_INPUT)
    assert acl.mdl.set_input_aipp(model.id, model.inputs, index, made) == INVALID_PARAM
    assert "picture 1 of the batch" in acl.get_recent_err_msg(), "all of them have one size"
    assert acl.mdl.destroy_aipp(made) == 0


def test_dynamic_aipp_with_any_batch_leaves_the_size_of_its_parameters_open(load, tmp_path):
    path = dynamic(tmp_path, 4 * 16 * 12 * 3, "--input_shape=image:-1,3,16,12", batch="N")
    size, ret = acl.mdl.get_aipp_data_size(4)
    assert ret == 0
    model = load(path, input_sizes=[4 * 16 * 12 * 3, size], output_sizes=[1 << 18])
    assert acl.mdl.get_input_size_by_index(model.desc, 1) == 0
    for count in (4, 1):
        raw = picture(RGB888, 12, 16, count)
        model.feed(raw)
        assert set_parameters(model, count, 12, 16) == 0, acl.get_recent_err_msg()
        assert model.execute() == 0, acl.get_recent_err_msg()
        want = np.stack([aipp(one, RGB888, 12, 16, 3) for one in np.split(raw, count)])
        np.testing.assert_array_equal(model.read(0, want.shape), want)
