// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/types.h"

#include <gtest/gtest.h>

namespace anynpu::tensorflow {
namespace {

TEST(TfTypes, BecomeElementTypes) {
  EXPECT_EQ(dtype_of(1).value(), DType::f32);
  EXPECT_EQ(dtype_of(19).value(), DType::f16);
  EXPECT_EQ(dtype_of(12).value(), DType::u8) << "a quantised type is the integer it is stored in";
  EXPECT_EQ(dtype_of(101).value(), DType::f32) << "a reference to a float is a float";
}

TEST(TfTypes, WithoutElementsAreRefusedByName) {
  EXPECT_NE(dtype_of(kResourceType).status().to_string().find("resource"), std::string::npos);
  EXPECT_NE(dtype_of(77).status().to_string().find("type 77"), std::string::npos);
}

}  // namespace
}  // namespace anynpu::tensorflow
