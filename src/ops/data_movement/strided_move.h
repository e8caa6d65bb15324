// SPDX-License-Identifier: Apache-2.0
// Copies one strided view to another of the same shape. Axes that are contiguous on both sides are
// merged and ordered by the target; if the sides are transposed to each other, the copy is tiled in
// squares that fit the cache.
#pragma once

#include <memory>
#include <vector>

#include "ops/kernel.h"
#include "tensor/shape.h"

namespace anynpu::ops {

struct StridedSide {
  std::vector<int64_t> strides;  // in elements; 0 repeats, negative reverses
  int64_t offset = 0;
};

// Elements of 1, 2, 4, 8 or 16 bytes. Elements of `to` do not overlap.
std::unique_ptr<KernelPlan> plan_strided_move(const Shape& shape, const StridedSide& from,
                                              const StridedSide& to, size_t element_bytes);

}  // namespace anynpu::ops
