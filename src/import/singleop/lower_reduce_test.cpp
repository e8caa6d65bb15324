// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/singleop/op_for_test.h"

namespace anynpu::singleop {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(LowerReduce, AxesComeFromTheAttributeOrTheSecondInput) {
  EXPECT_EQ(OpForTest("ReduceSumD").in({2, 3}).out().attr("axes", std::vector<int64_t>{-1}).shape(),
            (Shape{2}));
  EXPECT_EQ(OpForTest("ReduceMax").in({2, 3}).known({0}).out().attr("keep_dims", true).shape(),
            (Shape{1, 3}));
}

TEST(LowerReduce, ReductionTakesTheAxesBehindOne) {
  EXPECT_EQ(OpForTest("Reduction").in({2, 3, 4}).out().attr("axis", int64_t{1}).shape(),
            (Shape{2}));
  EXPECT_THAT(
      OpForTest("Reduction").in({2, 3}).out().attr("operation", std::string("MAX")).message(),
      HasSubstr("operation is 'MAX', expected SUM, MEAN, ASUM or SUMSQ"));
}

TEST(LowerReduce, AxesOutsideTheTensorAreRefused) {
  EXPECT_FALSE(OpForTest("ReduceSumD")
                   .in({2, 3})
                   .out()
                   .attr("axes", std::vector<int64_t>{2})
                   .message()
                   .empty());
}

}  // namespace
}  // namespace anynpu::singleop
