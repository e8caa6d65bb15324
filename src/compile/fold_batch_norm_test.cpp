// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "compile/graph_for_test.h"
#include "compile/passes.h"

namespace anynpu::compile {
namespace {

using graph::ValueId;
using testing::ElementsAre;

TEST(FoldBatchNorm, GoesIntoTheConvWithTheSameResult) {
  for (bool with_bias : {false, true}) {
    GraphForTest g;
    const ValueId x = g.input("x", {1, 2, 5, 5});
    std::vector<ValueId> inputs = {x, g.weight("w", {3, 2, 3, 3})};
    if (with_bias) inputs.push_back(g.weight("b", {3}));
    const ValueId c = g.node("Conv", inputs, "c");
    const ValueId y = g.node("BatchNormalization",
                             {c, g.weight("scale", {3}), g.weight("bias", {3}),
                              g.weight("mean", {3}), g.weight("var", {3}, 0.5f, 2.0f)},
                             "y");
    g.graph.outputs = {y};
    const auto before = GraphForTest::run(g.graph);
    ASSERT_TRUE(fold_batch_norm(g.graph).ok());
    EXPECT_THAT(GraphForTest::ops(g.graph), ElementsAre("Conv"));
    expect_near(GraphForTest::run(g.graph), before);
  }
}

TEST(FoldBatchNorm, LeavesAConvWhoseResultIsSeenElsewhere) {
  GraphForTest g;
  const ValueId x = g.input("x", {1, 2, 5, 5});
  const ValueId c = g.node("Conv", {x, g.weight("w", {3, 2, 3, 3})}, "c");
  const ValueId y = g.node("BatchNormalization",
                           {c, g.weight("s", {3}), g.weight("b", {3}), g.weight("m", {3}),
                            g.weight("v", {3}, 0.5f, 2.0f)},
                           "y");
  g.graph.outputs = {y, c};
  ASSERT_TRUE(fold_batch_norm(g.graph).ok());
  EXPECT_EQ(g.graph.nodes.size(), 2u);
}

TEST(FoldBatchNorm, NumbersForEachChannelGoIntoTheConvAsWell) {
  for (const char* last : {"Add", "Sub"}) {
    GraphForTest g;
    const ValueId x = g.input("x", {1, 2, 5, 5});
    const ValueId c = g.node("Conv", {x, g.weight("w", {3, 2, 3, 3}), g.weight("b", {3})}, "c");
    const ValueId product = g.node("Mul", {g.weight("k", {1, 3, 1, 1}), c}, "product");
    const ValueId part = g.node("Div", {product, g.weight("one", {}, 0.5f, 2.0f)}, "part");
    const ValueId y = g.node(last, {g.weight("shift", {3, 1, 1}), part}, "y");
    g.graph.outputs = {g.node("Sub", {y, g.weight("less", {3, 1, 1})}, "z")};
    const auto before = GraphForTest::run(g.graph);
    ASSERT_TRUE(fold_batch_norm(g.graph).ok());
    EXPECT_THAT(GraphForTest::ops(g.graph), ElementsAre("Conv"));
    expect_near(GraphForTest::run(g.graph), before);
  }
}

TEST(FoldBatchNorm, LeavesNumbersThatAreNotOneForEachChannel) {
  for (const Shape& shape :
       {Shape{3}, Shape{1, 3, 3, 3}, Shape{1, 1, 3, 1, 1}, Shape{3, 1, 1, 1}}) {
    GraphForTest g;
    const ValueId x = g.input("x", {1, 2, 5, 5});
    const ValueId c = g.node("Conv", {x, g.weight("w", {3, 2, 3, 3})}, "c");
    g.graph.outputs = {g.node("Mul", {c, g.weight("k", shape)}, "y")};
    ASSERT_TRUE(fold_batch_norm(g.graph).ok());
    EXPECT_EQ(g.graph.nodes.size(), 2u) << to_string(shape);
  }
}

TEST(FoldBatchNorm, LeavesNumbersThatWouldNotFitTheFilters) {
  // 1e30 * 1e10 has no float, though the products of small inputs have one; 0 * inf is no number.
  for (const float factor : {1e10f, std::numeric_limits<float>::infinity()}) {
    GraphForTest g;
    const ValueId x = g.input("x", {1, 1, 3, 3});
    const ValueId w = add_constant(g.graph, "w", {1, 1, 1, 1}, std::vector<float>{1e30f});
    const ValueId c = g.node("Conv", {x, w}, "c");
    const auto one = [&](const char* name, float number) {
      return add_constant(g.graph, name, {1}, std::vector<float>{number});
    };
    g.graph.outputs = {
        g.node("BatchNormalization",
               {c, one("scale", factor), one("bias", 0), one("mean", 0), one("variance", 1)}, "y")};
    ASSERT_TRUE(fold_batch_norm(g.graph).ok());
    EXPECT_EQ(g.graph.nodes.size(), 2u) << factor;
  }
}

TEST(FoldBatchNorm, LeavesFiltersThatAreNone) {
  GraphForTest g;
  const ValueId x = g.input("x", {1, 2, 5, 5});
  const ValueId c = g.node("Conv", {x, g.weight("w", {3})}, "c");
  g.graph.outputs = {g.node("Mul", {c, g.weight("k", {3})}, "y")};
  ASSERT_TRUE(fold_batch_norm(g.graph).ok());
  EXPECT_EQ(g.graph.nodes.size(), 2u);
}

}  // namespace
}  // namespace anynpu::compile
