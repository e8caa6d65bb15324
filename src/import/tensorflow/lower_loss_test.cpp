// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/graph_for_test.h"

namespace anynpu::tensorflow {
namespace {

TEST(TfLoss, EachRowHasALossAndAGradient) {
  TestGraph graph;
  graph.input("x", {4, 3}).input("c", {4}, 3);
  graph.node("y", "SparseSoftmaxCrossEntropyWithLogits", {"x", "c"});
  EXPECT_EQ(graph.shape({{}, {"y:0"}}), "4");
  EXPECT_EQ(graph.shape({{}, {"y:1"}}), "4x3");
  EXPECT_EQ(one_node("SoftmaxCrossEntropyWithLogits", {4, 3}, {}, {"x"}).shape({{}, {"y:0"}}), "4");
  EXPECT_EQ(one_node("BiasAddGrad", {4, 2, 3}).shape(), "3");
}

}  // namespace
}  // namespace anynpu::tensorflow
