// SPDX-License-Identifier: Apache-2.0
#include "compile/infer_flow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/graph_for_test.h"

namespace anynpu::compile {
namespace {

using graph::ValueId;
using testing::ElementsAre;

// If whose branches negate x, or take its absolute value.
class InferFlowTest : public testing::Test {
 protected:
  static std::shared_ptr<const graph::Graph> branch(const std::string& op) {
    GraphForTest inner;
    inner.graph.outputs = {inner.node(op, {inner.input("x", {2})}, "y")};
    EXPECT_TRUE(inner.graph.verify().ok());
    return std::make_shared<const graph::Graph>(inner.graph);
  }
  void make_if(bool constant) {
    const ValueId x = g.input("x", {2});
    graph::Value condition = graph::tensor_value("condition", DType::boolean, {});
    if (constant) condition.constant = graph::constant_of(std::vector<uint8_t>{1});
    const ValueId c = g.graph.add_value(condition);
    if (!constant) g.graph.inputs.push_back(c);
    g.graph.outputs = {g.node("If", {c, x}, "y")};
    g.graph.nodes.back().attrs["then_branch"] = branch("Neg");
    g.graph.nodes.back().attrs["else_branch"] = branch("Abs");
    g.graph.nodes.back().attrs["captures"] = int64_t{1};
    EXPECT_TRUE(g.graph.verify().ok());
  }
  GraphForTest g;
};

TEST_F(InferFlowTest, AnIfWithAKnownConditionBecomesItsBranch) {
  make_if(true);
  const Status status = infer_and_fold(g.graph);
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_THAT(GraphForTest::ops(g.graph), ElementsAre("Neg"));
  EXPECT_EQ(g.graph.values[static_cast<size_t>(g.graph.outputs[0])].name, "y");
}

TEST_F(InferFlowTest, AnIfWhoseConditionComesInTheRunStaysAndIsInferred) {
  make_if(false);
  const Status status = infer_and_fold(g.graph);
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_THAT(GraphForTest::ops(g.graph), ElementsAre("If"));
  const graph::Value& y = g.graph.values[static_cast<size_t>(g.graph.outputs[0])];
  EXPECT_EQ(y.dtype, DType::f32);
  EXPECT_EQ(y.shape, (Shape{2}));
}

TEST_F(InferFlowTest, OperatorsOfFlowAndWhatReadsSequencesAreFlow) {
  make_if(false);
  EXPECT_TRUE(is_flow(g.graph, g.graph.nodes[0]));
  g.node("Identity", {g.graph.inputs[0]}, "copy");
  EXPECT_FALSE(is_flow(g.graph, g.graph.nodes[1]));
  g.graph.values[static_cast<size_t>(g.graph.inputs[0])].kind = graph::ValueKind::sequence;
  EXPECT_TRUE(is_flow(g.graph, g.graph.nodes[1]));
}

TEST_F(InferFlowTest, OnlyTensorsOfFixedShapesAreKnown) {
  const ValueId x = g.input("x", {2});
  g.graph.outputs = {x};
  EXPECT_TRUE(all_shapes_known(g.graph));
  g.graph.values[static_cast<size_t>(x)].shape = {-1};
  EXPECT_FALSE(all_shapes_known(g.graph));
  g.graph.values[static_cast<size_t>(x)].has_shape = false;
  EXPECT_FALSE(all_shapes_known(g.graph));
}

}  // namespace
}  // namespace anynpu::compile
