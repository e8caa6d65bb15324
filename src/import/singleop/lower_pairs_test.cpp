// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/singleop/op_for_test.h"

namespace anynpu::singleop {
namespace {

using testing::HasSubstr;

TEST(LowerPairs, EachPairOfBoxesHasANumber) {
  EXPECT_EQ(OpForTest("Iou").in({5, 4}).in({3, 4}).out().shape(), (Shape{3, 5}));
  EXPECT_THAT(OpForTest("Iou").in({5, 3}).in({3, 4}).out().message(),
              HasSubstr("expected 4 columns"));
}

TEST(LowerPairs, EachPairOfRowsHasADistance) {
  EXPECT_EQ(OpForTest("Pdist").in({5, 7}).out().shape(), Shape{10});
}

TEST(LowerPairs, AClassIsAskedForEachRow) {
  EXPECT_THAT(
      OpForTest("InTopKD").in({5, 7}).in({4}, DType::i32).out().attr("k", int64_t{1}).message(),
      HasSubstr("the classes"));
}

}  // namespace
}  // namespace anynpu::singleop
