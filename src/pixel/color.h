// SPDX-License-Identifier: Apache-2.0
// Colour: matrices between YUV and RGB, and conversion of pictures between layouts.
#pragma once

#include <array>
#include <cstdint>

#include "pixel/picture.h"

namespace anynpu::pixel {

// out = m * in + bias, with values 0..255.
struct Matrix {
  std::array<double, 9> m;
  std::array<double, 3> bias;
};
struct ColorMatrix {
  Matrix to_rgb;
  Matrix to_yuv;
};

// The numbers programs pass: BT.601, BT.709, BT.2020, each wide (0..255) and narrow (16..235).
inline constexpr uint32_t kColorMatrices = 6;
const ColorMatrix& color_matrix(uint32_t number);

// Both pictures have the same size. Chroma is repeated for upsampling and averaged for
// downsampling; a missing alpha becomes `alpha`. Layouts may be equal: then it is a copy.
void convert(const Picture& from, const Picture& to, const ColorMatrix& matrix,
             uint8_t alpha = 255);

}  // namespace anynpu::pixel
