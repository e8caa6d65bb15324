// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/singleop/op_for_test.h"

namespace anynpu::singleop {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

OpForTest conv() {
  return OpForTest("Conv2D")
      .in({1, 3, 8, 8}, DType::f32, Format::nchw)
      .in({4, 3, 3, 3}, DType::f32, Format::nchw)
      .out({1, 4, 6, 6}, DType::f32, Format::nchw)
      .attr("strides", std::vector<int64_t>{1, 1, 1, 1})
      .attr("pads", std::vector<int64_t>{0, 0, 0, 0});
}

TEST(LowerWindow, AConvolutionBecomesConv) {
  EXPECT_THAT(conv().nodes(), Contains("Conv"));
  EXPECT_EQ(conv().shape(), (Shape{1, 4, 6, 6}));
}

TEST(LowerWindow, GroupsFollowFromTheChannelsWhenTheyAreLeftOut) {
  EXPECT_EQ(OpForTest("Conv2D")
                .in({1, 4, 8, 8}, DType::f32, Format::nchw)
                .in({4, 1, 3, 3}, DType::f32, Format::nchw)
                .out({1, 4, 6, 6}, DType::f32, Format::nchw)
                .attr("strides", std::vector<int64_t>{1, 1, 1, 1})
                .attr("pads", std::vector<int64_t>{0, 0, 0, 0})
                .shape(),
            (Shape{1, 4, 6, 6}));
}

TEST(LowerWindow, AnOutputOfAnotherShapeIsRefused) {
  OpForTest op = conv();
  op.op.outputs[0].shape = {1, 4, 5, 5};
  EXPECT_FALSE(op.message().empty());
}

TEST(LowerWindow, AGlobalPoolLeavesOneElementAChannel) {
  EXPECT_EQ(OpForTest("GlobalAveragePool").in({1, 3, 8, 8}).out().shape(), (Shape{1, 3, 1, 1}));
}

}  // namespace
}  // namespace anynpu::singleop
