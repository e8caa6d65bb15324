// SPDX-License-Identifier: Apache-2.0
#include "tensor/onnx_type.h"

#include <gtest/gtest.h>

namespace anynpu {
namespace {

TEST(OnnxType, NumbersAreThoseOfTensorProto) {
  EXPECT_EQ(onnx_number(DType::f32), 1);
  EXPECT_EQ(onnx_number(DType::i64), 7);
  EXPECT_EQ(onnx_number(DType::f16), 10);
  EXPECT_EQ(onnx_number(DType::bf16), 16);
  EXPECT_EQ(dtype_of_onnx_number(9), DType::boolean);
  EXPECT_EQ(dtype_of_onnx_number(22), DType::i4);
}

TEST(OnnxType, BothDirectionsAgree) {
  for (int64_t number = 1; number < 40; ++number) {
    const DType type = dtype_of_onnx_number(number);
    if (type == DType::undefined) continue;
    EXPECT_EQ(onnx_number(type), number);
  }
}

TEST(OnnxType, UnknownNumbersAreUndefined) {
  for (int64_t number : {-1, 0, 18, 20, 21, 25, 26, 1000})
    EXPECT_EQ(dtype_of_onnx_number(number), DType::undefined) << number;
  EXPECT_EQ(onnx_number(DType::hif8), 0);
}

TEST(OnnxType, CastCanNameTypesThatOnnxDoesNotHave) {
  EXPECT_EQ(cast_number(DType::f32), 1);
  const int64_t number = cast_number(DType::hif8);
  EXPECT_GT(number, 1000);
  EXPECT_EQ(dtype_of_cast_number(number), DType::hif8);
  EXPECT_EQ(dtype_of_cast_number(10), DType::f16);
  EXPECT_EQ(dtype_of_cast_number(1000), DType::undefined) << "float32 has a number of ONNX";
  EXPECT_EQ(dtype_of_cast_number(1999), DType::undefined);
}

}  // namespace
}  // namespace anynpu
