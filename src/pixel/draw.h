// SPDX-License-Identifier: Apache-2.0
// Shapes painted over a picture, and regions made unreadable. Layouts are not packed 4:2:2. Chroma
// that pixels share is painted when one of them is.
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
// The inside and the edge of four corners, in the order in which the edge meets them.
Shape quadrangle(const std::array<Spot, 4>& corners);

// The components that a layout has of 0xRRGGBB, as those of a border.
Border color_of(const Format& format, uint32_t rgb, const ColorMatrix& matrix);
void paint(const Picture& to, const Shape& shape, const Border& color);

// Each square of `side` pixels, counted from the corner of the region, gets its mean.
void pixelate(const Picture& to, const Rect& region, uint32_t side);

}  // namespace anynpu::pixel
