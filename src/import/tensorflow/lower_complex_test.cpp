// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/graph_for_test.h"

namespace anynpu::tensorflow {
namespace {

constexpr int64_t kComplex64 = 8, kComplex128 = 18;

TEST(TfComplex, FunctionsOfElementsHaveOneOperator) {
  TestGraph graph;
  graph.input("x", {2, 3}, kComplex64).input("z", {3}, kComplex64);
  graph.node("e", "Exp", {"x"}).node("y", "AddV2", {"e", "z"});
  EXPECT_EQ(graph.ops(), "ComplexFunction ComplexFunction");
  EXPECT_EQ(graph.shape(), "2x3");
}

TEST(TfComplex, SumsAreThoseOfTheParts) {
  TestGraph graph;
  graph.input("x", {2, 3}, kComplex128).ints("axes", {1}, {1}).node("y", "Sum", {"x", "axes"});
  EXPECT_EQ(graph.ops(), "ComplexFunction ReduceSum ComplexFunction ReduceSum ToComplex");
  EXPECT_EQ(graph.shape(), "2");
}

TEST(TfComplex, AProductOfMatricesIsFour) {
  TestGraph graph;
  graph.input("x", {2, 3}, kComplex64).input("w", {3, 4}, kComplex64);
  graph.node("y", "MatMul", {"x", "w"});
  const std::string ops = graph.ops();
  size_t products = 0;
  for (size_t at = 0; (at = ops.find("MatMul", at)) != std::string::npos; ++at) ++products;
  EXPECT_EQ(products, 4u) << ops;
  EXPECT_EQ(graph.shape(), "2x4");
}

TEST(TfComplex, WhatMovesElementsTakesThemAsTheyAre) {
  TestGraph graph;
  graph.input("x", {2, 3}, kComplex64).ints("order", {2}, {1, 0});
  graph.node("y", "Transpose", {"x", "order"});
  EXPECT_EQ(graph.ops(), "Transpose");
}

TEST(TfComplex, CastsAndPartsChangeTheType) {
  TestGraph graph;
  graph.input("x", {2}).node("c", "Cast", {"x"}, {type_of("DstT", kComplex64)});
  graph.node("y", "Imag", {"c"});
  EXPECT_EQ(graph.ops(), "ComplexCast ComplexFunction");
  const auto made = graph.import();
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->values[static_cast<size_t>(made->outputs[0])].dtype, DType::f32);
}

}  // namespace
}  // namespace anynpu::tensorflow
