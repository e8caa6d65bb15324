# SPDX-License-Identifier: Apache-2.0
"""Dynamic AIPP (guide 7.7) by aclmdlAIPP, against numpy."""
import numpy as np
import pytest
from aipp_models import (
    AIPP_INPUT,
    AIPP_NOT_EXIST,
    INVALID_PARAM,
    NOT_STATIC,
    TO_YUV,
    dynamic,
    load,
    picture,
    settings_for,
)
from aipp_reference import FORMS, RGB888, YUV400, YUV420SP, aipp

import acl

__all__ = ["load"]  # a fixture

INPUT_NOT_MATCH, LENGTH_INVALID, MODEL_ID_INVALID, RT_PARAM_INVALID = 100017, 145012, 145003, 107000


@pytest.mark.parametrize("form", FORMS)
def test_dynamic_aipp_takes_every_format_of_one_model(load, tmp_path, form):
    channels = 1 if form == YUV400 else 3
    model = load(dynamic(tmp_path, 32 * 32 * 4, channels=channels))
    index = model.index(AIPP_INPUT)
    assert index == 1 and acl.mdl.get_num_inputs(model.desc) == 2
    assert acl.mdl.get_input_size_by_index(model.desc, index) == 64 + 96
    assert acl.mdl.get_aipp_data_size(1) == (160, 0)
    assert acl.mdl.get_input_size_by_index(model.desc, 0) == 32 * 32 * 4
    assert acl.mdl.get_aipp_type(model.id, 0) == (2, index, 0)
    assert acl.mdl.get_aipp_type(model.id, index)[0] == 3
    assert acl.mdl.get_first_aipp_info(model.id, 0)[1] == NOT_STATIC
    raw = picture(form, 32, 20)
    made = settings_for(1, form, 32, 20)
    assert acl.mdl.set_aipp_crop_params(made, 1, 4, 2, 10, 14, 0) == 0
    assert acl.mdl.set_aipp_padding_params(made, 1, 2, 0, 1, 1, 0) == 0
    assert acl.mdl.set_aipp_rbuv_swap_switch(made, 1) == 0
    assert acl.mdl.set_aipp_ax_swap_switch(made, 0) == 0
    assert acl.mdl.set_aipp_dtc_pixel_mean(made, 1, 2, 3, 4, 0) == 0
    assert acl.mdl.set_aipp_dtc_pixel_min(made, 0.1, 0.2, 0.3, 0.4, 0) == 0
    assert acl.mdl.set_aipp_pixel_var_reci(made, 0.5, 0.3, 0.7, 1, 0) == 0
    assert (
        acl.mdl.set_input_aipp(model.id, model.inputs, index, made) == 0
    ), acl.get_recent_err_msg()
    assert acl.mdl.destroy_aipp(made) == 0
    model.feed(raw)
    assert model.execute() == 0, acl.get_recent_err_msg()
    want = aipp(
        raw,
        form,
        32,
        20,
        channels,
        crop=(4, 2, 10, 14),
        padding=(2, 0, 1, 1),
        swap=True,
        mean=(1, 2, 3, 4),
        low=(0.1, 0.2, 0.3, 0.4),
        variance=(0.5, 0.3, 0.7, 1),
    )
    np.testing.assert_allclose(model.read(0, want.shape), want, rtol=1e-5, atol=1e-4)


def test_each_picture_of_the_batch_has_its_own_parameters(load, tmp_path):
    model = load(dynamic(tmp_path, 32 * 32 * 3 * 2, batch=2))
    raw = picture(RGB888, 32, 32, count=2)
    made = settings_for(2, RGB888, 32, 32)
    assert acl.mdl.set_aipp_csc_params(made, 1, *TO_YUV, 0, 128, 128, 0, 0, 0) == 0
    assert acl.mdl.set_aipp_crop_params(made, 1, 0, 0, 12, 16, 0) == 0
    assert acl.mdl.set_aipp_crop_params(made, 1, 20, 16, 12, 16, 1) == 0
    assert acl.mdl.set_aipp_pixel_var_reci(made, 0.5, 0.5, 0.5, 1, 1) == 0
    assert acl.mdl.set_aipp_by_input_index(model.id, model.inputs, 0, made) == 0
    assert acl.mdl.destroy_aipp(made) == 0
    model.feed(raw)
    assert model.execute() == 0, acl.get_recent_err_msg()
    parts = np.split(raw, 2)
    common = {"matrix": TO_YUV, "output_bias": (0, 128, 128)}
    want = np.stack(
        [
            aipp(parts[0], RGB888, 32, 32, 3, crop=(0, 0, 12, 16), **common),
            aipp(
                parts[1],
                RGB888,
                32,
                32,
                3,
                crop=(20, 16, 12, 16),
                variance=(0.5, 0.5, 0.5),
                **common,
            ),
        ]
    )
    np.testing.assert_allclose(model.read(0, want.shape), want, rtol=1e-6)


