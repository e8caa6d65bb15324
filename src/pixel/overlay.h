// SPDX-License-Identifier: Apache-2.0
// A picture with alpha laid over another one.
#pragma once

#include "pixel/color.h"
#include "pixel/draw.h"

namespace anynpu::pixel {

// `over` is RGBA (kRgba8888); its left upper corner comes to `at`, and what lies outside of `to` is
// cut off. Chroma that pixels share gets the mean of their alphas. `matrix` is for YUV.
void lay_over(const Picture& over, const Picture& to, Spot at, const ColorMatrix& matrix);

}  // namespace anynpu::pixel
