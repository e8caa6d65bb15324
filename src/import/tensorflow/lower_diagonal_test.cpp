// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/graph_for_test.h"

namespace anynpu::tensorflow {
namespace {

TEST(TfDiagonal, PartsAndMatricesHaveTheShapesOfTheBand) {
  TestGraph graph;
  graph.ints("k", {2}, {-1, 1}).floats("padding", {});
  EXPECT_EQ(one_node("MatrixDiagPartV3", {2, 3, 4}, {}, {"k", "padding"}, graph).shape(), "2x3x3");
  EXPECT_EQ(one_node("MatrixDiag", {2, 3}).shape(), "2x3x3");
  EXPECT_EQ(one_node("Diag", {2, 3}).shape(), "2x3x2x3");
  TestGraph set;
  set.floats("d", {2, 3});
  EXPECT_EQ(one_node("MatrixSetDiag", {2, 3, 4}, {}, {"d"}, set).shape(), "2x3x4");
}

TEST(TfDiagonal, ABandFromHighToLowIsRefused) {
  TestGraph graph;
  graph.ints("k", {2}, {1, -1}).floats("padding", {});
  const std::string said = one_node("MatrixDiagPartV3", {3, 4}, {}, {"k", "padding"}, graph).ops();
  EXPECT_NE(said.find("low to high"), std::string::npos) << said;
}

TEST(TfDiagonal, ComplexNumbersHaveAZeroToo) {
  TestGraph graph;  // complex128
  graph.input("x", {2, 3, 3}, 18).node("y", "MatrixDiagPart", {"x"});
  EXPECT_EQ(graph.ops(), "Reshape Concat Gather Reshape");
}

TEST(TfDiagonal, ATypeWithoutAZeroIsRefused) {
  TestGraph graph;  // float8_e5m2
  graph.input("x", {2, 3, 3}, 24).node("y", "MatrixDiagPart", {"x"});
  EXPECT_NE(graph.ops().find("not supported"), std::string::npos) << graph.ops();
}

}  // namespace
}  // namespace anynpu::tensorflow
