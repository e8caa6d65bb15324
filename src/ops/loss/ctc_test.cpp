// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/test_node.h"

namespace anynpu::ops::loss {
namespace {

TestNode ctc(const char* name, std::vector<int64_t> targets) {
  TestNode node(name, 1, "anynpu");
  const float half = std::log(0.5f);
  node.floats({2, 1, 2}, {half, half, half, half})
      .ints({1, static_cast<int64_t>(targets.size())}, targets);
  node.attr("input_lengths", Ints{2})
      .attr("target_lengths", Ints{static_cast<int64_t>(targets.size())});
  node.attr("states", static_cast<int64_t>(2 * targets.size() + 1));
  return node;
}

TEST(CtcLoss, SumsTheAlignments) {
  TestNode node = ctc("CtcLoss", {1});
  node.node.outputs = {1000, 1001};
  // Three of the four paths of two steps become "1": 1 1, 0 1 and 1 0.
  EXPECT_NEAR(node.evaluate()[0], -std::log(0.75f), 1e-6);
}

TEST(CtcLoss, IsInfiniteWhereNoAlignmentIsLongEnough) {
  TestNode node = ctc("CtcLoss", {1, 1});
  node.node.outputs = {1000, 1001};
  EXPECT_TRUE(std::isinf(node.evaluate()[0]));
  node.attr("zero_infinity", int64_t{1});
  EXPECT_EQ(node.evaluate()[0], 0);
}

TEST(CtcLossGrad, PointsToWhatIsMissing) {
  TestNode node = ctc("CtcLossGrad", {1});
  node.floats({1}, {1});
  const auto g = node.evaluate();
  ASSERT_EQ(g.size(), 4u);
  EXPECT_NEAR(g[0], 0.5f - 1.0f / 3, 1e-6);  // a third of the right paths begin with the blank
  EXPECT_NEAR(g[1], 0.5f - 2.0f / 3, 1e-6);
}

TEST(CtcLoss, LengthsThatDoNotFitAreNamed) {
  TestNode node = ctc("CtcLoss", {1});
  node.node.outputs = {1000, 1001};
  node.attr("input_lengths", Ints{3});
  const auto context = node.infer();
  ASSERT_TRUE(context.ok());
  EXPECT_NE(evaluate(*context).status().message().find("3 steps"), std::string::npos);
}

TEST(MultilabelMarginLoss, EndsAtTheFirstMinusOne) {
  TestNode node("MultilabelMarginLoss", 1, "anynpu");
  node.floats({1, 3}, {0.5f, 1, 0}).ints({1, 3}, {1, -1, 0});
  node.node.outputs = {1000, 1001};
  EXPECT_NEAR(node.evaluate()[0], 0.5f / 3, 1e-6);
}

}  // namespace
}  // namespace anynpu::ops::loss
