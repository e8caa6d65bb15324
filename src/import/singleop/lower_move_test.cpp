// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/singleop/op_for_test.h"

namespace anynpu::singleop {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(LowerMove, ATransposeTakesItsOrderFromTheAttributeOrTheSecondInput) {
  EXPECT_EQ(OpForTest("TransposeD")
                .in({2, 3, 4})
                .out()
                .attr("perm", std::vector<int64_t>{2, 0, 1})
                .shape(),
            (Shape{4, 2, 3}));
  EXPECT_EQ(OpForTest("Transpose").in({2, 3}).known({1, 0}).out().shape(), (Shape{3, 2}));
}

TEST(LowerMove, ASliceStaysInsideTheTensor) {
  EXPECT_EQ(OpForTest("SliceD")
                .in({4, 5})
                .out()
                .attr("offsets", std::vector<int64_t>{1, 0})
                .attr("size", std::vector<int64_t>{2, -1})
                .shape(),
            (Shape{2, 5}));
  EXPECT_THAT(OpForTest("SliceD")
                  .in({4, 5})
                  .out()
                  .attr("offsets", std::vector<int64_t>{3, 0})
                  .attr("size", std::vector<int64_t>{2, 5})
                  .message(),
              HasSubstr("axis 0: 2 elements from 3 of 4"));
}

TEST(LowerMove, PaddingsAreAPairForEachAxis) {
  EXPECT_THAT(OpForTest("Pad").in({2, 3}).known({1, 1}).out().message(),
              HasSubstr("paddings has 2 numbers, expected 4"));
}

TEST(LowerMove, AReshapeKeepsTheElements) {
  EXPECT_EQ(OpForTest("Reshape").in({2, 6}).known({3, -1}).out().shape(), (Shape{3, 4}));
}

}  // namespace
}  // namespace anynpu::singleop
