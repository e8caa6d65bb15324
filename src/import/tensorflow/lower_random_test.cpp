// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/graph_for_test.h"

namespace anynpu::tensorflow {
namespace {

TEST(TfRandom, IsDrawnInEveryRun) {
  TestGraph graph;
  graph.ints("shape", {2}, {3, 4});
  graph.node("y", "RandomUniform", {"shape"}, {type_of("dtype", 1), int_of("seed", 3)});
  const auto made = graph.import();
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  EXPECT_EQ(graph.ops(), "RandomUniformLike") << "it is not folded away";
  EXPECT_EQ(graph.shape(), "3x4");
  EXPECT_EQ(made->nodes[0].float_attr("seed", 0), 3.0f * 31);
}

TEST(TfRandom, WholeNumbersHaveTheTypeOfTheirBounds) {
  TestGraph graph;
  graph.ints("shape", {1}, {5}).ints("low", {}, {-2}).ints("high", {}, {3});
  graph.node("y", "RandomUniformInt", {"shape", "low", "high"});
  const auto made = graph.import();
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  EXPECT_EQ(made->values[static_cast<size_t>(made->outputs[0])].dtype, DType::i32);
}

TEST(TfRandom, AShuffleKeepsTheShape) {
  EXPECT_EQ(one_node("RandomShuffle", {7, 2}).shape(), "7x2");
}

TEST(TfRandom, APartOfAPictureIsThreeNumbersOfTheSizesType) {
  TestGraph graph;
  graph.ints("size", {3}, {20, 30, 3}).input("boxes", {1, 2, 4}).floats("least", {}, {0.1f});
  graph.node("y", "SampleDistortedBoundingBoxV2", {"size", "boxes", "least"});
  EXPECT_EQ(graph.shape({{}, {"y:0"}}), "3");
  EXPECT_EQ(graph.shape({{}, {"y:2"}}), "1x1x4");
}

}  // namespace
}  // namespace anynpu::tensorflow
