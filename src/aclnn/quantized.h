// SPDX-License-Identifier: Apache-2.0
// What recipes of quantised operators share: scales as programs pass them, packed integers,
// rounding.
#pragma once

#include "aclnn/recipe.h"

namespace anynpu::aclnn {

// Scales and offsets in float32, in the shape of the tensor. Those of 64 bits hold a float32 in
// their lower half.
Value scale_of(Recipe& r, Param param);
Value scale_of(Recipe& r, Value scale);
// Unpacks 4-bit integers, eight in an integer of 32 bits, along the last axis. Others stay.
Value unpacked(Recipe& r, Value x);

// The nearest number that `type` has: of two integers the even one.
Value rounded_to(Recipe& r, Value x, DType type);
// The same for an output, which may hold eight integers of 4 bits in one of 32.
void out_rounded(Recipe& r, Param param, Value x);
// The largest number of `type`: 127 of int8, 448 of float8 e4m3.
double largest_of(DType type);

// Quantises every row by its own largest element: values of `type`, a scale per row.
struct RowQuantised {
  Value values, scales;  // scales: the shape of x with a last axis of 1
};
RowQuantised quantise_rows(Recipe& r, Value x, DType type);

// `list` values for each element of the last axis, or one for all: reshaped so that they broadcast.
Value along(Recipe& r, Value list, const Shape& shape, int64_t axis);

}  // namespace anynpu::aclnn
