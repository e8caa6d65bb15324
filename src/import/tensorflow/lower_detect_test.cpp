// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/graph_for_test.h"

namespace anynpu::tensorflow {
namespace {

TestGraph boxes() {
  TestGraph graph;
  graph.input("boxes", {6, 4}).input("scores", {6}).ints("most", {}, {3});
  graph.floats("iou", {}, {0.5f}).floats("least", {}, {0.1f}).floats("sigma", {}, {0});
  return graph;
}

TEST(TfDetect, SuppressionGivesIndicesOrAFixedNumberOfThem) {
  TestGraph three = boxes();
  three.node("y", "NonMaxSuppressionV3", {"boxes", "scores", "most", "iou", "least"});
  EXPECT_NE(three.ops().find("NonMaxSuppression"), std::string::npos) << three.ops();
  TestGraph four = boxes();
  four.node("y", "NonMaxSuppressionV4", {"boxes", "scores", "most", "iou", "least"},
            {flag_of("pad_to_max_output_size", true)});
  EXPECT_EQ(four.shape(), "3");
  TestGraph five = boxes();
  five.node("y", "NonMaxSuppressionV5", {"boxes", "scores", "most", "iou", "least", "sigma"},
            {flag_of("pad_to_max_output_size", true)});
  EXPECT_EQ(five.ops(), "SoftNonMaxSuppression");
}

TEST(TfDetect, WhatIsGatheredByChosenBoxesKeepsItsAxes) {
  TestGraph graph = boxes();
  graph.ints("axis", {}, {0});
  graph.node("n", "NonMaxSuppressionV3", {"boxes", "scores", "most", "iou", "least"});
  graph.node("y", "GatherV2", {"boxes", "n", "axis"});
  EXPECT_EQ(graph.shape(), "?x4");
}

TEST(TfDetect, CropsHaveOneSize) {
  TestGraph graph;
  graph.input("x", {1, 8, 8, 3})
      .input("boxes", {5, 4})
      .input("of", {5}, 3)
      .ints("size", {2}, {4, 6});
  graph.node("y", "CropAndResize", {"x", "boxes", "of", "size"});
  EXPECT_EQ(graph.shape(), "5x4x6x3");
}

TEST(TfDetect, AGlimpseIsAWindowOfEachPicture) {
  TestGraph graph;
  graph.ints("size", {2}, {3, 2}).input("at", {2, 2});
  const std::vector<std::string> more = {"size", "at"};
  const TestGraph made =
      one_node("ExtractGlimpse", {2, 6, 7, 3}, {text_of("noise", "zero")}, more, graph);
  EXPECT_EQ(made.shape(), "2x3x2x3");
  const std::string said = one_node("ExtractGlimpse", {2, 6, 7, 3}, {}, more, graph).shape();
  EXPECT_NE(said.find("random numbers"), std::string::npos) << said;
}

}  // namespace
}  // namespace anynpu::tensorflow
