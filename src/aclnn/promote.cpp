// SPDX-License-Identifier: Apache-2.0
#include "aclnn/promote.h"

#include <algorithm>

#include "ops/dtype_set.h"

namespace anynpu::aclnn {

namespace {

int category(DType type) {
  if (is_complex(type)) return 3;
  if (is_floating(type)) return 2;
  return type == DType::boolean ? 0 : 1;
}

bool is_signed(DType type) {
  return type == DType::i8 || type == DType::i16 || type == DType::i32 || type == DType::i64;
}

DType wider_integer(DType a, DType b) {
  if (is_signed(a) == is_signed(b)) return size_of(a) >= size_of(b) ? a : b;
  const DType with_sign = is_signed(a) ? a : b, without = is_signed(a) ? b : a;
  if (size_of(with_sign) > size_of(without)) return with_sign;
  switch (size_of(without)) {
    case 1:
      return DType::i16;
    case 2:
      return DType::i32;
    default:
      return DType::i64;
  }
}

DType wider_float(DType a, DType b) {
  if (size_of(a) != size_of(b)) return size_of(a) > size_of(b) ? a : b;
  return DType::f32;  // float16 and bfloat16
}

DType complex_of(DType part) {
  if (part == DType::f16) return DType::c32;
  return part == DType::f64 ? DType::c128 : DType::c64;
}

}  // namespace

bool is_integer(DType type) { return ops::kIntegers.has(type); }
bool is_complex(DType type) { return ops::kComplex.has(type); }

DType promote(DType a, DType b) {
  if (a == b) return a;
  const int category_a = category(a), category_b = category(b);
  if (category_a == 3 || category_b == 3) {
    const DType part_a = ops::part_of(a), part_b = ops::part_of(b);
    if (category_a != category_b && std::min(category_a, category_b) < 2)
      return category_a == 3 ? a : b;
    return complex_of(part_a == part_b ? part_a : wider_float(part_a, part_b));
  }
  if (category_a != category_b) return category_a > category_b ? a : b;
  return category_a == 2 ? wider_float(a, b) : wider_integer(a, b);
}

DType promote_scalar(DType tensor, DType scalar) {
  if (category(scalar) <= category(tensor)) return tensor;
  if (is_complex(scalar)) return complex_of(is_floating(tensor) ? tensor : DType::f32);
  return is_floating(scalar) ? DType::f32 : DType::i64;
}

}  // namespace anynpu::aclnn
