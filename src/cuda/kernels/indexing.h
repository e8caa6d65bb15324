// SPDX-License-Identifier: Apache-2.0
// CUDA expressions that map the index `i` of an output element to the index of an operand's
// element.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tensor/shape.h"

namespace anynpu::device::cuda {

// The variable `index` is a linear index into a dense tensor of shape `out`. The result is offset
// plus the sum over the axes of coordinate[axis] * strides[axis].
std::string strided_index(const Shape& out, const std::vector<int64_t>& strides, int64_t offset,
                          std::string_view index = "i");

// The same for a dense operand of shape `in` that is broadcast to `out`.
std::string broadcast_index(const Shape& in, const Shape& out);

}  // namespace anynpu::device::cuda
