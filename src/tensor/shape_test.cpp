// SPDX-License-Identifier: Apache-2.0
#include "tensor/shape.h"

#include <gtest/gtest.h>

namespace anynpu {
namespace {

TEST(Shape, ElementsAreTheProductOfTheExtents) {
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({2, 3, 4}), 24);
  EXPECT_EQ(element_count({2, -1}), kDynamicDim);
  EXPECT_EQ(element_count({-1, 0}), 0) << "nothing, whatever the other extent is";
}

TEST(Shape, OnlyKnownExtentsAreStatic) {
  EXPECT_TRUE(is_static({}));
  EXPECT_TRUE(is_static({0, 3}));
  EXPECT_FALSE(is_static({3, -1}));
}

TEST(Shape, NegativeExtentsAndTooManyElementsAreRefused) {
  EXPECT_TRUE(check_shape({-1, 0, 5}).ok());
  EXPECT_TRUE(check_shape({int64_t{1} << 31, int64_t{1} << 31}).ok());
  EXPECT_EQ(check_shape({-2}).code(), Code::invalid_argument);
  EXPECT_EQ(check_shape({int64_t{1} << 62, 2}).code(), Code::invalid_argument);
}

TEST(Shape, IsWrittenWithTimesSigns) {
  EXPECT_EQ(to_string(Shape{1, 3, 224}), "1x3x224");
  EXPECT_EQ(to_string(Shape{-1, 0}), "?x0");
  EXPECT_EQ(to_string(Shape{}), "scalar");
}

TEST(Shape, StridesAreThoseOfRowsWithoutGaps) {
  EXPECT_EQ(strides_of({2, 3, 4}), (std::vector<int64_t>{12, 4, 1}));
  EXPECT_EQ(strides_of({}), std::vector<int64_t>{});
}

}  // namespace
}  // namespace anynpu
