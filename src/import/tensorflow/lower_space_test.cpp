// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/graph_for_test.h"

namespace anynpu::tensorflow {
namespace {

TEST(TfSpace, BlocksOfAPictureBecomeBatches) {
  TestGraph constants;
  constants.ints("block", {2}, {2, 2}).ints("pads", {2, 2}, {0, 1, 0, 0});
  EXPECT_EQ(one_node("SpaceToBatchND", {1, 3, 4, 5}, {}, {"block", "pads"}, constants).shape(),
            "4x2x2x5");
  EXPECT_EQ(one_node("BatchToSpaceND", {4, 2, 2, 5}, {}, {"block", "pads"}, constants).shape(),
            "1x3x4x5");
}

TEST(TfSpace, AConvolutionBetweenThemHasDilations) {
  TestGraph graph;
  graph.input("x", {1, 8, 8, 2}).floats("w", {3, 3, 2, 4});
  graph.ints("block", {2}, {2, 2})
      .ints("pads", {2, 2}, {2, 2, 2, 2})
      .ints("crops", {2, 2}, {0, 0, 0, 0});
  graph.node("s", "SpaceToBatchND", {"x", "block", "pads"});
  graph.node("c", "Conv2D", {"s", "w"},
             {text_of("padding", "VALID"), ints_of("strides", {1, 1, 1, 1})});
  graph.node("y", "BatchToSpaceND", {"c", "block", "crops"});
  const auto made = graph.import();
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  EXPECT_EQ(graph.shape(), "1x8x8x4");
  for (const graph::Node& node : made->nodes) {
    if (node.name == "y") EXPECT_EQ(node.ints_attr("dilations"), (std::vector<int64_t>{2, 2}));
  }
}

}  // namespace
}  // namespace anynpu::tensorflow
