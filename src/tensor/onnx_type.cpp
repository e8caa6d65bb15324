// SPDX-License-Identifier: Apache-2.0
#include "tensor/onnx_type.h"

#include <array>

namespace anynpu {

namespace {

// In the order of TensorProto.DataType, from 0.
constexpr std::array kByNumber = {
    DType::undefined, DType::f32,       DType::u8,     DType::i8,        DType::u16,
    DType::i16,       DType::i32,       DType::i64,    DType::string,    DType::boolean,
    DType::f16,       DType::f64,       DType::u32,    DType::u64,       DType::c64,
    DType::c128,      DType::bf16,      DType::f8e4m3, DType::undefined, DType::f8e5m2,
    DType::undefined, DType::undefined, DType::i4,     DType::f4e2m1,    DType::f8e8m0,
    DType::undefined, DType::undefined, DType::f6e2m3, DType::f6e3m2};

constexpr int64_t kOwnNumbers = 1000;

}  // namespace

DType dtype_of_onnx_number(int64_t number) {
  if (number < 0 || number >= static_cast<int64_t>(kByNumber.size())) return DType::undefined;
  return kByNumber[static_cast<size_t>(number)];
}

int64_t onnx_number(DType type) {
  for (size_t i = 0; i < kByNumber.size(); ++i) {
    if (kByNumber[i] == type) return static_cast<int64_t>(i);
  }
  return 0;
}

int64_t cast_number(DType type) {
  const int64_t number = onnx_number(type);
  return number ? number : kOwnNumbers + static_cast<int64_t>(type);
}

DType dtype_of_cast_number(int64_t number) {
  if (number < kOwnNumbers || number > 2 * kOwnNumbers) return dtype_of_onnx_number(number);
  const auto type = static_cast<DType>(number - kOwnNumbers);
  return bits_of(type) && !onnx_number(type) ? type : DType::undefined;
}

}  // namespace anynpu
