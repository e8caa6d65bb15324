// SPDX-License-Identifier: Apache-2.0
// Type promotion by the rules of torch: bool, integers, floats and complex numbers are
// categories in this order; inside one the wider type wins, float16 with bfloat16 gives float32.
#pragma once

#include "aclnn/tensor_view.h"

namespace anynpu::aclnn {

DType promote(DType a, DType b);
// With a Python or C number, which changes the category only, never the width.
DType promote_scalar(DType tensor, DType scalar);

bool is_integer(DType type);  // without bool
bool is_complex(DType type);
// The type that functions like exp compute integers in.
inline DType floating(DType type) {
  return is_floating(type) || is_complex(type) ? type : DType::f32;
}

}  // namespace anynpu::aclnn
