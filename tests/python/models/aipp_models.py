# SPDX-License-Identifier: Apache-2.0
"""Models with AIPP for tests: they add zero, so that what AIPP makes comes out."""
import numpy as np
import pytest
from aipp_reference import BYTES, RGB888, XRGB8888, YUV400, YUV420SP
from model_datasets import Model, convert
from onnx import TensorProto, helper, numpy_helper
from onnx_models import network

import acl

INVALID_PARAM, NOT_STATIC, AIPP_NOT_EXIST = 100000, 100038, 145015
NAMES = {YUV420SP: "YUV420SP_U8", XRGB8888: "XRGB8888_U8", RGB888: "RGB888_U8", YUV400: "YUV400_U8"}
TO_RGB = [256, 0, 359, 256, -88, -183, 256, 454, 0]
TO_YUV = [77, 150, 29, -43, -85, 128, 128, -107, -21]
DYNAMIC = "aipp_op { aipp_mode: dynamic max_src_image_size: %d }"
AIPP_INPUT, GEAR_INPUT = "ascend_dynamic_aipp_data", "ascend_mbatch_shape_data"


def net(channels=3, batch=1, height=16, width=12, inputs=1, dtype=TensorProto.FLOAT):
    """Adds zero to each input: what AIPP makes comes out."""
    kind = {TensorProto.FLOAT: np.float32, TensorProto.FLOAT16: np.float16,
            TensorProto.UINT8: np.uint8}[dtype]
    names = ["image", "second"][:inputs]
    return network([helper.make_node("Add", [name, "zero"], [name + "_out"], name="add_" + name)
                    for name in names],
                   [(name, dtype, [batch, channels, height, width]) for name in names],
                   [(name + "_out", dtype, None) for name in names],
                   [numpy_helper.from_array(np.zeros(1, kind), "zero")], opset=14)


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


def settings_for(batch, form, width, height):
    made = acl.mdl.create_aipp(batch)
    assert made != 0
    assert acl.mdl.set_aipp_src_image_size(made, width, height) == 0
    assert acl.mdl.set_aipp_input_format(made, form) == 0
    return made


@pytest.fixture
def load(runtime):
    made = []

    def make(path, **sizes):
        made.append(Model(path, **sizes))
        return made[-1]

    yield make
    for model in made:
        model.close()
