// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/singleop/op_for_test.h"

namespace anynpu::singleop {
namespace {

using testing::Contains;
using testing::HasSubstr;

TEST(LowerDraw, AChoiceHasAPlaceOnEachAxis) {
  OpForTest op("RandomChoiceWithMask");
  op.in({3, 4, 5}, DType::boolean).out().out().attr("count", int64_t{7});
  EXPECT_EQ(op.shape(), (Shape{7, 3}));
}

TEST(LowerDraw, WholeChannelsAreDrawn) {
  OpForTest op("Dropout2D");
  op.in({2, 3, 4, 4}).out().out().attr("keep_prob", 0.5f);
  EXPECT_THAT(op.nodes(), Contains("RandomUniform"));
  EXPECT_THAT(OpForTest("Dropout2D").in({2, 3, 4, 4}).out().out().attr("keep_prob", 2.0f).message(),
              HasSubstr("keep_prob is 2"));
}

}  // namespace
}  // namespace anynpu::singleop
