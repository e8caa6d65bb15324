# SPDX-License-Identifier: Apache-2.0
"""AIPP (guide 7.7): static by --insert_op_conf, dynamic by aclmdlAIPP, against numpy."""

import numpy as np
import onnx
import pytest
from aipp_reference import (
    ARGB8888,
    AYUV444,
    BYTES,
    RGB888,
    XRGB8888,
    YUV400,
    YUV420SP,
    YUV422SP,
    YUYV,
    aipp,
)
from model_datasets import Model, atc, convert
from onnx import TensorProto, helper, numpy_helper

import acl

INVALID_PARAM, NOT_STATIC, AIPP_NOT_EXIST = 100000, 100038, 145015
NAMES = {YUV420SP: "YUV420SP_U8", XRGB8888: "XRGB8888_U8", RGB888: "RGB888_U8", YUV400: "YUV400_U8"}
TO_RGB = [256, 0, 359, 256, -88, -183, 256, 454, 0]
TO_YUV = [77, 150, 29, -43, -85, 128, 128, -107, -21]
DYNAMIC = "aipp_op { aipp_mode: dynamic max_src_image_size: %d }"
AIPP_INPUT, GEAR_INPUT = "ascend_dynamic_aipp_data", "ascend_mbatch_shape_data"


def net(channels=3, batch=1, height=16, width=12, inputs=1, dtype=TensorProto.FLOAT):
    """Adds zero to each input: what AIPP makes comes out."""
    kind = {TensorProto.FLOAT: np.float32, TensorProto.FLOAT16: np.float16}[dtype]
    value, node = helper.make_tensor_value_info, helper.make_node
    names = ["image", "second"][:inputs]
    graph = helper.make_graph(
        [node("Add", [name, "zero"], [name + "_out"], name="add_" + name) for name in names],
        "net",
        [value(name, dtype, [batch, channels, height, width]) for name in names],
        [value(name + "_out", dtype, None) for name in names],
        [numpy_helper.from_array(np.zeros(1, kind), "zero")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)])


def picture(form, width, height, count=1, seed=0):
    size = int(BYTES[form] * width * height) * count
    return np.random.default_rng(seed).integers(0, 256, size, np.uint8)


def static(folder, text, *options, name="net", **shape):
    (folder / "aipp.cfg").write_text("aipp_op { aipp_mode: static " + text + " }")
    return convert(folder, name, net(**shape), f"--insert_op_conf={folder}/aipp.cfg", *options)


def dynamic(folder, largest, *options, inputs=1, **shape):
    ops = [DYNAMIC % largest]
    if inputs == 2:
        ops.append(
            "aipp_op { aipp_mode: dynamic related_input_rank: 1 max_src_image_size: %d }" % largest
        )
    (folder / "aipp.cfg").write_text("\n".join(ops))
    return convert(
        folder, "net", net(inputs=inputs, **shape), f"--insert_op_conf={folder}/aipp.cfg", *options
    )


@pytest.fixture(scope="module", autouse=True)
def runtime():
    assert acl.init() == 0
    assert acl.rt.set_device(0) == 0
    yield
    assert acl.rt.reset_device(0) == 0
    assert acl.finalize() == 0


@pytest.fixture
def load():
    made = []

    def make(path, **sizes):
        made.append(Model(path, **sizes))
        return made[-1]

    yield make
    for model in made:
        model.close()


def matrix_text(matrix, input_bias=(0, 0, 0), output_bias=(0, 0, 0)):
    lines = [f"matrix_r{i // 3}c{i % 3}: {m}" for i, m in enumerate(matrix)]
    lines += [f"input_bias_{i}: {b}" for i, b in enumerate(input_bias)]
    lines += [f"output_bias_{i}: {b}" for i, b in enumerate(output_bias)]
    return "csc_switch: true " + " ".join(lines)


