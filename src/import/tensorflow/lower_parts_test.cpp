// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/graph_for_test.h"

namespace anynpu::tensorflow {
namespace {

TEST(TfParts, ATurnedTensorIsTwoParts) {
  TestGraph graph;
  graph.ints("shift", {}, {1}).ints("axis", {}, {-1});
  EXPECT_EQ(one_node("Roll", {2, 3}, {}, {"shift", "axis"}, graph).ops(), "Slice Slice Concat");
}

TEST(TfParts, AnEmptyTensorHasItsShape) {
  TestGraph graph;
  graph.ints("extents", {2}, {0, 3}).node("y", "Empty", {"extents"}, {type_of("dtype", 1)});
  EXPECT_EQ(graph.shape(), "0x3");
}

}  // namespace
}  // namespace anynpu::tensorflow
