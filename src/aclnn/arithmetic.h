// SPDX-License-Identifier: Apache-2.0
// Operands and types of element-wise recipes: a parameter may be a tensor or a number.
#pragma once

#include "aclnn/recipe.h"

namespace anynpu::aclnn {

// The type that a result of `type` is computed in: numbers of 16 bits in float32, because a
// program's number is not rounded to them first, and truth values as integers.
inline DType computed_in(DType type) {
  if (type == DType::f16 || type == DType::bf16) return DType::f32;
  return type == DType::boolean ? DType::i32 : type;
}

// torch's type of two parameters, at least one of them a tensor.
inline DType common_type(const Recipe& r, Param a, Param b) {
  if (!r.is_tensor(a)) return promote_scalar(r.dtype(b), r.scalar_type(a));
  if (!r.is_tensor(b)) return promote_scalar(r.dtype(a), r.scalar_type(b));
  return promote(r.dtype(a), r.dtype(b));
}

// The type to compute in: with a number among the operands float32 for the types of 16 bits.
inline DType arithmetic_type(const Recipe& r, Param a, Param b) {
  const DType type = common_type(r, a, b);
  const bool tensors = r.is_tensor(a) && r.is_tensor(b);
  return tensors && type != DType::boolean ? type : computed_in(type);
}

inline Value operand(Recipe& r, Param param, DType type) {
  return r.is_tensor(param) ? r.cast(r.in(param), type) : r.number(param, type);
}

}  // namespace anynpu::aclnn
