// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/graph_for_test.h"

namespace anynpu::tensorflow {
namespace {

TEST(TfMatrix, OperandsMayBeTransposed) {
  TestGraph constants;
  constants.floats("w", {5, 3});
  const auto graph = one_node("MatMul", {2, 3}, {flag_of("transpose_b", true)}, {"w"}, constants);
  EXPECT_EQ(graph.shape(), "2x5");
  EXPECT_EQ(graph.ops(), "MatMul") << "a constant is transposed while the model is read";
}

TEST(TfMatrix, BatchesAreBroadcast) {
  TestGraph graph;
  graph.input("x", {2, 1, 3, 4}).input("z", {5, 6, 4});
  graph.node("y", "BatchMatMulV2", {"x", "z"}, {flag_of("adj_y", true)});
  EXPECT_EQ(graph.shape(), "2x5x3x6");
}

}  // namespace
}  // namespace anynpu::tensorflow
