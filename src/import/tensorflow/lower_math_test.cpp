// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/graph_for_test.h"

namespace anynpu::tensorflow {
namespace {

TEST(TfMath, DivisionRoundsDown) {
  TestGraph graph;
  graph.input("x", {2}, 3).node("y", "FloorDiv", {"x", "x"});
  EXPECT_EQ(graph.ops(), "FloorDiv");
  EXPECT_EQ(one_node("FloorDiv", {2}, {}, {"x"}).ops(), "FloorDiv");
}

TEST(TfMath, SelectTakesRows) {
  TestGraph graph;
  graph.input("c", {4}, 10).input("x", {4, 2, 3}).node("y", "Select", {"c", "x", "x"});
  EXPECT_EQ(graph.ops(), "Reshape Where");
  EXPECT_EQ(graph.shape(), "4x2x3");
}

}  // namespace
}  // namespace anynpu::tensorflow
