// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/graph_for_test.h"
#include "compile/types.h"

namespace anynpu::compile {
namespace {

using graph::ValueId;
using testing::ElementsAre;
using testing::HasSubstr;

graph::Graph relu_f16(Shape shape) {
  GraphForTest g;
  const ValueId x = g.input("x", shape);
  const ValueId y = g.node("Relu", {x}, "y");
  g.graph.outputs = {y};
  for (ValueId id : {x, y}) {
    graph::Value& value = g.graph.values[static_cast<size_t>(id)];
    value.dtype = DType::f16;
    value.shape = shape;
    value.has_shape = true;
  }
  return g.graph;
}

TEST(HwLayout, AnInputInBlocksIsTurnedAndCutToItsChannels) {
  graph::Graph graph = relu_f16({1, 3, 4, 5});
  ASSERT_TRUE(feed_in_blocks(0, graph).ok());
  ASSERT_TRUE(graph.verify().ok());
  const graph::Value& fed = graph.values[static_cast<size_t>(graph.inputs[0])];
  EXPECT_EQ(fed.name, "x");
  EXPECT_EQ(fed.shape, (Shape{1, 1, 4, 5, 16}));
  EXPECT_EQ(fed.format, Format::nc1hwc0);
  EXPECT_THAT(GraphForTest::ops(graph), ElementsAre("Transpose", "Reshape", "Slice", "Relu"));
}

TEST(HwLayout, AnOutputInBlocksIsFilledUp) {
  graph::Graph graph = relu_f16({2, 17, 4, 5});
  ASSERT_TRUE(return_in_blocks(0, graph).ok());
  ASSERT_TRUE(graph.verify().ok());
  const graph::Value& made = graph.values[static_cast<size_t>(graph.outputs[0])];
  EXPECT_EQ(made.name, "y");
  EXPECT_EQ(made.shape, (Shape{2, 2, 4, 5, 16}));
  EXPECT_THAT(GraphForTest::ops(graph), ElementsAre("Relu", "Pad", "Reshape", "Transpose"));
}

TEST(HwLayout, OtherRanksAreRefusedWithTheOption) {
  graph::Graph graph = relu_f16({2, 3});
  EXPECT_THAT(feed_in_blocks(0, graph).message(), HasSubstr("--is_input_adjust_hw_layout: 'x'"));
  EXPECT_THAT(return_in_blocks(0, graph).message(), HasSubstr("--is_output_adjust_hw_layout: 'y'"));
}

}  // namespace
}  // namespace anynpu::compile
