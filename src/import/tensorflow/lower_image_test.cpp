// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/graph_for_test.h"

namespace anynpu::tensorflow {
namespace {

TestGraph size_of_eight() {
  TestGraph graph;
  graph.ints("size", {2}, {8, 6});
  return graph;
}

std::string rule_of(const std::vector<TestAttr>& attrs) {
  const auto made =
      one_node("ResizeBilinear", {1, 4, 4, 3}, attrs, {"size"}, size_of_eight()).import();
  if (!made.ok()) return made.status().to_string();
  for (const graph::Node& node : made->nodes) {
    if (node.op == "Resize") return node.string_attr("coordinate_transformation_mode", "");
  }
  return "no Resize";
}

TEST(TfImage, ResizeHasThreeRules) {
  EXPECT_EQ(rule_of({}), "asymmetric");
  EXPECT_EQ(rule_of({flag_of("align_corners", true)}), "align_corners");
  EXPECT_EQ(rule_of({flag_of("half_pixel_centers", true)}), "half_pixel");
  EXPECT_EQ(one_node("ResizeArea", {1, 4, 4, 3}, {}, {"size"}, size_of_eight()).shape(), "1x8x6x3");
}

TEST(TfImage, ASizeOfTheRunKeepsTheOrderOfTheModel) {
  TestGraph graph;
  graph.input("x", {1, 4, 5, 3}).input("size", {2}, 3).node("y", "ResizeBilinear", {"x", "size"});
  EXPECT_EQ(graph.shape(), "1x?x?x3");
}

TEST(TfImage, PatchesLieInTheChannels) {
  const std::vector<TestAttr> attrs = {ints_of("ksizes", {1, 3, 3, 1}),
                                       ints_of("strides", {1, 2, 2, 1}),
                                       ints_of("rates", {1, 1, 1, 1}), text_of("padding", "SAME")};
  EXPECT_EQ(one_node("ExtractImagePatches", {1, 5, 5, 2}, attrs).shape(), "1x3x3x18");
}

TEST(TfImage, BlocksBecomeChannels) {
  EXPECT_EQ(one_node("SpaceToDepth", {1, 4, 6, 3}, {int_of("block_size", 2)}).shape(), "1x2x3x12");
  EXPECT_EQ(one_node("DepthToSpace", {1, 2, 3, 12}, {int_of("block_size", 2)}).shape(), "1x4x6x3");
}

}  // namespace
}  // namespace anynpu::tensorflow
