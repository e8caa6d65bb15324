// SPDX-License-Identifier: Apache-2.0
// The basic operation of VPC: a region of one picture, scaled and converted into a region of
// another. Pixels outside that region are not changed.
#pragma once

#include "pixel/color.h"
#include "pixel/picture.h"
#include "pixel/resize.h"

namespace anynpu::pixel {

struct Transform {
  Picture from;
  Rect crop;
  Picture to;
  Rect paste;
  Interpolation interpolation = Interpolation::nearest;
  const ColorMatrix* matrix = &color_matrix(0);
  uint8_t alpha = 255;
};
void transform(const Transform& t);

// The border around a picture.
enum class BorderKind : uint32_t { constant, replicate, reflect, reflect_101, wrap };
struct Border {
  BorderKind kind = BorderKind::constant;
  uint8_t value[4] = {};  // of the components, for constant
};
// Fills `to` around the region `inside`, which is not changed.
void fill_border(const Picture& to, const Rect& inside, const Border& border);

// Counts each value of each component; subsampled chroma is counted as stored.
struct Histogram {
  uint32_t count[3][256] = {};
};
int components(const Format& format);
void count_values(const Picture& from, Histogram* histogram);
// Replaces each value by the table of its component; sizes and layouts are equal.
struct Lookup {
  uint8_t value[3][256] = {};
};
void look_up(const Picture& from, const Picture& to, const Lookup& table);

// Half the size in both directions, after a 5x5 filter (weights add to `divisor`).
struct Filter5x5 {
  int32_t weight[5][5];
  int32_t divisor;
};
const Filter5x5& gaussian_5x5();
void pyramid_down(const Picture& from, const Picture& to, const Filter5x5& filter,
                  const Border& border);

}  // namespace anynpu::pixel
