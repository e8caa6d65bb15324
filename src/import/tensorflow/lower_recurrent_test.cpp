// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/graph_for_test.h"

namespace anynpu::tensorflow {
namespace {

TEST(TfRecurrent, ASequenceIsAScanOfTheCell) {
  TestGraph graph;
  graph.input("x", {5, 2, 3})
      .floats("s", {2, 4})
      .floats("w", {7, 16})
      .floats("p", {4})
      .floats("b", {16});
  graph.ints("n", {}, {5});
  graph.node("y", "BlockLSTM", {"n", "x", "s", "s", "w", "p", "p", "p", "b"});
  EXPECT_EQ(graph.ops({{}, {"y:6"}}), "Scan");
  EXPECT_EQ(graph.shape({{}, {"y:6"}}), "5x2x4");
}

TEST(TfRecurrent, ACellGivesItsState) {
  TestGraph graph;
  graph.input("x", {2, 3}).floats("h", {2, 4}).floats("ru", {7, 8}).floats("c", {7, 4});
  graph.floats("bru", {8}).floats("bc", {4});
  graph.node("y", "GRUBlockCell", {"x", "h", "ru", "c", "bru", "bc"});
  EXPECT_EQ(graph.shape({{}, {"y:3"}}), "2x4");
}

}  // namespace
}  // namespace anynpu::tensorflow
