// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/singleop/op_for_test.h"

namespace anynpu::singleop {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(LowerNorm, ASoftmaxOverOneAxisIsSoftmax) {
  EXPECT_THAT(OpForTest("SoftmaxV2").in({2, 3}).out().nodes(), ElementsAre("Softmax"));
  EXPECT_THAT(OpForTest("LogSoftmaxV2").in({2, 3}).out().nodes(), ElementsAre("LogSoftmax"));
}

TEST(LowerNorm, ASoftmaxOverSeveralAxesIsComputedFromExponentials) {
  EXPECT_THAT(
      OpForTest("SoftmaxV2").in({2, 3}).out().attr("axes", std::vector<int64_t>{0, 1}).nodes(),
      Contains("Exp"));
}

TEST(LowerNorm, TrainingIsRefused) {
  EXPECT_THAT(OpForTest("BatchNorm")
                  .in({1, 2, 4, 4})
                  .in({2})
                  .in({2})
                  .in({2})
                  .in({2})
                  .out()
                  .attr("is_training", true)
                  .message(),
              HasSubstr("expected false: only inference"));
}

TEST(LowerNorm, GroupsDivideTheChannels) {
  EXPECT_THAT(OpForTest("GroupNorm")
                  .in({1, 6, 4, 4})
                  .in({6})
                  .in({6})
                  .out()
                  .attr("num_groups", int64_t{4})
                  .message(),
              HasSubstr("num_groups is 4, expected to divide 6 channels"));
}

}  // namespace
}  // namespace anynpu::singleop
