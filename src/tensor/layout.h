// SPDX-License-Identifier: Apache-2.0
// Shapes of one tensor in different formats: how the extents change when the format
// changes.
#pragma once

#include <cstdint>
#include <vector>

#include "base/align.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace anynpu {

// Width of the innermost block of the blocked formats: 32 bytes' worth of elements, at least 16 for
// the cube unit's types (16 for 16-bit and 32-bit types, 32 for 8-bit, 64 for 4-bit).
int64_t block_width(DType type);

// Rows of a block of FRACTAL_Z and FRACTAL_NZ.
inline constexpr int64_t kBlockRows = 16;

// Blocks of `width` that hold `extent` elements; a dynamic extent stays what it is.
constexpr int64_t block_count(int64_t extent, int64_t width) {
  return extent < 0 ? extent : ceil_div(extent, width);
}

// The permutation of axes from `from` to `to`, for formats that differ only in the order of axes.
// Empty when there is none.
std::vector<int64_t> axis_order(Format from, Format to);

// `shape` (in `from`) converted to the format `to`. Axis formats convert among themselves
// (NCHW, NHWC, HWCN; NCDHW, NDHWC; ND keeps extents); from them to NC1HWC0, FRACTAL_Z and, from 2
// dimensions up, FRACTAL_NZ. Fails on other pairs, wrong ranks and dynamic channels.
Result<Shape> shape_in_format(const Shape& shape, Format from, Format to, DType type);

}  // namespace anynpu
