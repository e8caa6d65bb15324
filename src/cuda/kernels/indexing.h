// SPDX-License-Identifier: Apache-2.0
// Source text for generated kernels: the index of an operand's element for output element `i`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tensor/shape.h"

namespace anynpu::device::cuda {

// An expression of the variable `index`, a linear index into a dense tensor of shape `out`: the sum
// over the axes of coordinate[axis] * strides[axis], plus `offset`.
std::string strided_index(const Shape& out, const std::vector<int64_t>& strides, int64_t offset,
                          std::string_view index = "i");

// The same for an operand of shape `in` that is broadcast to `out`.
std::string broadcast_index(const Shape& in, const Shape& out);

}  // namespace anynpu::device::cuda
