// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/graph_for_test.h"

namespace anynpu::tensorflow {
namespace {

TEST(TfSearch, RowsArePutAtIndices) {
  TestGraph graph;
  graph.ints("i", {2}, {1, 0}).floats("v", {2, 3});
  EXPECT_EQ(one_node("InplaceUpdate", {4, 3}, {}, {"i", "v"}, graph).shape(), "4x3");
  TestGraph sparse;
  sparse.ints("shape", {2}, {4, 5}).floats("values", {2}).floats("fill", {});
  sparse.ints("i", {2, 2}, {0, 1, 3, 2});
  sparse.node("y", "SparseToDense", {"i", "shape", "values", "fill"});
  EXPECT_EQ(sparse.shape(), "4x5");
}

TEST(TfSearch, PartitionsHaveAnExtentThatTheRunTells) {
  TestGraph graph;
  graph.ints("p", {3}, {0, 1, 0});
  EXPECT_EQ(one_node("DynamicPartition", {3, 2}, {int_of("num_partitions", 2)}, {"p"}, graph).ops(),
            "Compress Compress");
}

TEST(TfSearch, ANumberIsLookedForInEachRow) {
  TestGraph graph;
  graph.floats("v", {2, 5});
  EXPECT_EQ(one_node("LowerBound", {2, 7}, {}, {"v"}, graph).shape(), "2x5");
}

}  // namespace
}  // namespace anynpu::tensorflow