STATIC = [
    (RGB888, 3, "", {}),
    (RGB888, 3, "rbuv_swap_switch: true", {"swap": True}),
    (
        RGB888,
        3,
        "mean_chn_0: 104 mean_chn_1: 117 mean_chn_2: 123 min_chn_0: 0.5 min_chn_1: 1.25 "
        "var_reci_chn_0: 0.017125 var_reci_chn_1: 0.0039215686 var_reci_chn_2: 2",
        {"mean": (104, 117, 123), "low": (0.5, 1.25, 0), "variance": (0.017125, 0.0039215686, 2)},
    ),
    (
        RGB888,
        3,
        matrix_text(TO_YUV, output_bias=(0, 128, 128)),
        {"matrix": TO_YUV, "output_bias": (0, 128, 128)},
    ),
    (RGB888, 1, matrix_text([76, 150, 30] + [0] * 6), {"matrix": [76, 150, 30] + [0] * 6}),
    (YUV420SP, 3, "", {}),
    (YUV420SP, 3, "rbuv_swap_switch: true", {"swap": True}),
    (
        YUV420SP,
        3,
        matrix_text(TO_RGB, (0, 128, 128)),
        {"matrix": TO_RGB, "input_bias": (0, 128, 128)},
    ),
    (YUV420SP, 1, "", {}),
    (YUV400, 1, "mean_chn_0: 7", {"mean": (7,)}),
    (XRGB8888, 3, "", {}),
    (XRGB8888, 4, "", {}),
    (XRGB8888, 4, "ax_swap_switch: true rbuv_swap_switch: true", {"ax_swap": True, "swap": True}),
    (XRGB8888, 3, "ax_swap_switch: true", {"ax_swap": True}),
]


@pytest.mark.parametrize("form, channels, text, settings", STATIC)
def test_static_aipp_converts_every_format_by_the_formulas(
    load, tmp_path, form, channels, text, settings
):
    model = load(
        static(
            tmp_path,
            f"input_format: {NAMES[form]} src_image_size_w: 12 " f"src_image_size_h: 16 {text}",
            channels=channels,
            batch=2,
        )
    )
    raw = picture(form, 12, 16, count=2)
    assert acl.mdl.get_input_size_by_index(model.desc, 0) == raw.nbytes
    assert acl.mdl.get_input_data_type(model.desc, 0) == 4, "bytes"
    assert acl.mdl.get_input_format(model.desc, 0) == 1, "NHWC"
    assert acl.mdl.get_input_dims(model.desc, 0)[0]["dims"] == [2, 16, 12, channels]
    assert acl.mdl.get_num_inputs(model.desc) == 1
    model.feed(raw)
    assert model.execute() == 0, acl.get_recent_err_msg()
    want = np.stack([aipp(part, form, 12, 16, channels, **settings) for part in np.split(raw, 2)])
    np.testing.assert_allclose(model.read(0, want.shape), want, rtol=1e-6, atol=1e-5)


def test_static_aipp_crops_and_pads(load, tmp_path):
    model = load(
        static(
            tmp_path,
            """input_format: YUV420SP_U8 src_image_size_w: 32 src_image_size_h: 24
        crop: true load_start_pos_w: 4 load_start_pos_h: 6 crop_size_w: 8 crop_size_h: 10
        padding: true left_padding_size: 3 right_padding_size: 1 top_padding_size: 4
        bottom_padding_size: 2 padding_value: 1.5 mean_chn_0: 10 # last comes the padding
        """,
        )
    )
    raw = picture(YUV420SP, 32, 24)
    model.feed(raw)
    assert model.execute() == 0, acl.get_recent_err_msg()
    want = aipp(
        raw,
        YUV420SP,
        32,
        24,
        3,
        crop=(4, 6, 8, 10),
        padding=(4, 2, 3, 1),
        padding_value=1.5,
        mean=(10, 0, 0),
    )
    np.testing.assert_allclose(model.read(0, want.shape), want, rtol=1e-6)


def test_static_aipp_feeds_models_of_half_floats(load, tmp_path):
    model = load(
        static(tmp_path, "input_format: RGB888_U8 var_reci_chn_0: 0.25", dtype=TensorProto.FLOAT16)
    )
    raw = picture(RGB888, 12, 16)
    model.feed(raw)
    assert model.execute() == 0, acl.get_recent_err_msg()
    want = aipp(raw, RGB888, 12, 16, 3, variance=(0.25, 1, 1)).astype(np.float16)
    np.testing.assert_array_equal(model.read(0, want.shape, np.float16), want)


