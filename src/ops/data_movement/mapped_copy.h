// SPDX-License-Identifier: Apache-2.0
// Copies whose source index is chosen per axis: padding, cropping, nearest neighbour.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "ops/kernel.h"
#include "tensor/shape.h"

namespace anynpu::ops {

// maps[d][i]: the input offset of index i along axis d of the output, in elements; -1 means the
// fill value, regardless of the other axes.
using AxisMaps = std::vector<std::vector<int64_t>>;

// The fill value: an element of an input, or `bytes` if `input` is -1.
struct Fill {
  int input = -1;
  std::vector<std::byte> bytes;
};

// What plan_mapped_copy gives, for back ends that do the same copy in their own memory.
struct MappedCopy : KernelPlan {
  Shape out;  // of one axis at least
  std::shared_ptr<const AxisMaps> maps;
  size_t element_bytes = 1;
  Fill fill;
};

// out[i, j, ...] = in[maps[0][i] + maps[1][j] + ...] or the fill value, in elements of
// `element_bytes` (1, 2, 4, 8 or 16).
std::unique_ptr<KernelPlan> plan_mapped_copy(Shape out, AxisMaps maps, size_t element_bytes,
                                             Fill fill);

}  // namespace anynpu::ops
