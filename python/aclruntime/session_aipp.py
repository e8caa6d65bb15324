# SPDX-License-Identifier: Apache-2.0
"""The setters of dynamic AIPP, a part of InferenceSession."""

_FORMATS = {"YUV420SP_U8": 1, "XRGB8888_U8": 2, "RGB888_U8": 3, "YUV400_U8": 4}


class AippSettings:
    """Collects the parameters; set_dym_aipp_info_set passes them to the session, and
    check_dym_aipp_input_exist switches them on, in any order."""

    def __init__(self):
        self._aipp_active = self._aipp_given = False
        self._aipp = {"batch": 1, "format": 0, "image": [0, 0], "rbuv": 0, "ax": 0,
                      "csc": [0] * 16, "crop": [0] * 5, "padding": [0] * 5, "mean": [0] * 4,
                      "least": [0.0] * 4, "reciprocal": [1.0] * 4}

    def get_dym_aipp_input_exist(self):
        return self._aipp_count

    def check_dym_aipp_input_exist(self):
        if self._aipp_count != 1:
            raise RuntimeError(f"[1004][Invalid parameter] the model has {self._aipp_count} inputs "
                               "with dynamic AIPP; one is needed")
        self._aipp_active = True
        if self._aipp_given:
            self.set_dym_aipp_info_set()
        return 0

    def _set_aipp(self, key, value, count=None):
        if count is not None:
            value = list(value)
            if len(value) != count:
                raise RuntimeError(f"[1004][Invalid parameter] AIPP {key}: {len(value)} values "
                                   f"were given, {count} are needed")
        self._aipp[key] = value
        return 0

    def aipp_set_max_batch_size(self, batch):
        return self._set_aipp("batch", int(batch))

    def aipp_set_input_format(self, name):
        if name not in _FORMATS:
            raise RuntimeError(f"[1004][Invalid parameter] AIPP input format '{name}' is not one "
                               f"of {', '.join(_FORMATS)}")
        return self._set_aipp("format", _FORMATS[name])

    def aipp_set_src_image_size(self, size):
        return self._set_aipp("image", size, 2)

    def aipp_set_rbuv_swap_switch(self, on):
        return self._set_aipp("rbuv", int(on))

    def aipp_set_ax_swap_switch(self, on):
        return self._set_aipp("ax", int(on))

    def aipp_set_csc_params(self, values):
        return self._set_aipp("csc", values, 16)

    def aipp_set_crop_params(self, values):
        return self._set_aipp("crop", values, 5)

    def aipp_set_padding_params(self, values):
        return self._set_aipp("padding", values, 5)

    def aipp_set_dtc_pixel_mean(self, values):
        return self._set_aipp("mean", values, 4)

    def aipp_set_dtc_pixel_min(self, values):
        return self._set_aipp("least", values, 4)

    def aipp_set_pixel_var_reci(self, values):
        return self._set_aipp("reciprocal", values, 4)

    def set_dym_aipp_info_set(self):
        self._aipp_given = True
        self._native.set_aipp(self._aipp_active, *self._aipp.values())
        return 0
