// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/graph_for_test.h"
#include "compile/passes.h"

namespace anynpu::compile {
namespace {

using graph::ValueId;
using testing::ElementsAre;

TEST(FuseConv, AddAndReluBecomePartOfTheConv) {
  GraphForTest g;
  const ValueId x = g.input("x", {1, 2, 5, 5});
  const ValueId a = g.node("Conv", {x, g.weight("wa", {3, 2, 3, 3}), g.weight("ba", {3})}, "a");
  const ValueId b = g.node("Conv", {x, g.weight("wb", {3, 2, 3, 3})}, "b");
  const ValueId sum = g.node("Add", {a, b}, "sum");
  const ValueId y = g.node("Relu", {sum}, "y");
  g.graph.outputs = {y};
  const auto before = GraphForTest::run(g.graph);
  ASSERT_TRUE(infer_and_fold(g.graph).ok());
  ASSERT_TRUE(fuse_conv(g.graph).ok());
  ASSERT_THAT(GraphForTest::ops(g.graph), ElementsAre("Conv", "FusedConv"));
  const graph::Node& fused = g.graph.nodes[1];
  EXPECT_EQ(fused.name, "Conv_a");
  EXPECT_EQ(fused.domain, "anynpu");
  EXPECT_EQ(fused.string_attr("activation", ""), "Relu");
  EXPECT_EQ(g.graph.values[static_cast<size_t>(fused.inputs[3])].name, "b");
  expect_near(GraphForTest::run(g.graph), before);
}

TEST(FuseConv, ClipTakesItsBoundsFromInputsOrAttributes) {
  for (int64_t opset : {10, 13}) {
    GraphForTest g;
    const ValueId x = g.input("x", {1, 2, 5, 5});
    const ValueId c = g.node("Conv", {x, g.weight("w", {3, 2, 3, 3})}, "c", opset);
    std::vector<ValueId> inputs = {c};
    if (opset == 13) {
      inputs.push_back(add_constant(g.graph, "low", {}, std::vector<float>{-0.25f}));
      inputs.push_back(add_constant(g.graph, "high", {}, std::vector<float>{0.5f}));
    }
    const ValueId y = g.node("Clip", inputs, "y", opset);
    if (opset == 10) {
      g.graph.nodes.back().attrs["min"] = -0.25f;
      g.graph.nodes.back().attrs["max"] = 0.5f;
    }
    g.graph.outputs = {y};
    const auto before = GraphForTest::run(g.graph);
    ASSERT_TRUE(infer_and_fold(g.graph).ok());
    ASSERT_TRUE(fuse_conv(g.graph).ok());
    ASSERT_THAT(GraphForTest::ops(g.graph), ElementsAre("FusedConv"));
    EXPECT_EQ(g.graph.nodes[0].float_attr("activation_max", 0), 0.5f);
    expect_near(GraphForTest::run(g.graph), before);
  }
}

TEST(FuseConv, AnAddThatBroadcastsStaysANode) {
  GraphForTest g;
  const ValueId x = g.input("x", {1, 2, 5, 5});
  const ValueId c = g.node("Conv", {x, g.weight("w", {3, 2, 3, 3})}, "c");
  const ValueId y = g.node("Add", {c, g.weight("one", {1})}, "y");
  g.graph.outputs = {y};
  ASSERT_TRUE(infer_and_fold(g.graph).ok());
  ASSERT_TRUE(fuse_conv(g.graph).ok());
  EXPECT_THAT(GraphForTest::ops(g.graph), ElementsAre("Conv", "Add"));
}

TEST(FuseConv, GemmTakesItsActivation) {
  GraphForTest g;
  const ValueId x = g.input("x", {2, 4});
  const ValueId c = g.node("Gemm", {x, g.weight("w", {4, 3}), g.weight("b", {3})}, "c");
  const ValueId y = g.node("Relu", {c}, "y");
  g.graph.outputs = {y};
  const auto before = GraphForTest::run(g.graph);
  ASSERT_TRUE(infer_and_fold(g.graph).ok());
  ASSERT_TRUE(fuse_conv(g.graph).ok());
  ASSERT_THAT(GraphForTest::ops(g.graph), ElementsAre("FusedGemm"));
  expect_near(GraphForTest::run(g.graph), before);
}

}  // namespace
}  // namespace anynpu::compile
