// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/graph_for_test.h"

namespace anynpu::tensorflow {
namespace {

TEST(TfLinear, DecompositionsHaveTheirShapes) {
  EXPECT_EQ(one_node("Cholesky", {2, 3, 3}).shape(), "2x3x3");
  EXPECT_EQ(one_node("Qr", {4, 3}).shape(), "4x3");
  EXPECT_EQ(one_node("Qr", {4, 3}, {flag_of("full_matrices", true)}).shape(), "4x4");
  EXPECT_EQ(one_node("Svd", {4, 3}, {flag_of("compute_uv", false)}).shape(), "3");
}

TEST(TfLinear, VectorsComeBehindTheirValues) {
  EXPECT_EQ(one_node("Svd", {4, 3}).shape({{}, {"y:1"}}), "4x3");
  EXPECT_EQ(one_node("Svd", {4, 3}).shape({{}, {"y:2"}}), "3x3");
  EXPECT_EQ(one_node("SelfAdjointEigV2", {2, 3, 3}).shape({{}, {"y:1"}}), "2x3x3");
}

TEST(TfLinear, ASparseMatrixIsMultiplied) {
  TestGraph graph;
  graph.ints("i", {2, 2}, {0, 1, 2, 0}).floats("v", {2}).ints("shape", {2}, {3, 4});
  graph.input("x", {4, 2}).node("y", "SparseTensorDenseMatMul", {"i", "v", "shape", "x"});
  EXPECT_EQ(graph.shape(), "3x2");
}

TEST(TfLinear, DiagonalsAreWrittenOutAndSolved) {
  TestGraph graph;
  graph.input("d", {2, 3, 5}).input("b", {2, 5, 1}).node("y", "TridiagonalSolve", {"d", "b"});
  EXPECT_EQ(graph.shape(), "2x5x1");
}

}  // namespace
}  // namespace anynpu::tensorflow