def test_first_aipp_info_tells_what_was_configured(load, tmp_path):
    model = load(
        static(
            tmp_path,
            "input_format: RGB888_U8 src_image_size_w: 20 src_image_size_h: 18 "
            "crop: true load_start_pos_w: 2 mean_chn_1: 9 var_reci_chn_2: 0.5",
        )
    )
    info, ret = acl.mdl.get_first_aipp_info(model.id, 0)
    assert ret == 0, acl.get_recent_err_msg()
    assert (info["inputFormat"], info["srcImageSizeW"], info["srcImageSizeH"]) == (RGB888, 20, 18)
    assert (info["cropSwitch"], info["loadStartPosW"], info["meanChn1"]) == (1, 2, 9)
    assert (info["varReciChn2"], info["matrixR0C1"], info["shapeCount"]) == (0.5, 516, 1)
    assert info["outDims"][0]["srcDims"]["dims"] == [1, 18, 20, 3]
    assert info["outDims"][0]["aippOutdims"]["dims"] == [1, 3, 16, 12]
    assert info["outDims"][0]["srcSize"] == 18 * 20 * 3
    assert acl.mdl.get_aipp_type(model.id, 0) == (1, 0xFFFFFFFF, 0)
    assert acl.mdl.get_first_aipp_info(model.id, 1)[1] == INVALID_PARAM


@pytest.mark.parametrize(
    "text, sentence",
    [
        ("aipp_mode: static input_format: RGB888_U8 colour: 1", "'colour' (line 1"),
        ("aipp_mode: other", "expected static or dynamic"),
        ("input_format: RGB888_U8", "aipp_mode"),
        ("aipp_mode: static", "input_format"),
        ("aipp_mode: static input_format: NV12", "YUV420SP_U8"),
        ("aipp_mode: dynamic", "max_src_image_size is missing"),
        ("aipp_mode: static input_format: RGB888_U8 mean_chn_0: 256", "0 to 255"),
        ("aipp_mode: static input_format: RGB888_U8 resize: true", "reserved"),
        ("aipp_mode: static input_format: RGB888_U8 crop: true", "src_image_size is 0"),
        (
            "aipp_mode: static input_format: RGB888_U8 src_image_size_w: 20 src_image_size_h: 16",
            "comes out",
        ),
        (
            "aipp_mode: static input_format: RGB888_U8 src_image_size_w: 20 src_image_size_h: 16 "
            "crop: true "
            "load_start_pos_w: 10",
            "not inside",
        ),
        (
            "aipp_mode: static input_format: YUV420SP_U8 src_image_size_w: 20 src_image_size_h: 16 "
            "crop: true "
            "load_start_pos_w: 3",
            "even",
        ),
        ("aipp_mode: static input_format: YUV400_U8", "channels"),
        ("aipp_mode: static input_format: RGB888_U8 related_input_rank: 1", "has 1 inputs"),
        ('aipp_mode: static input_format: RGB888_U8 related_input_name: "z"', "no input 'z'"),
        (
            "aipp_mode: static input_format: RGB888_U8 } "
            "aipp_op { aipp_mode: static input_format: RGB888_U8",
            "two aipp_op",
        ),
        (
            "aipp_mode: static input_format: RGB888_U8 } "
            "aipp_op { aipp_mode: dynamic max_src_image_size: 9",
            "one mode",
        ),
        ("aipp_mode: static input_format: ", "line 1"),
    ],
)
def test_mistakes_in_the_configuration_are_named(tmp_path, text, sentence):
    onnx.save(net(), tmp_path / "net.onnx")
    (tmp_path / "aipp.cfg").write_text("aipp_op { " + text + " }")
    done = atc(
        f"--model={tmp_path}/net.onnx",
        "--framework=5",
        f"--output={tmp_path}/out",
        "--soc_version=Ascend310P3",
        f"--insert_op_conf={tmp_path}/aipp.cfg",
    )
    assert done.returncode == 1
    assert sentence in done.stderr, done.stderr
    assert not (tmp_path / "out.om").exists()


def settings_for(batch, form, width, height):
    made = acl.mdl.create_aipp(batch)
    assert made != 0
    assert acl.mdl.set_aipp_src_image_size(made, width, height) == 0
    assert acl.mdl.set_aipp_input_format(made, form) == 0
    return made


FORMS = [YUV420SP, XRGB8888, RGB888, YUV400, ARGB8888, YUYV, YUV422SP, AYUV444]


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


