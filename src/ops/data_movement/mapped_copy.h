// SPDX-License-Identifier: Apache-2.0
// Copies whose source is chosen axis by axis: padding, cropping, nearest neighbours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "ops/kernel.h"
#include "tensor/shape.h"

namespace anynpu::ops {

// maps[d][i]: how far index i along axis d of the output is from the start of the input, in
// elements; -1 means the fill value, whatever the other axes say.
using AxisMaps = std::vector<std::vector<int64_t>>;

// An element: that of an input, or its bytes where `input` is -1.
struct Fill {
  int input = -1;
  std::vector<std::byte> bytes;
};

// out[i, j, ...] = in[maps[0][i] + maps[1][j] + ...] or the fill value, in elements of
// `element_bytes` (1, 2, 4, 8 or 16).
std::unique_ptr<KernelPlan> plan_mapped_copy(Shape out, AxisMaps maps, size_t element_bytes,
                                             Fill fill);

}  // namespace anynpu::ops
