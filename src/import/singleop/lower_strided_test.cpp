// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/singleop/op_for_test.h"

namespace anynpu::singleop {
namespace {

using testing::HasSubstr;

OpForTest gradient(const std::vector<int64_t>& begin, const std::vector<int64_t>& end,
                   const std::vector<int64_t>& strides, Shape dy) {
  OpForTest op("StridedSliceGrad");
  op.known({4, 5}).known(begin).known(end).known(strides).in(std::move(dy)).out();
  return op;
}

TEST(LowerStrided, TheGradientHasTheShapeOfTheSlicedTensor) {
  EXPECT_EQ(gradient({1, 0}, {3, 5}, {1, 2}, {2, 3}).shape(), (Shape{4, 5}));
  EXPECT_EQ(gradient({-1, 4}, {-5, 0}, {-2, -1}, {2, 4}).shape(), (Shape{4, 5}));
  EXPECT_EQ(gradient({2}, {2}, {1}, {0, 5}).shape(), (Shape{4, 5}));
}

TEST(LowerStrided, AGradientOfAnotherSizeIsRefused) {
  EXPECT_THAT(gradient({1, 0}, {3, 5}, {1, 2}, {3, 3}).message(), HasSubstr("the gradient"));
  EXPECT_THAT(gradient({1, 0}, {3, 5}, {0, 2}, {2, 3}).message(),
              HasSubstr("the step of axis 0 is 0"));
  EXPECT_THAT(gradient({1, 0, 0}, {3, 5, 1}, {1, 1, 1}, {2, 5}).message(),
              HasSubstr("3 axes are sliced, the tensor has 2"));
}

TEST(LowerStrided, AnEllipsisSkipsTheAxesBetween) {
  EXPECT_EQ(OpForTest("StridedSlice")
                .in({2, 3, 4, 5})
                .known({0, 0, 1})
                .known({1, 0, 3})
                .known({1, 1, 1})
                .out()
                .attr("ellipsis_mask", int64_t{2})
                .shape(),
            (Shape{1, 3, 4, 2}));
}

}  // namespace
}  // namespace anynpu::singleop
