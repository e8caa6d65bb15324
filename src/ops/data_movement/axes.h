// SPDX-License-Identifier: Apache-2.0
// Axis lists of data movement operators: from the attribute, or from a constant input (newer
// opsets).
#pragma once

#include <vector>

#include "ops/schema.h"

namespace anynpu::ops {

// axis in [-rank, rank), made positive.
Result<int64_t> normal_axis(const OpContext& context, int64_t axis, int64_t rank);

// The int64 or int32 values of a constant input. `known` false: present, but not constant.
struct IntegerList {
  bool present = false, known = false;
  std::vector<int64_t> values;
};
IntegerList integers_of(const Operand& operand);

}  // namespace anynpu::ops
