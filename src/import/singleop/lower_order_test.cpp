// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/singleop/op_for_test.h"

namespace anynpu::singleop {
namespace {

using testing::HasSubstr;

TEST(LowerOrder, SortingKeepsTheShape) {
  EXPECT_EQ(OpForTest("Sort").in({4, 3}).out().out().shape(), (Shape{4, 3}));
}

TEST(LowerOrder, ADiagonalHasTwiceTheAxes) {
  EXPECT_EQ(OpForTest("Diag").in({2, 3}).out().shape(), (Shape{2, 3, 2, 3}));
  EXPECT_EQ(OpForTest("DiagPart").in({2, 3, 2, 3}).out().shape(), (Shape{2, 3}));
  EXPECT_THAT(OpForTest("DiagPart").in({2, 3}).out().message(), HasSubstr("repeat the first"));
}

TEST(LowerOrder, ATraceIsANumber) {
  EXPECT_EQ(OpForTest("Trace").in({2, 3}).out().shape(), Shape{});
}

}  // namespace
}  // namespace anynpu::singleop
