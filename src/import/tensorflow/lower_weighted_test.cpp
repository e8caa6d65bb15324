// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/graph_for_test.h"

namespace anynpu::tensorflow {
namespace {

TestGraph with_size() {
  TestGraph graph;
  graph.ints("size", {2}, {8, 6});
  return graph;
}

TEST(TfWeighted, AFixedSizeHasItsWeightsAsConstants) {
  const TestGraph cubic = one_node("ResizeBicubic", {1, 4, 4, 3}, {}, {"size"}, with_size());
  EXPECT_EQ(cubic.ops(), "Transpose WeightedAxis WeightedAxis Transpose");
  EXPECT_EQ(cubic.shape(), "1x8x6x3");
}

TEST(TfWeighted, ASizeOfTheRunIsResizedByTheCurve) {
  TestGraph graph;
  graph.input("size", {2}, 3);
  const std::string ops = one_node("ResizeBicubic", {1, 4, 4, 3}, {}, {"size"}, graph).ops();
  EXPECT_NE(ops.find("Resize"), std::string::npos) << ops;
}

TEST(TfWeighted, GradientsHaveTheSizeOfTheOriginal) {
  TestGraph graph;
  graph.input("original", {1, 3, 4, 2});
  for (const char* op : {"ResizeBilinearGrad", "ResizeBicubicGrad"}) {
    EXPECT_EQ(one_node(op, {1, 6, 8, 2}, {}, {"original"}, graph).shape(), "1x3x4x2") << op;
  }
}

TEST(TfWeighted, ExtentsBeyondAllTablesAreRefused) {
  TestGraph graph;
  graph.ints("size", {2}, {1 << 30, 6});
  const std::string said = one_node("ResizeBicubic", {1, 4, 4, 3}, {}, {"size"}, graph).shape();
  EXPECT_NE(said.find("an axis of 4 becomes 1073741824"), std::string::npos) << said;
}

TEST(TfWeighted, ScalesByAKernel) {
  TestGraph graph = with_size();
  graph.floats("scale", {2}, {0.5f, 0.5f}).floats("move", {2}, {0, 0});
  const std::vector<std::string> more = {"size", "scale", "move"};
  EXPECT_EQ(one_node("ScaleAndTranslate", {1, 12, 12, 3}, {}, more, graph).shape(), "1x8x6x3");
  const std::string said =
      one_node("ScaleAndTranslate", {1, 12, 12, 3}, {text_of("kernel_type", "sinc")}, more, graph)
          .shape();
  EXPECT_NE(said.find("kernel_type is 'sinc'"), std::string::npos) << said;
}

}  // namespace
}  // namespace anynpu::tensorflow
