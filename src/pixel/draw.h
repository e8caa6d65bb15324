// SPDX-License-Identifier: Apache-2.0
// Shapes drawn over a picture, and mosaics. Layouts are not packed 4:2:2. A chroma sample is
// painted if one of its pixels is.
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "pixel/color.h"
#include "pixel/transform.h"

namespace anynpu::pixel {

// A pixel of a picture.
struct Spot {
  int32_t x = 0, y = 0;
};

// Pixels, and the region that holds all of them.
struct Shape {
  Rect bounds;
  std::function<bool(uint32_t x, uint32_t y)> covers;
};
Shape rectangle(const Rect& rect);
// Pixels at most thick / 2 away from the line, inside the picture; its ends are round.
Shape line(Spot from, Spot to, uint32_t thick, const Picture& inside);
// A filled quadrangle; corners in order along the edge.
Shape quadrangle(const std::array<Spot, 4>& corners);

// 0xRRGGBB as components of a layout, like those of a border.
Border color_of(const Format& format, uint32_t rgb, const ColorMatrix& matrix);
void paint(const Picture& to, const Shape& shape, const Border& color);

// Each square of `side` pixels, counted from the corner of the region, gets its mean.
void pixelate(const Picture& to, const Rect& region, uint32_t side);

}  // namespace anynpu::pixel
