// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/singleop/op_for_test.h"

namespace anynpu::singleop {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(LowerElementwise, OneOperatorWithTheSameOperandsIsThatOperator) {
  EXPECT_THAT(OpForTest("Relu").in({2, 3}).out().nodes(), ElementsAre("Relu"));
  EXPECT_EQ(OpForTest("AddV2").in({2, 3}).in({3}).out().shape(), (Shape{2, 3}));
}

TEST(LowerElementwise, SquareIsAProductWithItself) {
  EXPECT_THAT(OpForTest("Square").in({2}).out().nodes(), Contains("Mul"));
}

TEST(LowerElementwise, ACastNeedsItsType) {
  EXPECT_THAT(OpForTest("Cast").in({2}).out().message(), HasSubstr("'dst_type'"));
  EXPECT_THAT(OpForTest("Cast").in({2}).out().attr("dst_type", int64_t{1}).nodes(),
              ElementsAre("Cast"));
  EXPECT_THAT(OpForTest("Cast").in({2}).out().attr("dst_type", int64_t{0}).nodes(),
              ElementsAre("Identity"));
}

TEST(LowerElementwise, AnEluOfScaledInputsIsRefused) {
  EXPECT_THAT(OpForTest("Elu").in({2}).out().attr("input_scale", 2.0f).message(),
              HasSubstr("input_scale is 2, expected 1"));
}

}  // namespace
}  // namespace anynpu::singleop
