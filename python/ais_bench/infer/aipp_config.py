# SPDX-License-Identifier: Apache-2.0
"""The file of dynamic AIPP parameters: INI text with one section [aipp_op]."""
import configparser

_FORMATS = ("YUV420SP_U8", "XRGB8888_U8", "RGB888_U8", "YUV400_U8")
_CSC = [f"matrix_r{row}c{column}" for row in range(3) for column in range(3)]
_BIASES = [f"{side}_bias_{i}" for side in ("output", "input") for i in range(3)]


def _refuse(sentence):
    raise RuntimeError(f"wrong aipp config file content! {sentence}")


class _Section:
    def __init__(self, values):
        self.values = values

    def number(self, key, least, most, default=None, kind=int):
        text = self.values.get(key)
        if text is None:
            if default is None:
                _refuse(f"'{key}' is missing; it is from {least} to {most}")
            return default
        try:
            value = kind(text)
        except ValueError:
            _refuse(f"'{key}' is '{text}', no number")
        if not least <= value <= most:
            _refuse(f"'{key}' is {text}, it must be from {least} to {most}")
        return value

    def switch(self, key):
        return self.number(key, 0, 1, 0)

    def channels(self, stem, least, most, default, kind=int):
        return [self.number(f"{stem}_chn_{i}", least, most, default, kind) for i in range(4)]


def read_aipp_config(path):
    """The values of [aipp_op], checked: {setter of the session: argument}."""
    parser = configparser.ConfigParser()
    try:
        with open(path, encoding="utf-8") as file:
            parser.read_file(file)
    except (OSError, UnicodeDecodeError, configparser.MissingSectionHeaderError,
            configparser.ParsingError) as error:
        _refuse(f"'{path}' cannot be read: {error}")
    if parser.sections() != ["aipp_op"]:
        _refuse(f"'{path}' has the sections {parser.sections()}; [aipp_op] alone is needed")
    section = _Section(parser["aipp_op"])
    form = section.values.get("input_format", "")
    if form not in _FORMATS:
        _refuse(f"'input_format' is '{form}', it must be one of {', '.join(_FORMATS)}")
    size = [section.number("src_image_size_w", 2, 4096),
            section.number("src_image_size_h", 1, 4096)]
    csc, crop, padding = (section.switch(key) for key in ("csc_switch", "crop", "padding"))
    csc_values, crop_values, sides = [0] * 15, [0, 0, 416, 416], [0] * 4
    if csc:
        csc_values = [section.number(key, -32677, 32676, 0) for key in _CSC]
        csc_values += [section.number(key, 0, 255, 0) for key in _BIASES]
    if crop:
        crop_values = [section.number(f"load_start_pos_{axis}", 0, 4095, 0) for axis in "wh"]
        crop_values += [section.number(f"crop_size_{axis}", 1, 4096) for axis in "wh"]
    if padding:
        sides = [section.number(f"{side}_padding_size", 0, 32, 0)
                 for side in ("top", "bottom", "left", "right")]
    return {
        "aipp_set_input_format": form,
        "aipp_set_src_image_size": size,
        "aipp_set_rbuv_swap_switch": section.switch("rbuv_swap_switch"),
        "aipp_set_ax_swap_switch": section.switch("ax_swap_switch"),
        "aipp_set_csc_params": [csc, *csc_values],
        "aipp_set_crop_params": [crop, *crop_values],
        "aipp_set_padding_params": [padding, *sides],
        "aipp_set_dtc_pixel_mean": section.channels("mean", 0, 255, 0),
        "aipp_set_dtc_pixel_min": section.channels("min", 0, 255, 0.0, float),
        "aipp_set_pixel_var_reci": section.channels("var_reci", -65504, 65504, 0.0, float),
    }


def load_aipp_config(session, config_file, batchsize):
    values = read_aipp_config(config_file)
    session.aipp_set_max_batch_size(batchsize)
    for setter, value in values.items():
        getattr(session, setter)(value)
    return session.set_dym_aipp_info_set()
