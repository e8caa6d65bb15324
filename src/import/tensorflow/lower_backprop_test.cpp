// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/graph_for_test.h"

namespace anynpu::tensorflow {
namespace {

TestGraph way_back(const std::string& padding, const std::vector<int32_t>& sizes) {
  TestGraph graph;
  graph.ints("sizes", {4}, sizes).floats("w", {3, 3, 5, 2}).input("x", {1, 4, 4, 2});
  graph.node("y", "Conv2DBackpropInput", {"sizes", "w", "x"},
             {text_of("padding", padding), ints_of("strides", {1, 2, 2, 1})});
  return graph;
}

TEST(TfBackprop, TheSizeIsTheOneAskedFor) {
  EXPECT_EQ(way_back("SAME", {1, 8, 8, 5}).shape(), "1x8x8x5");
  EXPECT_EQ(way_back("SAME", {1, 7, 7, 5}).shape(), "1x7x7x5");
  EXPECT_EQ(way_back("VALID", {1, 9, 9, 5}).shape(), "1x9x9x5");
  EXPECT_EQ(way_back("VALID", {1, 10, 10, 5}).shape(), "1x10x10x5");
}

TEST(TfBackprop, ASizeThatCannotBeIsRefused) {
  const std::string said = way_back("VALID", {1, 3, 3, 5}).shape();
  EXPECT_NE(said.find("cannot be the convolution"), std::string::npos) << said;
}

TEST(TfBackprop, TheGradientOfAFilterHasItsSize) {
  TestGraph graph;
  graph.ints("sizes", {4}, {3, 3, 2, 4}).input("dy", {2, 4, 4, 4});
  graph.input("x", {2, 7, 8, 2})
      .node("y", "Conv2DBackpropFilter", {"x", "sizes", "dy"},
            {ints_of("strides", {1, 2, 2, 1}), text_of("padding", "SAME")});
  EXPECT_EQ(graph.shape(), "3x3x2x4");
  TestGraph depthwise;
  depthwise.ints("sizes", {4}, {3, 3, 2, 2}).input("dy", {2, 4, 4, 4});
  depthwise.input("x", {2, 7, 8, 2})
      .node("y", "DepthwiseConv2dNativeBackpropFilter", {"x", "sizes", "dy"},
            {ints_of("strides", {1, 2, 2, 1}), text_of("padding", "SAME")});
  EXPECT_EQ(depthwise.shape(), "3x3x2x2");
}

}  // namespace
}  // namespace anynpu::tensorflow
