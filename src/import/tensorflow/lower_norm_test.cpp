// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/graph_for_test.h"

namespace anynpu::tensorflow {
namespace {

TEST(TfNorm, InferenceTakesTheStatisticsThatAreGiven) {
  TestGraph constants;
  constants.floats("c", {3});
  const auto norm = one_node("FusedBatchNormV3", {1, 2, 2, 3}, {flag_of("is_training", false)},
                             {"c", "c", "c", "c"}, constants);
  EXPECT_EQ(norm.ops({{}, {"y:0"}}), "Transpose BatchNormalization Transpose");
}

TEST(TfNorm, SoftmaxOfAPictureIsOverItsChannels) {
  TestGraph graph;
  graph.input("x", {1, 4, 4, 2}).floats("w", {1, 1, 2, 3});
  graph.node("c", "Conv2D", {"x", "w"},
             {text_of("padding", "SAME"), ints_of("strides", {1, 1, 1, 1})});
  graph.node("y", "Softmax", {"c"});
  const auto made = graph.import();
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  for (const graph::Node& node : made->nodes) {
    if (node.op == "Softmax") EXPECT_EQ(node.int_attr("axis", 9), 1);
  }
}

}  // namespace
}  // namespace anynpu::tensorflow
