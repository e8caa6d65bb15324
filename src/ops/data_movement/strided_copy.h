// SPDX-License-Identifier: Apache-2.0
// The strided copy that data movement operators lower to: a dense output is filled from elements of
// the input at given strides (0 repeats, negative reverses).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "ops/kernel.h"
#include "tensor/shape.h"

namespace anynpu::ops {

// The plan of plan_strided_copy, for back ends that do the same copy in their own memory.
struct StridedCopy : KernelPlan {
  Shape out;
  std::vector<int64_t> strides;
  int64_t offset = 0;
  size_t element_bytes = 1;
};

// out[i, j, ...] = in[offset + i * stride[0] + j * stride[1] ...], in elements of `element_bytes`
// (1, 2, 4, 8 or 16). Dimensions that continue each other are joined.
std::unique_ptr<KernelPlan> plan_strided_copy(const Shape& out, std::vector<int64_t> strides,
                                              int64_t offset, size_t element_bytes);

}  // namespace anynpu::ops
