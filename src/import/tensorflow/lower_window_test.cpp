// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/graph_for_test.h"

namespace anynpu::tensorflow {
namespace {

std::vector<TestAttr> window(const std::string& padding, int64_t stride) {
  return {text_of("padding", padding), ints_of("strides", {1, stride, stride, 1})};
}

TEST(TfWindow, SamePaddingKeepsWhatTheStrideLeaves) {
  TestGraph constants;
  constants.floats("w", {3, 3, 2, 5});
  EXPECT_EQ(one_node("Conv2D", {1, 7, 8, 2}, window("SAME", 2), {"w"}, constants).shape(),
            "1x4x4x5");
  EXPECT_EQ(one_node("Conv2D", {1, 7, 8, 2}, window("VALID", 2), {"w"}, constants).shape(),
            "1x3x3x5");
}

TEST(TfWindow, APadInFrontIsPartOfTheConvolution) {
  TestGraph graph;
  graph.input("x", {1, 8, 8, 2})
      .floats("w", {3, 3, 2, 4})
      .ints("p", {4, 2}, {0, 0, 1, 1, 1, 1, 0, 0});
  graph.floats("one", {1, 1, 2, 2});
  graph.node("c", "Conv2D", {"x", "one"}, window("SAME", 1)).node("pad", "Pad", {"c", "p"});
  graph.node("y", "Conv2D", {"pad", "w"}, window("VALID", 1));
  const auto made = graph.import();
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  for (const graph::Node& node : made->nodes) {
    if (node.name == "y") EXPECT_EQ(node.ints_attr("pads"), (std::vector<int64_t>{1, 1, 1, 1}));
  }
  EXPECT_EQ(graph.shape(), "1x8x8x4");
}

TEST(TfWindow, ADepthwiseFilterHasAChannelEach) {
  TestGraph constants;
  constants.floats("w", {3, 3, 4, 2});
  EXPECT_EQ(
      one_node("DepthwiseConv2dNative", {1, 6, 6, 4}, window("SAME", 1), {"w"}, constants).shape(),
      "1x6x6x8");
}

TEST(TfWindow, StridesOverChannelsAreRefused) {
  const std::string said = one_node("MaxPool", {1, 4, 4, 2},
                                    {text_of("padding", "SAME"), ints_of("strides", {1, 2, 2, 2}),
                                     ints_of("ksize", {1, 2, 2, 1})})
                               .shape();
  EXPECT_NE(said.find("'strides' is 1 and 2"), std::string::npos) << said;
}

}  // namespace
}  // namespace anynpu::tensorflow