def test_scaling_halves_a_picture_by_the_mean_of_four(load, tmp_path):
    model = load(dynamic(tmp_path, 24 * 32, channels=1))
    raw = picture(YUV400, 24, 32)
    made = settings_for(1, YUV400, 24, 32)
    assert acl.mdl.set_aipp_scf_params(made, 1, 24, 32, 12, 16, 0) == 0
    assert acl.mdl.set_input_aipp(model.id, model.inputs, 1, made) == 0, acl.get_recent_err_msg()
    acl.mdl.destroy_aipp(made)
    model.feed(raw)
    assert model.execute() == 0, acl.get_recent_err_msg()
    fours = raw.reshape(16, 2, 12, 2).astype(np.float32).mean(axis=(1, 3))
    np.testing.assert_array_equal(model.read(0, (16, 12)), np.floor(fours + 0.5))


def test_two_inputs_have_parameters_each(load, tmp_path):
    model = load(dynamic(tmp_path, 32 * 32 * 3, inputs=2))
    attached = [acl.mdl.get_aipp_type(model.id, i) for i in range(2)]
    assert attached == [(2, 2, 0), (2, 3, 0)]
    raws = [picture(RGB888, 12, 16, seed=1), picture(YUV420SP, 12, 16, seed=2)]
    model.feed(*raws)
    for i, form in enumerate((RGB888, YUV420SP)):
        made = settings_for(1, form, 12, 16)
        assert acl.mdl.set_aipp_by_input_index(model.id, model.inputs, i, made) == 0
        assert acl.mdl.destroy_aipp(made) == 0
        if i == 0:
            assert model.execute() == AIPP_NOT_EXIST, "the second has none yet"
    assert model.execute() == 0, acl.get_recent_err_msg()
    for i, form in enumerate((RGB888, YUV420SP)):
        np.testing.assert_array_equal(model.read(i, (3, 16, 12)), aipp(raws[i], form, 12, 16, 3))


def test_dynamic_aipp_that_does_not_fit_is_refused_when_it_is_set(load, tmp_path):
    model = load(dynamic(tmp_path, 16 * 16 * 3))
    index = model.index(AIPP_INPUT)
    assert model.index("ACL_DYNAMIC_AIPP_NAME") == index
    assert model.execute() == AIPP_NOT_EXIST
    made = acl.mdl.create_aipp(1)
    assert acl.mdl.set_aipp_input_format(made, RGB888) == 0
    assert acl.mdl.set_input_aipp(model.id, model.inputs, index, made) == INVALID_PARAM
    assert "aclmdlSetAIPPSrcImageSize" in acl.get_recent_err_msg(), "it is mandatory"
    assert acl.mdl.set_aipp_src_image_size(made, 12, 15) == 0
    assert acl.mdl.set_input_aipp(model.id, model.inputs, index, made) == INVALID_PARAM
    assert "comes out" in acl.get_recent_err_msg()
    assert acl.mdl.set_aipp_src_image_size(made, 18, 18) == 0
    assert acl.mdl.set_aipp_crop_params(made, 1, 0, 0, 12, 16, 0) == 0
    assert acl.mdl.set_input_aipp(model.id, model.inputs, index, made) == INVALID_PARAM
    assert "max_src_image_size" in acl.get_recent_err_msg()
    assert acl.mdl.set_input_aipp(model.id, model.inputs, 0, made) == AIPP_NOT_EXIST
    assert acl.mdl.set_aipp_by_input_index(model.id, model.inputs, index, made) == AIPP_NOT_EXIST
    assert acl.mdl.destroy_aipp(made) == 0
    two = settings_for(2, RGB888, 12, 16)
    assert acl.mdl.set_input_aipp(model.id, model.inputs, index, two) == INVALID_PARAM
    assert "batch" in acl.get_recent_err_msg()
    assert acl.mdl.set_aipp_crop_params(two, 1, 0, 0, 4, 4, 2) == INVALID_PARAM
    assert acl.mdl.destroy_aipp(two) == 0


