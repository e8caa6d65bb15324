# SPDX-License-Identifier: Apache-2.0
"""AIPP written down with numpy, from the formulas of the documents: the oracle of the tests."""

import numpy as np

YUV420SP, XRGB8888, RGB888, YUV400, ARGB8888, YUYV, YUV422SP, AYUV444 = 1, 2, 3, 4, 7, 8, 9, 10
STATIC_FORMS = [YUV420SP, XRGB8888, RGB888, YUV400]
FORMS = [*STATIC_FORMS, ARGB8888, YUYV, YUV422SP, AYUV444]
YUV = (YUV420SP, YUV400, YUYV, YUV422SP, AYUV444)
BYTES = {
    YUV420SP: 1.5,
    XRGB8888: 4,
    RGB888: 3,
    YUV400: 1,
    ARGB8888: 4,
    YUYV: 2,
    YUV422SP: 2,
    AYUV444: 4,
}


def planes(raw, form, width, height, ax_swap=False):
    """The picture as H, W, channels (three colours, or the extra one in front of them)."""
    if form == YUV400:
        return raw.reshape(height, width, 1)
    if form == RGB888:
        return raw.reshape(height, width, 3)
    if form == YUYV:
        pairs = raw.reshape(height, width // 2, 4)
        y = pairs[..., 0::2].reshape(height, width)
        u, v = (np.repeat(pairs[..., k], 2, axis=1) for k in (1, 3))
        return np.stack([y, u, v], axis=-1)
    if form in (YUV420SP, YUV422SP):
        y = raw[: width * height].reshape(height, width)
        rows = height // 2 if form == YUV420SP else height
        uv = raw[width * height :].reshape(rows, width // 2, 2).repeat(2, axis=1)
        if form == YUV420SP:
            uv = uv.repeat(2, axis=0)
        return np.concatenate([y[..., None], uv], axis=-1)
    four = raw.reshape(height, width, 4)
    return np.roll(four, 1, axis=-1) if ax_swap else four


def aipp(
    raw,
    form,
    width,
    height,
    channels,
    crop=None,
    padding=None,
    padding_value=0,
    swap=False,
    ax_swap=False,
    matrix=None,
    input_bias=(0, 0, 0),
    output_bias=(0, 0, 0),
    mean=(0,) * 4,
    low=(0,) * 4,
    variance=(1,) * 4,
):
    """One picture as channels, H, W in float32. padding is (top, bottom, left, right)."""
    image = planes(raw, form, width, height, ax_swap).astype(np.int64)
    extra = image.shape[-1] == 4
    colours = image[..., 1:] if extra else image
    if swap and form in YUV and colours.shape[-1] == 3:
        colours = colours[..., [0, 2, 1]]
    elif swap and form not in YUV:
        colours = colours[..., [2, 1, 0]]
    if crop:
        x, y, w, h = crop
        colours, image = colours[y : y + h, x : x + w], image[y : y + h, x : x + w]
    if matrix is not None:
        m = np.array(matrix).reshape(3, 3)
        if colours.shape[-1] == 1:
            colours = np.concatenate([colours, np.zeros_like(colours), np.zeros_like(colours)], -1)
        if form in YUV:
            colours = ((colours - np.array(input_bias)) @ m.T) >> 8
        else:
            colours = ((colours @ m.T) >> 8) + np.array(output_bias)
        colours = np.clip(colours, 0, 255)
    result = (
        np.concatenate([image[..., :1], colours], -1) if channels == 4 else colours[..., :channels]
    )
    result = result.astype(np.float64)
    for k in range(channels):
        result[..., k] = (result[..., k] - mean[k] - low[k]) * variance[k]
    result = result.transpose(2, 0, 1)
    if padding:
        top, bottom, left, right = padding
        result = np.pad(
            result, ((0, 0), (top, bottom), (left, right)), constant_values=padding_value
        )
    return result.astype(np.float32)
