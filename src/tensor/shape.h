// SPDX-License-Identifier: Apache-2.0
// Shape: the extents of a tensor. -1 stands for an extent known only at run time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace anynpu {

constexpr int64_t kDynamicDim = -1;

using Shape = std::vector<int64_t>;

// Product of the extents; 1 for a scalar, 0 if any extent is 0, -1 if any is dynamic.
int64_t element_count(const Shape& shape);
bool is_static(const Shape& shape);
// Fails on negative extents (other than -1) and on products over 2^62.
Status check_shape(const Shape& shape);
// "1x3x224x224", "scalar", "?x3".
std::string to_string(const Shape& shape);
// Row-major strides in elements.
std::vector<int64_t> strides_of(const Shape& shape);

}  // namespace anynpu
