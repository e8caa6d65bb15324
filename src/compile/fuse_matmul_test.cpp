// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "compile/graph_for_test.h"
#include "compile/passes.h"

namespace anynpu::compile {
namespace {

using graph::ValueId;
using testing::ElementsAre;

using FuseMatMulTest = PassTest;

TEST_F(FuseMatMulTest, MatMulTakesTransposeRowTensorAndActivation) {
  const ValueId a = g.input("a", {2, 4, 5}), b = g.input("b", {2, 6, 5}),
                z = g.input("z", {2, 4, 6});
  const ValueId product = node("MatMul", {a, transpose(b, {0, 2, 1})});
  const ValueId scaled = node("Mul", {product, scalar(0.25f)});
  const ValueId sum = node("Add", {z, node("Add", {g.weight("row", {6}), scaled})});
  EXPECT_THAT(after(fuse_matmul, node("Relu", {sum})), ElementsAre("FusedMatMul"));
}

TEST_F(FuseMatMulTest, MatMulLeavesAFactorThatIsNotFinite) {
  for (const float number : {std::numeric_limits<float>::infinity(), 1e-45f}) {
    g = {};
    const ValueId product = node("MatMul", {g.input("a", {4, 5}), g.input("b", {5, 6})});
    g.graph.outputs = {node(number > 1 ? "Mul" : "Div", {product, scalar(number)})};
    ASSERT_TRUE(infer_and_fold(g.graph).ok());
    ASSERT_TRUE(fuse_matmul(g.graph).ok());
    EXPECT_EQ(g.graph.nodes.size(), 2u) << number;
  }
}

TEST_F(FuseMatMulTest, MatMulLeavesAnAddThatWouldChangeItsShape) {
  const ValueId a = g.input("a", {4, 5}), b = g.input("b", {5, 6}), z = g.input("z", {2, 4, 6});
  EXPECT_THAT(after(fuse_matmul, node("Add", {node("MatMul", {a, b}), z})),
              ElementsAre("MatMul", "Add"));
}

TEST_F(FuseMatMulTest, MatMulAddedToItselfKeepsTheAdd) {
  const ValueId a = g.input("a", {4, 5}), b = g.input("b", {5, 6});
  const ValueId product = node("MatMul", {a, b});
  EXPECT_THAT(after(fuse_matmul, node("Add", {product, product})), ElementsAre("MatMul", "Add"));
}

TEST_F(FuseMatMulTest, GemmTakesTanh) {
  const ValueId x = g.input("x", {3, 4});
  const ValueId y = node("Tanh", {node("Gemm", {x, g.weight("w", {4, 5}), g.weight("b", {5})})});
  EXPECT_THAT(after(fuse_matmul, y), ElementsAre("FusedGemm"));
}

}  // namespace
}  // namespace anynpu::compile
