// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/graph_for_test.h"
#include "compile/passes.h"

namespace anynpu::compile {
namespace {

using graph::ValueId;
using testing::ElementsAre;

using RemoveTransposesTest = PassTest;

TEST_F(RemoveTransposesTest, TransposesCancelAcrossElementwiseOperators) {
  const ValueId x = g.input("x", {2, 3, 4, 5});
  const ValueId there = transpose(x, {0, 2, 3, 1});
  const ValueId sum = node("Add", {node("Relu", {there}), g.weight("row", {3})});
  const ValueId product = node("Mul", {g.weight("plane", {4, 1, 3}), sum});
  const ValueId y = transpose(node("Sigmoid", {product}), {0, 3, 1, 2});
  EXPECT_THAT(after(remove_transposes, y), ElementsAre("Relu", "Add", "Mul", "Sigmoid"));
  EXPECT_EQ(g.graph.values[static_cast<size_t>(g.graph.outputs[0])].shape, (Shape{2, 3, 4, 5}));
}

TEST_F(RemoveTransposesTest, TransposesOfAllInputsBecomeOneBehindTheOperator) {
  const ValueId x = g.input("x", {2, 3, 4}), z = g.input("z", {2, 5, 4});
  const ValueId joined = node("Concat", {transpose(x, {0, 2, 1}), transpose(z, {0, 2, 1})});
  last().attrs["axis"] = int64_t{-1};
  const ValueId y = node("Tanh", {joined});
  EXPECT_THAT(after(remove_transposes, y), ElementsAre("Concat", "Tanh", "Transpose"));
}

TEST_F(RemoveTransposesTest, TransposesInARowBecomeOneAndThoseOfSingleExtentsNone) {
  const ValueId x = g.input("x", {2, 3, 4});
  EXPECT_THAT(after(remove_transposes, transpose(transpose(x, {2, 0, 1}), {2, 0, 1})),
              ElementsAre("Transpose"));
  g = {};
  const ValueId one = g.input("one", {1, 7, 1, 5});
  EXPECT_THAT(after(remove_transposes, transpose(one, {0, 2, 1, 3})), ElementsAre("Reshape"));
}

TEST_F(RemoveTransposesTest, ATransposeOfNoElementsStays) {
  g.graph.outputs = {transpose(g.input("x", {0, 1, 3}), {1, 0, 2})};
  ASSERT_TRUE(infer_and_fold(g.graph).ok());
  ASSERT_TRUE(remove_transposes(g.graph).ok());
  EXPECT_THAT(GraphForTest::ops(g.graph), ElementsAre("Transpose"));
}

TEST_F(RemoveTransposesTest, TransposesThatOthersReadOrThatWouldGrowStay) {
  const ValueId x = g.input("x", {3, 4});
  const ValueId turned = transpose(x, {1, 0});
  const ValueId y = node("Add", {node("Relu", {turned}), turned});
  EXPECT_THAT(after(remove_transposes, y), ElementsAre("Transpose", "Relu", "Add"));
  g = {};
  const ValueId row = transpose(g.input("row", {4, 1}), {1, 0});
  EXPECT_THAT(after(remove_transposes, node("Relu", {node("Add", {g.weight("w", {6, 4}), row})})),
              ElementsAre("Reshape", "Add", "Relu"));
  g = {};
  const ValueId a = transpose(g.input("a", {4, 3}), {1, 0}), b = g.input("b", {3, 4});
  EXPECT_THAT(after(remove_transposes, node("Sub", {b, a})), ElementsAre("Transpose", "Sub"));
}

TEST_F(RemoveTransposesTest, ASwapInFrontOfAMatMulStaysForIt) {
  const ValueId x = g.input("x", {2, 5, 3, 4}), z = g.input("z", {2, 3, 5, 4});
  const ValueId turned = transpose(transpose(x, {0, 2, 1, 3}), {0, 1, 3, 2});
  EXPECT_THAT(after(remove_transposes, node("MatMul", {z, turned})),
              ElementsAre("Transpose", "Transpose", "MatMul"));
}

}  // namespace
}  // namespace anynpu::compile
