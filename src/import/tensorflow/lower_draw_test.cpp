// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/graph_for_test.h"

namespace anynpu::tensorflow {
namespace {

TEST(TfDraw, PicturesKeepTheirShape) {
  TestGraph graph;
  graph.input("boxes", {2, 3, 4});
  EXPECT_EQ(one_node("DrawBoundingBoxes", {2, 6, 8, 3}, {}, {"boxes"}, graph).shape(), "2x6x8x3");
}

TEST(TfDraw, ColoursNeedANumberForEachChannel) {
  TestGraph graph;
  graph.input("boxes", {2, 3, 4}).floats("colours", {1, 2});
  const std::string said =
      one_node("DrawBoundingBoxesV2", {2, 6, 8, 3}, {}, {"boxes", "colours"}, graph).shape();
  EXPECT_NE(said.find("the colours 1x2"), std::string::npos) << said;
}

}  // namespace
}  // namespace anynpu::tensorflow
