// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/singleop/op_for_test.h"

namespace anynpu::singleop {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(LowerRecurrent, AnLstmKeepsStepsBatchAndState) {
  const OpForTest op = OpForTest("DynamicRNN").in({3, 2, 4}).in({4 + 5, 4 * 5}).in({4 * 5}).out();
  EXPECT_THAT(op.nodes(), Contains("LSTM"));
  EXPECT_EQ(op.shape(), (Shape{3, 2, 5}));
}

TEST(LowerRecurrent, WeightsThatDoNotFitAreNamed) {
  EXPECT_THAT(OpForTest("DynamicRNN").in({3, 2}).in({9, 20}).in({20}).out().message(),
              HasSubstr("expected [steps, batch, size]"));
}

TEST(LowerRecurrent, AProjectionIsRefused) {
  EXPECT_THAT(OpForTest("DynamicRNN")
                  .in({3, 2, 4})
                  .in({9, 20})
                  .in({20})
                  .out()
                  .attr("num_proj", int64_t{2})
                  .message(),
              HasSubstr("num_proj"));
}

}  // namespace
}  // namespace anynpu::singleop