def test_parameters_that_the_program_overwrote_are_checked_by_the_run(load, tmp_path):
    model = load(dynamic(tmp_path, 16 * 16 * 3))
    memory, _, size = model.input_data[1]
    made, raw = settings_for(1, RGB888, 12, 16), picture(RGB888, 12, 16)
    model.feed(raw)
    assert acl.mdl.set_input_aipp(model.id, model.inputs, 1, made) == 0
    good = model.read_memory(memory, (size,), np.uint8)
    rng, codes = np.random.default_rng(4), set()
    for _ in range(300):
        block = good.copy()
        block[rng.integers(0, size, 3)] = rng.integers(0, 256, 3)
        model.feed(raw, block)
        codes.add(model.execute())
    assert codes == {0, INVALID_PARAM}
    model.feed(raw, np.full(size, 255, np.uint8))
    assert model.execute() == INVALID_PARAM
    assert model.execute_on_stream() == RT_PARAM_INVALID, "told by the wait"
    assert "input format 255 is not supported" in acl.get_recent_err_msg()
    model.feed(raw, good)
    assert model.execute() == 0
    np.testing.assert_array_equal(model.read(0, (3, 16, 12)), aipp(raw, RGB888, 12, 16, 3))
    assert acl.mdl.destroy_aipp(made) == 0


def test_parameters_have_nowhere_to_go_without_their_buffer(load, tmp_path):
    model = load(dynamic(tmp_path, 16 * 16 * 3))
    made = settings_for(1, RGB888, 12, 16)
    lacking, small = acl.mdl.create_dataset(), acl.mdl.create_dataset()
    short = acl.create_data_buffer(model.input_data[1][0], 159)
    for dataset, buffers in ((lacking, [model.input_data[0][1]]),
                             (small, [model.input_data[0][1], short])):
        for buffer in buffers:
            assert acl.mdl.add_dataset_buffer(dataset, buffer)[1] == 0
    assert acl.mdl.set_input_aipp(model.id, lacking, 1, made) == INVALID_PARAM
    assert acl.mdl.execute(model.id, lacking, model.outputs) == INPUT_NOT_MATCH
    assert acl.mdl.set_input_aipp(model.id, small, 1, made) == LENGTH_INVALID
    assert "159 bytes, expected 160" in acl.get_recent_err_msg()
    assert acl.mdl.execute(model.id, small, model.outputs) == AIPP_NOT_EXIST
    assert acl.mdl.set_input_aipp(model.id + 1000, model.inputs, 1, made) == MODEL_ID_INVALID
    assert acl.mdl.set_input_aipp(model.id, model.inputs, 1, 0) == INVALID_PARAM
    assert acl.mdl.destroy_aipp(made) == 0
    assert acl.mdl.set_input_aipp(model.id, model.inputs, 1, made) == INVALID_PARAM
    assert acl.mdl.destroy_dataset(lacking) == acl.mdl.destroy_dataset(small) == 0
    assert acl.destroy_data_buffer(short) == 0


@pytest.mark.parametrize("setter, values", [
    (acl.mdl.set_aipp_input_format, (0,)),
    (acl.mdl.set_aipp_input_format, (5,)),
    (acl.mdl.set_aipp_input_format, (11,)),
    (acl.mdl.set_aipp_src_image_size, (1, 16)),
    (acl.mdl.set_aipp_src_image_size, (16, 0)),
    (acl.mdl.set_aipp_src_image_size, (4097, 16)),
    (acl.mdl.set_aipp_csc_params, (2, *[0] * 15)),
    (acl.mdl.set_aipp_rbuv_swap_switch, (2,)),
    (acl.mdl.set_aipp_ax_swap_switch, (-1,)),
    (acl.mdl.set_aipp_crop_params, (1, -1, 0, 4, 4, 0)),
    (acl.mdl.set_aipp_crop_params, (1, 0, 0, 0, 4, 0)),
    (acl.mdl.set_aipp_crop_params, (1, 0, 0, 4, 4097, 0)),
    (acl.mdl.set_aipp_scf_params, (1, 4, 4, 0, 4, 0)),
    (acl.mdl.set_aipp_padding_params, (1, 33, 0, 0, 0, 0)),
    (acl.mdl.set_aipp_dtc_pixel_mean, (0, 0, 0, 0, 1)),
    (acl.mdl.set_aipp_dtc_pixel_min, (float("inf"), 0, 0, 0, 0)),
    (acl.mdl.set_aipp_pixel_var_reci, (float("nan"), 0, 0, 0, 0)),
])
def test_values_that_no_picture_has_are_refused_by_their_setter(runtime, setter, values):
    made = settings_for(1, RGB888, 12, 16)
    assert setter(made, *values) == INVALID_PARAM
    assert "expected" in acl.get_recent_err_msg()
    assert acl.mdl.destroy_aipp(made) == 0


@pytest.mark.parametrize("count", [0, 128, 2**40])
def test_a_set_has_room_for_1_to_127_pictures(runtime, count):
    assert acl.mdl.create_aipp(count) == 0
    assert f"batchSize is {count}; expected 1 to 127" in acl.get_recent_err_msg()
    assert acl.mdl.get_aipp_data_size(count)[1] == INVALID_PARAM
