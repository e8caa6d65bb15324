// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/graph_for_test.h"

namespace anynpu::tensorflow {
namespace {

TEST(TfIndex, GatherKeepsBatchesTogether) {
  TestGraph graph;
  graph.input("x", {2, 3, 4}).input("i", {2, 5}, 3).ints("axis", {}, {2});
  graph.node("y", "GatherV2", {"x", "i", "axis"}, {int_of("batch_dims", 1)});
  EXPECT_EQ(graph.shape(), "2x3x5");
}

TEST(TfIndex, GatherTakesAnAxisThatTheModelComputes) {
  TestGraph graph;
  graph.input("x", {4, 3, 5}).input("axis", {}, 3).ints("i", {2, 2}, {1, 0, 0, 2});
  graph.node("y", "GatherV2", {"x", "i", "axis"});
  const std::string ops = graph.ops();  // what lies before and behind the axis is joined
  EXPECT_NE(ops.find("Concat Reshape Gather Concat Reshape"), std::string::npos) << ops;
}

TEST(TfIndex, TopKGivesIndicesOfThirtyTwoBits) {
  TestGraph constants;
  constants.ints("k", {}, {2});
  const auto made = one_node("TopKV2", {3, 5}, {}, {"k"}, constants).import({{}, {"y:1"}});
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  EXPECT_EQ(made->values[static_cast<size_t>(made->outputs[0])].dtype, DType::i32);
}

TEST(TfIndex, WhereGivesARowForEachPlace) {
  TestGraph graph;
  graph.input("x", {3, 5}, 10).node("y", "Where", {"x"});
  EXPECT_EQ(graph.ops(), "NonZero Transpose");
}

}  // namespace
}  // namespace anynpu::tensorflow
