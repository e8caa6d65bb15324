// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/builder.h"
#include "import/tensorflow/graph_for_test.h"

namespace anynpu::tensorflow {
namespace {

std::vector<TestAttr> conv_attrs() {
  return {text_of("padding", "SAME"), ints_of("strides", {1, 1, 1, 1})};
}

TEST(TfLayout, ListsAndAxesMoveWithTheChannels) {
  EXPECT_EQ(to_first_order(4), (Ints{0, 3, 1, 2}));
  EXPECT_EQ(to_last_order(4), (Ints{0, 2, 3, 1}));
  EXPECT_EQ(first_list({0, 1, 2, 3}), (Ints{0, 3, 1, 2}));
  EXPECT_EQ(first_axis(3, 4), 1);
  EXPECT_EQ(first_axis(1, 4), 2);
}

TEST(TfLayout, NoTransposeStandsBetweenConvolutions) {
  TestGraph graph;
  graph.input("x", {1, 8, 8, 4}).floats("w", {3, 3, 4, 4}).floats("c", {4});
  graph.node("a", "Conv2D", {"x", "w"}, conv_attrs());
  graph.node("bias", "BiasAdd", {"a", "c"}).node("relu", "Relu", {"bias"});
  graph.node("b", "Conv2D", {"relu", "w"}, conv_attrs());
  graph.node("sum", "AddV2", {"b", "relu"}).node("twice", "Mul", {"sum", "c"});
  graph.node("y", "Conv2D", {"twice", "w"}, conv_attrs());
  EXPECT_EQ(graph.ops(), "Transpose Conv Add Relu Conv Add Mul Conv Transpose");
  EXPECT_EQ(graph.shape(), "1x8x8x4");
}

TEST(TfLayout, ATensorThatIsReadBothWaysIsTransposedOnce) {
  TestGraph graph;
  graph.input("x", {1, 4, 4, 2}).floats("w", {1, 1, 2, 2}).ints("flat", {2}, {1, -1});
  graph.node("a", "Conv2D", {"x", "w"}, conv_attrs());
  graph.node("r", "Reshape", {"a", "flat"}).node("s", "Reshape", {"a", "flat"});
  graph.node("y", "AddV2", {"r", "s"});
  EXPECT_EQ(graph.ops(), "Transpose Conv Transpose Reshape Reshape Add");
}

}  // namespace
}  // namespace anynpu::tensorflow