def test_with_image_gears_crop_and_padding_of_dynamic_aipp_are_refused(load, tmp_path):
    model = load(
        dynamic(
            tmp_path,
            12 * 16 * 3,
            "--input_shape=image:1,3,-1,-1",
            "--dynamic_image_size=16,12;8,6",
            height="H",
            width="W",
        )
    )
    index, gear = model.index(AIPP_INPUT), model.index(GEAR_INPUT)
    made = settings_for(1, RGB888, 12, 16)
    assert acl.mdl.set_aipp_crop_params(made, 1, 0, 0, 12, 16, 0) == 0
    assert acl.mdl.set_input_aipp(model.id, model.inputs, index, made) == INVALID_PARAM
    assert "exclude each other" in acl.get_recent_err_msg()
    assert acl.mdl.set_aipp_crop_params(made, 0, 0, 0, 0, 0, 0) == 0
    assert acl.mdl.set_aipp_src_image_size(made, 6, 8) == 0
    assert acl.mdl.set_input_aipp(model.id, model.inputs, index, made) == INVALID_PARAM
    assert "largest gear" in acl.get_recent_err_msg()
    assert acl.mdl.set_aipp_src_image_size(made, 12, 16) == 0
    assert acl.mdl.set_input_aipp(model.id, model.inputs, index, made) == 0
    assert acl.mdl.destroy_aipp(made) == 0
    assert acl.mdl.set_dynamic_hw_size(model.id, model.inputs, gear, 16, 12) == 0
    raw = picture(RGB888, 12, 16)
    model.feed(raw)
    assert model.execute() == 0, acl.get_recent_err_msg()
    np.testing.assert_array_equal(model.read(0, (3, 16, 12)), aipp(raw, RGB888, 12, 16, 3))


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
    (tmp_path / "bad.cfg").write_text(
        "aipp_op { aipp_mode: static input_format: RGB888_U8 "
        "src_image_size_w: 12 src_image_size_h: 16 }"
    )
    done = atc(
        f"--model={tmp_path}/net.onnx",
        "--framework=5",
        f"--output={tmp_path}/bad",
        "--soc_version=Ascend310P3",
        f"--insert_op_conf={tmp_path}/bad.cfg",
        *gears,
    )
    assert done.returncode == 1 and "src_image_size_h to 0" in done.stderr


def test_aipp_and_dims_gears_exclude_each_other(tmp_path):
    onnx.save(net(batch="N"), tmp_path / "net.onnx")
    (tmp_path / "aipp.cfg").write_text("aipp_op { aipp_mode: static input_format: RGB888_U8 }")
    common = [
        f"--model={tmp_path}/net.onnx",
        "--framework=5",
        f"--output={tmp_path}/out",
        "--soc_version=Ascend310P3",
        f"--insert_op_conf={tmp_path}/aipp.cfg",
    ]
    done = atc(*common, "--input_shape=image:-1,3,16,12", "--dynamic_dims=1;2", "--input_format=ND")
    assert done.returncode == 1 and "--input_format=NCHW" in done.stderr


def nhwc_net(height=16, width=12):
    """Takes pictures as N, H, W, C, as models from TensorFlow do, and adds zero."""
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node("Add", ["image", "zero"], ["out"], name="add")], "net",
        [value("image", TensorProto.FLOAT, [1, height, width, 3])],
        [value("out", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(np.zeros(1, np.float32), "zero")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)])


@pytest.mark.parametrize("gears", [[], ["--input_shape=image:1,-1,-1,3",
                                        "--dynamic_image_size=16,12;8,6"]])
def test_static_aipp_feeds_models_whose_pictures_have_their_channels_last(load, tmp_path, gears):
    (tmp_path / "aipp.cfg").write_text(
        "aipp_op { aipp_mode: static input_format: YUV420SP_U8 "
        "mean_chn_0: 5 mean_chn_1: 6 mean_chn_2: 7 }")
    source = nhwc_net(*(("H", "W") if gears else (16, 12)))
    model = load(convert(tmp_path, "nhwc", source, "--input_format=NHWC",
                         f"--insert_op_conf={tmp_path}/aipp.cfg", *gears))
    raw = picture(YUV420SP, 12, 16)
    model.feed(raw)
    assert model.execute() == 0, acl.get_recent_err_msg()
    want = aipp(raw, YUV420SP, 12, 16, 3, mean=(5, 6, 7)).transpose(1, 2, 0)[None]
    np.testing.assert_array_equal(model.read(0, want.shape), want)
    if not gears:
        info, ret = acl.mdl.get_first_aipp_info(model.id, 0)
        assert ret == 0


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
    assert model.execute() != 0
    assert "[1~2,4~32,0~-1,3~3]" in acl.get_recent_err_msg()


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
    (DYNAMIC % 9999, "dynamic AIPP with shapes that come at run time"),
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
