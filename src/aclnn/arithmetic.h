// SPDX-License-Identifier: Apache-2.0
// What recipes of several families share.
#pragma once

#include "aclnn/recipe.h"

namespace anynpu::aclnn {

// The type that a result of `type` is computed in: numbers of 16 bits in float32, because a
// program's number is not rounded to them first, and truth values as integers.
inline DType computed_in(DType type) {
  if (type == DType::f16 || type == DType::bf16) return DType::f32;
  return type == DType::boolean ? DType::i32 : type;
}

}  // namespace anynpu::aclnn
