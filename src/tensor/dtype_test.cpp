// SPDX-License-Identifier: Apache-2.0
#include "tensor/dtype.h"

#include <gtest/gtest.h>

namespace anynpu {
namespace {

TEST(DType, SmallTypesArePackedAndOneElementStillTakesAByte) {
  EXPECT_EQ(bits_of(DType::i4), 4u);
  EXPECT_EQ(size_of(DType::i4), 1u);
  EXPECT_EQ(bytes_of(DType::i4, 3), 2u);
  EXPECT_EQ(bytes_of(DType::u1, 9), 2u);
  EXPECT_EQ(bytes_of(DType::f6e3m2, 4), 3u);
}

TEST(DType, SizesOfWholeBytes) {
  EXPECT_EQ(size_of(DType::f32), 4u);
  EXPECT_EQ(size_of(DType::bf16), 2u);
  EXPECT_EQ(size_of(DType::c128), 16u);
  EXPECT_EQ(bytes_of(DType::boolean, 5), 5u);
}

TEST(DType, StringsAndUnknownTypesHaveNoSize) {
  for (DType type : {DType::string, DType::undefined, static_cast<DType>(999)}) {
    EXPECT_EQ(bits_of(type), 0u);
    EXPECT_EQ(bytes_of(type, 10), 0u);
  }
}

TEST(DType, NamesAreThoseOfNumpyWhereItHasThem) {
  EXPECT_EQ(name_of(DType::f32), "float32");
  EXPECT_EQ(name_of(DType::boolean), "bool");
  EXPECT_EQ(name_of(DType::f8e4m3), "float8_e4m3fn");
  EXPECT_EQ(name_of(static_cast<DType>(999)), "undefined");
}

TEST(DType, FloatsAreRealAndOfAnyWidth) {
  for (DType type : {DType::f64, DType::f16, DType::hif8, DType::f4e2m1})
    EXPECT_TRUE(is_floating(type)) << name_of(type);
  for (DType type : {DType::i32, DType::c64, DType::boolean, DType::undefined})
    EXPECT_FALSE(is_floating(type)) << name_of(type);
}

TEST(Format, NamesAreThoseOfTheDocuments) {
  EXPECT_EQ(name_of(Format::nc1hwc0), "NC1HWC0");
  EXPECT_EQ(name_of(Format::undefined), "UNDEFINED");
  EXPECT_EQ(name_of(static_cast<Format>(999)), "UNKNOWN");
}

}  // namespace
}  // namespace anynpu
