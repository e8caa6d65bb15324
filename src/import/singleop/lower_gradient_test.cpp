// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/singleop/op_for_test.h"

namespace anynpu::singleop {
namespace {

using testing::Contains;
using testing::HasSubstr;

// Three steps, a batch of two, four inputs, five hidden.
OpForTest gradient_of_lstm(Shape weights) {
  OpForTest op("DynamicRNNGrad");
  op.in({3, 2, 4}).in(weights).in({20}).in({3, 2, 5}).in({1, 2, 5}).in({1, 2, 5});
  for (int i = 0; i < 3; ++i) op.in({3, 2, 5});
  op.in({1, 2, 5}).in({1, 2, 5});
  for (int i = 0; i < 5; ++i) op.in({3, 2, 5});
  return op;
}

TEST(LowerGradient, OfAnLstmGoesBackThroughItsSteps) {
  OpForTest op = gradient_of_lstm({9, 20});
  op.out().out().out().out().out();
  EXPECT_THAT(op.nodes(), Contains("LstmGateGrad"));
  EXPECT_EQ(op.shape(), (Shape{9, 20}));
}

TEST(LowerGradient, OfAnLstmTakesNoLengths) {
  EXPECT_EQ(gradient_of_lstm({9, 20}).in({}).out().shape(), (Shape{9, 20})) << "stands for none";
  EXPECT_THAT(gradient_of_lstm({9, 20}).in({2}).out().message(), HasSubstr("lengths of sequences"));
}

TEST(LowerGradient, OfAnLstmNamesWeightsThatDoNotFit) {
  EXPECT_THAT(gradient_of_lstm({8, 20}).out().message(),
              HasSubstr("[inputs + hidden, 4 * hidden]"));
}

TEST(LowerGradient, OfAGruGoesBackThroughItsSteps) {
  OpForTest op("DynamicGRUV2Grad");
  op.in({3, 2, 4}).in({4, 15}).in({5, 15}).in({3, 2, 5}).in({2, 5}).in({3, 2, 5}).in({3, 2, 5}).in(
      {2, 5});
  for (int i = 0; i < 4; ++i) op.in({3, 2, 5});
  EXPECT_THAT(OpForTest(op).out().out().out().out().out().out().nodes(), Contains("GruGateGrad"));
  EXPECT_EQ(op.out().shape(), (Shape{4, 15}));
}

TEST(LowerGradient, OfDistancesHasTheShapeOfTheFirstPoints) {
  OpForTest op("CdistGrad");
  for (int i = 0; i < 4; ++i) op.in({5, 6, 7, 3});
  EXPECT_EQ(OpForTest(op).out().shape(), (Shape{5, 6, 3}));
  EXPECT_EQ(OpForTest(op).out({6, 3}).shape(), (Shape{6, 3})) << "batches are added up";
}

}  // namespace
}  // namespace anynpu::singleop
