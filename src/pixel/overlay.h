// SPDX-License-Identifier: Apache-2.0
// Alpha blending of one picture over another.
#pragma once

#include "pixel/color.h"
#include "pixel/draw.h"

namespace anynpu::pixel {

// `over` is RGBA (kRgba8888); its top left corner is at `at`, and parts outside of `to` are
// clipped. A chroma sample uses the mean alpha of its pixels. `matrix` is for YUV.
void lay_over(const Picture& over, const Picture& to, Spot at, const ColorMatrix& matrix);

}  // namespace anynpu::pixel
