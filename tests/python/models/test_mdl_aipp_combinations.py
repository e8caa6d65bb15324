# SPDX-License-Identifier: Apache-2.0
"""AIPP with everything it does at once, in random combinations, against numpy: every input format,
channels and type of the model, crop, swaps, colour conversion, mean, min and variance, padding."""
import numpy as np
import pytest
from aipp_models import AIPP_INPUT, NAMES, load, net, picture, settings_for
from aipp_reference import (
    ARGB8888,
    AYUV444,
    BYTES,
    FORMS,
    STATIC_FORMS,
    XRGB8888,
    YUV400,
    YUV420SP,
    YUV422SP,
    YUYV,
    aipp,
)
from model_datasets import convert
from onnx import TensorProto

import acl

__all__ = ["load"]  # a fixture

ROUNDS = 12
TYPES = {TensorProto.FLOAT: np.float32, TensorProto.FLOAT16: np.float16,
         TensorProto.UINT8: np.uint8}
TOLERANCES = {np.float32: {"rtol": 2e-6, "atol": 2e-4}, np.float16: {"rtol": 2e-3, "atol": 2e-3},
              np.uint8: {"rtol": 0}}


class Case:
    """The parameters of `count` pictures, which come out in one size. What the reference takes by
    name lies in `common` and, picture by picture, in `each`."""

    def __init__(self, rng, form, count):
        self.rng, self.form, self.count = rng, form, count
        paired, halved = form in (YUV420SP, YUYV, YUV422SP), form == YUV420SP
        self.step_x, self.step_y = 2 if paired else 1, 2 if halved else 1
        self.width, self.height = self.number(2, 9) * 2, self.number(2, 9) * 2
        most = {XRGB8888: 4, ARGB8888: 4, AYUV444: 4, YUV400: 1}.get(form, 3)
        self.channels = int(rng.choice([c for c in (1, 3, 4) if c <= most]))
        self.dtype = int(rng.choice(list(TYPES)))
        self.common = {"swap": self.flag(), "ax_swap": self.flag()}
        if self.flag():
            self.common.update(matrix=[self.number(-300, 520) for _ in range(9)],
                               input_bias=[self.number(0, 255) for _ in range(3)],
                               output_bias=[self.number(0, 255) for _ in range(3)])
        if self.flag():
            self.common["padding"] = [self.number(0, 5) for _ in range(4)]
        self.crop_size = self.flag() and (self.number(1, self.width), self.number(1, self.height))
        self.each = [self.one() for _ in range(count)]

    def number(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def flag(self):
        return bool(self.rng.integers(2))

    def one(self):
        made = {"mean": [self.number(0, 255) for _ in range(4)],
                "low": [round(float(v), 3) for v in self.rng.uniform(-9, 9, 4)],
                "variance": [round(float(v), 4) for v in self.rng.uniform(0.001, 2, 4)]}
        if self.crop_size:
            width, height = self.crop_size
            x, y = self.number(0, self.width - width), self.number(0, self.height - height)
            made["crop"] = (x - x % self.step_x, y - y % self.step_y, width, height)
        return made

    def source(self):
        width, height = self.crop_size or (self.width, self.height)
        top, bottom, left, right = self.common.get("padding", (0, 0, 0, 0))
        return net(self.channels, self.count, height + top + bottom, width + left + right,
                   dtype=self.dtype)

    def expected(self, raw):
        pictures = []
        for one, part in zip(self.each, np.split(raw, self.count)):
            if self.dtype == TensorProto.UINT8:  # bytes to bytes: no mean, min or variance
                one = {key: one[key] for key in ("crop",) if key in one}
            pictures.append(aipp(part, self.form, self.width, self.height, self.channels,
                                 **self.common, **one))
        return np.stack(pictures).astype(TYPES[self.dtype])

    def text(self):
        """As one static aipp_op, with the parameters of the first picture."""
        one, common = self.each[0], self.common
        fields = {"input_format": NAMES[self.form], "src_image_size_w": self.width,
                  "src_image_size_h": self.height, "rbuv_swap_switch": common["swap"],
                  "ax_swap_switch": common["ax_swap"], "csc_switch": "matrix" in common}
        for key, name in (("mean", "mean_chn"), ("low", "min_chn"), ("variance", "var_reci_chn")):
            fields.update({f"{name}_{i}": value for i, value in enumerate(one[key])})
        if "matrix" in common:
            fields.update({f"matrix_r{i // 3}c{i % 3}": m for i, m in enumerate(common["matrix"])})
            for key in ("input_bias", "output_bias"):
                fields.update({f"{key}_{i}": value for i, value in enumerate(common[key])})
        if "crop" in one:
            names = ("load_start_pos_w", "load_start_pos_h", "crop_size_w", "crop_size_h")
            fields.update({"crop": True, **dict(zip(names, one["crop"]))})
        if "padding" in common:
            names = (f"{side}_padding_size" for side in ("top", "bottom", "left", "right"))
            fields.update({"padding": True, **dict(zip(names, common["padding"]))})
        lines = (f"{name}: {str(value).lower() if isinstance(value, bool) else value}"
                 for name, value in fields.items())
        return "aipp_op { aipp_mode: static\n" + "\n".join(lines) + "\n}"

    def set_parameters(self, model):
        made = settings_for(self.count, self.form, self.width, self.height)
        common, codes = self.common, []
        codes.append(acl.mdl.set_aipp_rbuv_swap_switch(made, common["swap"]))
        codes.append(acl.mdl.set_aipp_ax_swap_switch(made, common["ax_swap"]))
        if "matrix" in common:
            codes.append(acl.mdl.set_aipp_csc_params(
                made, 1, *common["matrix"], *common["output_bias"], *common["input_bias"]))
        for i, one in enumerate(self.each):
            codes.append(acl.mdl.set_aipp_dtc_pixel_mean(made, *one["mean"], i))
            codes.append(acl.mdl.set_aipp_dtc_pixel_min(made, *one["low"], i))
            codes.append(acl.mdl.set_aipp_pixel_var_reci(made, *one["variance"], i))
            if "crop" in one:
                codes.append(acl.mdl.set_aipp_crop_params(made, 1, *one["crop"], i))
            if "padding" in common:
                codes.append(acl.mdl.set_aipp_padding_params(made, 1, *common["padding"], i))
        codes.append(
            acl.mdl.set_input_aipp(model.id, model.inputs, model.index(AIPP_INPUT), made))
        assert not any(codes), acl.get_recent_err_msg()
        assert acl.mdl.destroy_aipp(made) == 0


def check(model, case, raw):
    model.feed(raw)
    assert model.execute() == 0, acl.get_recent_err_msg()
    want = case.expected(raw)
    got = model.read(0, want.shape, want.dtype)
    np.testing.assert_allclose(got, want, **TOLERANCES[want.dtype.type])


@pytest.mark.parametrize("form", STATIC_FORMS)
@pytest.mark.parametrize("seed", range(ROUNDS))
def test_static_aipp_does_all_of_it_for_every_picture(load, tmp_path, form, seed):
    case = Case(np.random.default_rng((seed, form)), form, count=2)
    case.each[1] = case.each[0]
    (tmp_path / "aipp.cfg").write_text(case.text())
    model = load(convert(tmp_path, "net", case.source(), f"--insert_op_conf={tmp_path}/aipp.cfg"))
    check(model, case, picture(form, case.width, case.height, 2, seed))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", range(ROUNDS))
def test_dynamic_aipp_does_all_of_it_for_each_picture(load, tmp_path, form, seed):
    case = Case(np.random.default_rng((seed, form, 1)), form, count=3)
    largest = int(3 * BYTES[form] * case.width * case.height)
    (tmp_path / "aipp.cfg").write_text(
        "aipp_op { aipp_mode: dynamic max_src_image_size: %d }" % largest)
    model = load(convert(tmp_path, "net", case.source(), f"--insert_op_conf={tmp_path}/aipp.cfg"))
    case.set_parameters(model)
    check(model, case, picture(form, case.width, case.height, 3, seed))
