# SPDX-License-Identifier: Apache-2.0
"""Static AIPP (guide 7.7) by --insert_op_conf, against numpy."""
import numpy as np
import onnx
import pytest
from aipp_models import INVALID_PARAM, NAMES, TO_RGB, TO_YUV, load, net, picture, static
from aipp_reference import RGB888, XRGB8888, YUV400, YUV420SP, aipp
from model_datasets import atc, atc_over, convert
from onnx import TensorProto, helper, numpy_helper
from onnx_models import network

import acl

__all__ = ["load"]  # a fixture


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
        (
            "aipp_mode: static input_format: RGB888_U8 colour: 1",
            "'colour' ({file}:1:53) is no field of aipp_op",
        ),
        (
            "aipp_mode: other",
            "aipp_mode is 'other' ({file}:1:11); expected static or dynamic",
        ),
        ("input_format: RGB888_U8", "aipp_mode is missing in the aipp_op at {file}:1:1"),
        ("aipp_mode: static", "input_format is missing in the aipp_op at {file}:1:1"),
        (
            "aipp_mode: static input_format: NV12",
            "input_format is 'NV12' ({file}:1:29); expected YUV420SP_U8",
        ),
        ("aipp_mode: dynamic", "max_src_image_size is missing in the aipp_op at {file}:1:1"),
        (
            "aipp_mode: dynamic max_src_image_size: 1099511627776",
            "max_src_image_size is 1099511627776 ({file}:1:30); expected 0 to 1099511627775",
        ),
        (
            "aipp_mode: static input_format: RGB888_U8 mean_chn_0: 256",
            "mean_chn_0 is 256 ({file}:1:53); expected 0 to 255",
        ),
        ("aipp_mode: static input_format: RGB888_U8 resize: true", "reserved"),
        ("aipp_mode: static input_format: RGB888_U8 crop: true", "crop ({file}:1:53) is on"),
        (
            "aipp_mode: static input_format: RGB888_U8 src_image_size_w: 1 src_image_size_h: 1",
            "src_image_size_w is 1 ({file}:1:53); expected 0 or 2 to 4096",
        ),
        (
            "aipp_mode: static input_format: RGB888_U8 src_image_size_w: 20",
            "src_image_size_w is 20 and src_image_size_h is 0 ({file}:1:53)",
        ),
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
        (
            "aipp_mode: static input_format: RGB888_U8 related_input_rank: 1",
            "has 1 inputs, expected 0 to 0",
        ),
        (
            'aipp_mode: static input_format: RGB888_U8 related_input_name: "z"',
            "expected one of 'image'",
        ),
        (
            "aipp_mode: static input_format: RGB888_U8 } "
            "aipp_op { aipp_mode: static input_format: RGB888_U8",
            "has two aipp_op, the second at {file}:1:55",
        ),
        (
            "aipp_mode: static input_format: RGB888_U8 } "
            "aipp_op { aipp_mode: dynamic max_src_image_size: 9",
            "the aipp_op at {file}:1:55 is dynamic, those before it are not",
        ),
        ("aipp_mode: static input_format: ", "{file}:1:"),
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
    assert sentence.format(file=tmp_path / "aipp.cfg") in done.stderr, done.stderr
    assert not (tmp_path / "out.om").exists()


def test_pictures_have_their_channels_first_or_last(tmp_path):
    (tmp_path / "aipp.cfg").write_text("aipp_op { aipp_mode: static input_format: RGB888_U8 }")
    done = atc_over(tmp_path, "net", net(), f"--insert_op_conf={tmp_path}/aipp.cfg",
                    "--input_format=ND")
    assert done.returncode == 1 and not (tmp_path / "net.om").exists()
    assert "--insert_op_conf needs --input_format=NCHW or NHWC, which is ND" in done.stderr


def test_a_padded_picture_is_as_wide_as_the_chip_allows(tmp_path):
    onnx.save(net(height=4, width=1088), tmp_path / "net.onnx")
    (tmp_path / "aipp.cfg").write_text(
        "aipp_op { aipp_mode: static input_format: RGB888_U8 src_image_size_w: 1086 "
        "src_image_size_h: 4 padding: true left_padding_size: 2 }"
    )
    for soc, status in (("Ascend310P3", 1), ("Ascend310B1", 0)):
        done = atc(
            f"--model={tmp_path}/net.onnx",
            "--framework=5",
            f"--output={tmp_path}/out",
            f"--soc_version={soc}",
            f"--insert_op_conf={tmp_path}/aipp.cfg",
        )
        assert done.returncode == status, done.stderr
        assert status == 0 or "is 1088 pixels wide; expected at most 1080 on" in done.stderr


def nhwc_net(height=16, width=12):
    """Takes pictures as N, H, W, C, as models from TensorFlow do, and adds zero."""
    return network([helper.make_node("Add", ["image", "zero"], ["out"], name="add")],
                   [("image", TensorProto.FLOAT, [1, height, width, 3])],
                   [("out", TensorProto.FLOAT, None)],
                   [numpy_helper.from_array(np.zeros(1, np.float32), "zero")], opset=14)


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
