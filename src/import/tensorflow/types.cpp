// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/types.h"

#include <string_view>

namespace anynpu::tensorflow {

namespace {

struct TypeRow {
  int64_t number;
  std::string_view name;
  DType dtype;
};

constexpr TypeRow kTypeRows[] = {
    {1, "float", DType::f32},
    {2, "double", DType::f64},
    {3, "int32", DType::i32},
    {4, "uint8", DType::u8},
    {5, "int16", DType::i16},
    {6, "int8", DType::i8},
    {7, "string", DType::string},
    {8, "complex64", DType::c64},
    {9, "int64", DType::i64},
    {10, "bool", DType::boolean},
    {11, "qint8", DType::i8},
    {12, "quint8", DType::u8},
    {13, "qint32", DType::i32},
    {14, "bfloat16", DType::bf16},
    {15, "qint16", DType::i16},
    {16, "quint16", DType::u16},
    {17, "uint16", DType::u16},
    {18, "complex128", DType::c128},
    {19, "half", DType::f16},
    {20, "resource", DType::undefined},
    {21, "variant", DType::undefined},
    {22, "uint32", DType::u32},
    {23, "uint64", DType::u64},
    {24, "float8_e5m2", DType::f8e5m2},
    {25, "float8_e4m3fn", DType::f8e4m3},
    {29, "int4", DType::i4},
};

// Types of references to variables have 100 added.
const TypeRow* row_of(int64_t number) {
  if (number > 100) number -= 100;
  for (const TypeRow& row : kTypeRows) {
    if (row.number == number) return &row;
  }
  return nullptr;
}

}  // namespace

std::string type_name(int64_t number) {
  const TypeRow* row = row_of(number);
  return row ? std::string(row->name) : format("type {}", number);
}

Result<DType> dtype_of(int64_t number) {
  const TypeRow* row = row_of(number);
  if (row && row->dtype != DType::undefined) return row->dtype;
  return fail(Code::unsupported_dtype,
              "the TensorFlow type {} ({}) holds no elements that AscendCL describes; expected a "
              "numeric type, bool or string",
              type_name(number), number);
}

}  // namespace anynpu::tensorflow
