// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/graph_for_test.h"

namespace anynpu::tensorflow {
namespace {

// Shape -> StridedSlice -> Pack -> Reshape, as Flatten of Keras writes it.
TestGraph flatten(const Shape& shape) {
  TestGraph graph;
  graph.input("x", shape);
  graph.node("shape", "Shape", {"x"}).ints("zero", {1}, {0}).ints("one", {1}, {1});
  graph.node("batch", "StridedSlice", {"shape", "zero", "one", "one"},
             {int_of("shrink_axis_mask", 1)});
  graph.ints("rest", {}, {12}).node("to", "Pack", {"batch", "rest"});
  graph.node("y", "Reshape", {"x", "to"});
  return graph;
}

TEST(TfBuilderValues, ExtentsAreComputedWhileTheModelIsRead) {
  EXPECT_EQ(flatten({5, 3, 4}).shape(), "5x12");
  EXPECT_EQ(flatten({5, 3, 4}).ops(), "Reshape");
}

TEST(TfBuilderValues, APartOfAListThatTheRunCutsIsAList) {
  TestGraph graph;
  graph.input("x", {5}).input("n", {1}, 3).ints("zero", {1}, {0}).ints("one", {1}, {1});
  graph.node("y", "StridedSlice", {"x", "zero", "n", "one"});
  EXPECT_EQ(graph.shape(), "?");
}

TEST(TfBuilderValues, FixedExtentsStayKnownBesideOpenOnes) {
  EXPECT_EQ(flatten({-1, 3, 4}).shape(), "?x12");
}

}  // namespace
}  // namespace anynpu::tensorflow
