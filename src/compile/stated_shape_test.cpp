// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/graph_for_test.h"
#include "compile/passes.h"

namespace anynpu::compile {
namespace {

TEST(StatedShape, IsFoundThroughElementwiseNodes) {
  GraphForTest g;
  const auto x = g.input("x", {2, 3});
  const auto scalar = g.input("scalar", {});
  const auto sum = g.node("ReduceSum", {x}, "sum");
  const auto scaled = g.node("Mul", {sum, scalar}, "scaled");
  const auto root = g.node("Sqrt", {scaled}, "root");
  g.graph.outputs = {root};
  EXPECT_FALSE(find_stated_shape(g.graph, sum));
  g.graph.values[static_cast<size_t>(root)].shape = {2, 1};
  g.graph.values[static_cast<size_t>(root)].has_shape = true;
  EXPECT_TRUE(find_stated_shape(g.graph, sum));
  EXPECT_EQ(g.graph.values[static_cast<size_t>(sum)].shape, (Shape{2, 1}));
  EXPECT_EQ(g.graph.values[static_cast<size_t>(scaled)].shape, (Shape{2, 1}));
}

}  // namespace
}  // namespace anynpu::compile
