// SPDX-License-Identifier: Apache-2.0
#include "compile/passes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "compile/graph_for_test.h"

namespace anynpu::compile {
namespace {

using graph::ValueId;
using testing::ElementsAre;
using testing::IsEmpty;

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
    ASSERT_TRUE(fold_batch_norms(g.graph).ok());
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
  ASSERT_TRUE(fold_batch_norms(g.graph).ok());
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
    ASSERT_TRUE(fold_batch_norms(g.graph).ok());
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
    ASSERT_TRUE(fold_batch_norms(g.graph).ok());
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
    ASSERT_TRUE(fold_batch_norms(g.graph).ok());
    EXPECT_EQ(g.graph.nodes.size(), 2u) << factor;
  }
}

TEST(FoldBatchNorm, LeavesFiltersThatAreNone) {
  GraphForTest g;
  const ValueId x = g.input("x", {1, 2, 5, 5});
  const ValueId c = g.node("Conv", {x, g.weight("w", {3})}, "c");
  g.graph.outputs = {g.node("Mul", {c, g.weight("k", {3})}, "y")};
  ASSERT_TRUE(fold_batch_norms(g.graph).ok());
  EXPECT_EQ(g.graph.nodes.size(), 2u);
}

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
  ASSERT_TRUE(fuse_convs(g.graph).ok());
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
    ASSERT_TRUE(fuse_convs(g.graph).ok());
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
  ASSERT_TRUE(fuse_convs(g.graph).ok());
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
  ASSERT_TRUE(fuse_convs(g.graph).ok());
  ASSERT_THAT(GraphForTest::ops(g.graph), ElementsAre("FusedGemm"));
  expect_near(GraphForTest::run(g.graph), before);
}

TEST(RemoveNodes, IdentityAndDropoutGoAndOutputNamesStay) {
  GraphForTest g;
  const ValueId x = g.input("x", {3});
  const ValueId a = g.node("Identity", {x}, "a");
  const ValueId b = g.node("Relu", {a}, "b");
  const ValueId c = g.node("Dropout", {b}, "c");
  const ValueId d = g.node("Relu", {c}, "d");
  const ValueId y = g.node("Identity", {d}, "y");
  g.graph.outputs = {y};
  ASSERT_TRUE(remove_identities(g.graph).ok());
  ASSERT_TRUE(remove_dead(g.graph).ok());
  EXPECT_THAT(GraphForTest::ops(g.graph), ElementsAre("Relu", "Relu"));
  EXPECT_EQ(g.graph.values[static_cast<size_t>(g.graph.outputs[0])].name, "y");
}

TEST(RemoveNodes, AnIdentityFromInputToOutputStays) {
  GraphForTest g;
  const ValueId x = g.input("x", {3});
  g.graph.outputs = {g.node("Identity", {x}, "y")};
  ASSERT_TRUE(remove_identities(g.graph).ok());
  EXPECT_THAT(GraphForTest::ops(g.graph), ElementsAre("Identity"));
}

TEST(RemoveNodes, WhatNoOutputNeedsGoesButInputsStay) {
  GraphForTest g;
  const ValueId x = g.input("x", {3});
  g.input("unused", {3});
  g.node("Relu", {g.weight("w", {3})}, "dead");
  g.graph.outputs = {g.node("Relu", {x}, "y")};
  ASSERT_TRUE(remove_dead(g.graph).ok());
  EXPECT_EQ(g.graph.nodes.size(), 1u);
  EXPECT_EQ(g.graph.values.size(), 3u);
  EXPECT_EQ(g.graph.inputs.size(), 2u);
}

TEST(InferAndFold, NodesOfConstantsBecomeConstants) {
  GraphForTest g;
  const ValueId x = g.input("x", {3});
  const ValueId w = g.node("Add", {g.weight("a", {3}), g.weight("b", {3})}, "w");
  g.graph.outputs = {g.node("Add", {x, w}, "y")};
  ASSERT_TRUE(infer_and_fold(g.graph).ok());
  EXPECT_EQ(g.graph.nodes.size(), 1u);
  EXPECT_TRUE(g.graph.values[static_cast<size_t>(w)].constant);
}

TEST(InferAndFold, AFewBytesNeverBecomeGigabytes) {
  GraphForTest g;
  const ValueId a = g.weight("a", {100000, 1}), b = g.weight("b", {1, 100000});
  g.graph.outputs = {g.node("Add", {a, b}, "y")};
  ASSERT_TRUE(infer_and_fold(g.graph).ok());
  EXPECT_EQ(g.graph.nodes.size(), 1u);
}

// The nodes that are left of 50 in a row on a constant of side x side.
size_t left_of_a_chain(const std::string& op, int64_t side) {
  GraphForTest g;
  ValueId x = g.node("ConstantOfShape",
                     {add_constant(g.graph, "size", {2}, std::vector<int64_t>{side, side})}, "x");
  for (size_t i = 0; i < 50; ++i) {
    std::vector<ValueId> inputs = {x};
    if (op == "MatMul" || op == "Concat") inputs.push_back(x);
    x = g.node(op, inputs, op + std::to_string(i));
    if (op == "Concat") g.graph.nodes.back().attrs["axis"] = int64_t{0};
  }
  g.graph.outputs = {x};
  EXPECT_TRUE(infer_and_fold(g.graph).ok());
  return g.graph.nodes.size();
}

TEST(InferAndFold, AFewBytesNeverBecomeHoursOfWorkOrGigabytesStepByStep) {
  EXPECT_GT(left_of_a_chain("MatMul", 2000), 40u) << "seconds each";
  EXPECT_GT(left_of_a_chain("Neg", 2000), 30u) << "16 MB each";
  EXPECT_GT(left_of_a_chain("Concat", 4), 20u) << "each twice the last";
  EXPECT_EQ(left_of_a_chain("Neg", 4), 0u);
}

TEST(InferAndFold, AMismatchNamesTheNode) {
  GraphForTest g;
  const ValueId x = g.input("x", {1, 63, 5, 5});
  g.graph.outputs = {g.node("Conv", {x, g.weight("w", {8, 64, 3, 3})}, "y")};
  const Status status = infer_and_fold(g.graph);
  EXPECT_NE(status.message().find("Conv_y"), std::string::npos) << status.to_string();
}

TEST(StatedShape, IsFoundThroughElementwiseNodes) {
  GraphForTest g;
  const auto x = g.input("x", {2, 3});
  const auto scalar = g.input("scalar", {});
  const auto sum = g.node("ReduceSum", {x}, "sum");
  const auto scaled = g.node("Mul", {sum, scalar}, "scaled");
  const auto root = g.node("Sqrt", {scaled}, "root");
  g.graph.outputs = {root};
  EXPECT_FALSE(find_stated_shape(g.graph, sum));
  g.graph.values[static_cast<size_t>(root)].shape = {2, 1};
  g.graph.values[static_cast<size_t>(root)].has_shape = true;
  EXPECT_TRUE(find_stated_shape(g.graph, sum));
  EXPECT_EQ(g.graph.values[static_cast<size_t>(sum)].shape, (Shape{2, 1}));
  EXPECT_EQ(g.graph.values[static_cast<size_t>(scaled)].shape, (Shape{2, 1}));
}

}  // namespace
}  // namespace anynpu::compile
