// SPDX-License-Identifier: Apache-2.0
#include "tensor/tensor_desc.h"

#include <gtest/gtest.h>

#include "tensor/layout.h"
#include "tensor/onnx_type.h"

namespace anynpu {
namespace {

TEST(TensorDesc, CountsElementsAndBytes) {
  TensorDesc desc;
  desc.dtype = DType::f32;
  EXPECT_EQ(desc.byte_count(), 4u) << "a scalar";
  desc.shape = {2, 3};
  EXPECT_EQ(desc.element_count(), 6u);
  EXPECT_EQ(desc.byte_count(), 24u);
  desc.shape = {2, 0};
  EXPECT_EQ(desc.byte_count(), 0u);
  desc.shape = {-1, 3};
  EXPECT_EQ(desc.byte_count(), 0u) << "not known yet";
  desc.dtype = DType::i4;
  desc.shape = {3};
  EXPECT_EQ(desc.byte_count(), 2u);
}

TEST(TensorDesc, ARangeFallsBackToTheExtent) {
  TensorDesc desc;
  desc.shape = {4, -1};
  EXPECT_EQ(desc.range_of(0), Range(4, 4));
  EXPECT_EQ(desc.range_of(1), Range(0, -1));
  desc.shape_ranges = {{1, 8}, {2, -1}};
  EXPECT_EQ(desc.range_of(0), Range(1, 8));
}

TEST(TensorDesc, ShapesAndRangesAreChecked) {
  EXPECT_TRUE(check_desc_shape({}).ok());
  EXPECT_TRUE(check_desc_shape({-2}).ok());
  EXPECT_FALSE(check_desc_shape({-2, 3}).ok());
  EXPECT_FALSE(check_desc_shape({-3}).ok());
  EXPECT_FALSE(check_desc_shape(Shape(129, 1)).ok());
  EXPECT_FALSE(check_desc_shape({int64_t{1} << 40, int64_t{1} << 40}).ok());
  EXPECT_FALSE(check_ranges({{3, 2}}).ok());
  EXPECT_FALSE(check_ranges({{-1, 2}}).ok());
  EXPECT_FALSE(check_dtype(5).ok());
  EXPECT_FALSE(check_dtype(1000).ok());
  EXPECT_TRUE(check_dtype(-1).ok());
  EXPECT_FALSE(check_format(-2).ok());
}

TEST(TensorDesc, EveryTypeOfAscendClHasABytesCount) {
  const auto bytes = [](DType type) {
    TensorDesc desc;
    desc.dtype = type;
    desc.shape = {3, 3};
    return desc.byte_count();
  };
  for (DType type : {DType::hif8, DType::f8e5m2, DType::f8e4m3, DType::f8e8m0})
    EXPECT_EQ(bytes(type), 9u) << name_of(type);
  for (DType type : {DType::f6e3m2, DType::f6e2m3}) EXPECT_EQ(bytes(type), 7u) << name_of(type);
  for (DType type : {DType::f4e2m1, DType::f4e1m2, DType::i4})
    EXPECT_EQ(bytes(type), 5u) << name_of(type);
}

TEST(OnnxType, NumbersGoBothWays) {
  for (int64_t number = 1; number <= 28; ++number) {
    const DType type = dtype_of_onnx_number(number);
    const bool fnuz = number == 18 || number == 20, uint4 = number == 21;
    const bool described = !fnuz && !uint4 && number != 25 && number != 26;  // UINT2, INT2
    EXPECT_EQ(type != DType::undefined, described) << number;
    EXPECT_EQ(onnx_number(type), described ? number : 0) << number;
  }
  for (int64_t number : {-1, 0, 29, 1000}) {
    EXPECT_EQ(dtype_of_onnx_number(number), DType::undefined) << number;
  }
  EXPECT_EQ(onnx_number(DType::u1), 0);
}

TEST(OnnxType, CastsAlsoHaveNumbersForWhatOnnxLacks) {
  for (DType type : {DType::f32, DType::bf16, DType::f8e5m2, DType::hif8, DType::c32})
    EXPECT_EQ(dtype_of_cast_number(cast_number(type)), type) << name_of(type);
  EXPECT_EQ(cast_number(DType::f16), onnx_number(DType::f16));
  for (int64_t number : {int64_t{0}, int64_t{18}, int64_t{1000}, int64_t{1999}, int64_t{5000},
                         (int64_t{1} << 32) + 1034})
    EXPECT_EQ(dtype_of_cast_number(number), DType::undefined) << number;
}

TEST(Layout, AxesAreReordered) {
  EXPECT_EQ(shape_in_format({1, 3, 8, 4}, Format::nchw, Format::nhwc, DType::f32).value(),
            (Shape{1, 8, 4, 3}));
  EXPECT_EQ(shape_in_format({1, 8, 4, 3}, Format::nhwc, Format::hwcn, DType::f32).value(),
            (Shape{8, 4, 3, 1}));
  EXPECT_EQ(shape_in_format({1, 3, 5, 8, -1}, Format::ncdhw, Format::ndhwc, DType::f32).value(),
            (Shape{1, 5, 8, -1, 3}));
}

TEST(Layout, BlockedFormatsRoundChannelsUp) {
  EXPECT_EQ(shape_in_format({2, 17, 7, 7}, Format::nchw, Format::nc1hwc0, DType::f16).value(),
            (Shape{2, 2, 7, 7, 16}));
  EXPECT_EQ(shape_in_format({2, 7, 7, 17}, Format::nhwc, Format::nc1hwc0, DType::i8).value(),
            (Shape{2, 1, 7, 7, 32}));
  EXPECT_EQ(shape_in_format({64, 3, 7, 7}, Format::nchw, Format::fractal_z, DType::f16).value(),
            (Shape{49, 4, 16, 16}));
  EXPECT_EQ(shape_in_format({5, 33, 20}, Format::nd, Format::fractal_nz, DType::f16).value(),
            (Shape{5, 2, 3, 16, 16}));
}

TEST(Layout, ImpossibleConversionsAreRefused) {
  EXPECT_FALSE(shape_in_format({1, 3, 8}, Format::nchw, Format::nhwc, DType::f32).ok());
  EXPECT_FALSE(shape_in_format({1, 3, 8, 4}, Format::nchw, Format::ndhwc, DType::f32).ok());
  EXPECT_FALSE(shape_in_format({8}, Format::nd, Format::fractal_nz, DType::f32).ok());
  EXPECT_FALSE(shape_in_format({8, 8}, Format::nd, Format::nc1hwc0, DType::f32).ok());
}

}  // namespace
}  // namespace anynpu
