// SPDX-License-Identifier: Apache-2.0
#include "ops/data_movement/axes.h"

#include <cstring>

namespace anynpu::ops {

Result<int64_t> normal_axis(const OpContext& context, int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank) {
    return fail(Code::invalid_argument,
                "{}: axis {} of a tensor of {} dimensions, expected {} to {}", context.label(),
                axis, rank, -rank, rank - 1);
  }
  return axis < 0 ? axis + rank : axis;
}

IntegerList integers_of(const Operand& operand) {
  IntegerList list;
  list.present = operand.present;
  if (!operand.present || !operand.is_constant) return list;
  list.known = operand.dtype == DType::i64 || operand.dtype == DType::i32;
  if (operand.dtype == DType::i32) {
    for (size_t i = 0; i + 4 <= operand.constant.size(); i += 4) {
      int32_t value = 0;
      std::memcpy(&value, operand.constant.data() + i, sizeof value);
      list.values.push_back(value);
    }
  }
  if (operand.dtype != DType::i64) return list;
  list.values.resize(operand.constant.size() / sizeof(int64_t));
  if (!list.values.empty()) {
    std::memcpy(list.values.data(), operand.constant.data(), list.values.size() * sizeof(int64_t));
  }
  return list;
}

}  // namespace anynpu::ops
