// SPDX-License-Identifier: Apache-2.0
// Operands and types of element-wise recipes: a parameter may be a tensor or a number.
#pragma once

#include "aclnn/recipe.h"

namespace anynpu::aclnn {

// The type in which a result of `type` is computed: float32 for 16-bit floats, because a scalar of
// the program must not be rounded to 16 bits first; an integer type for bool.
inline DType computed_in(DType type) {
  if (type == DType::f16 || type == DType::bf16) return DType::f32;
  return type == DType::boolean ? DType::i32 : type;
}

// torch's result type of two parameters, at least one of them a tensor.
inline DType common_type(const Recipe& r, Param a, Param b) {
  if (!r.is_tensor(a)) return promote_scalar(r.dtype(b), r.scalar_type(a));
  if (!r.is_tensor(b)) return promote_scalar(r.dtype(a), r.scalar_type(b));
  return promote(r.dtype(a), r.dtype(b));
}

// The type to compute in: float32 for 16-bit floats if one operand is a scalar.
inline DType arithmetic_type(const Recipe& r, Param a, Param b) {
  const DType type = common_type(r, a, b);
  const bool tensors = r.is_tensor(a) && r.is_tensor(b);
  return tensors && type != DType::boolean ? type : computed_in(type);
}

// Seed and offset of a generator: numbers, or tensors that a captured graph reads when it runs.
inline std::vector<Value> seeds_of(Recipe& r) {
  const Value more = r.number("offset", DType::i64);
  if (!r.has_parameter("seedTensor")) return {r.number("seed", DType::i64), more};
  const auto tensor = [&](const char* name) {
    return r.reshape(r.cast(r.in(name), DType::i64), {});
  };
  return {tensor("seedTensor"), r.op("Add", {tensor("offsetTensor"), more})};
}

inline Value operand(Recipe& r, Param param, DType type) {
  return r.is_tensor(param) ? r.cast(r.in(param), type) : r.number(param, type);
}

}  // namespace anynpu::aclnn
