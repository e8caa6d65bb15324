// SPDX-License-Identifier: Apache-2.0
#include "compile/fold_budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/graph_for_test.h"
#include "compile/passes.h"

namespace anynpu::compile {
namespace {

using graph::ValueId;
using testing::ElementsAre;

TEST(FoldBudget, AFewBytesNeverBecomeGigabytes) {
  GraphForTest g;
  const ValueId a = g.weight("a", {100000, 1}), b = g.weight("b", {1, 100000});
  g.graph.outputs = {g.node("Add", {a, b}, "y")};
  ASSERT_TRUE(infer_and_fold(g.graph).ok());
  EXPECT_EQ(g.graph.nodes.size(), 1u);
}

// The nodes that are left of 50 in a row on a constant of side x side.
size_t left_of_a_chain(const std::string& op, int64_t side) {
  GraphForTest g;
  ValueId x = g.node("ConstantOfShape",
                     {add_constant(g.graph, "size", {2}, std::vector<int64_t>{side, side})}, "x");
  for (size_t i = 0; i < 50; ++i) {
    std::vector<ValueId> inputs = {x};
    if (op == "MatMul" || op == "Concat") inputs.push_back(x);
    x = g.node(op, inputs, op + std::to_string(i));
    if (op == "Concat") g.graph.nodes.back().attrs["axis"] = int64_t{0};
  }
  g.graph.outputs = {x};
  EXPECT_TRUE(infer_and_fold(g.graph).ok());
  return g.graph.nodes.size();
}

TEST(FoldBudget, AFewBytesNeverBecomeHoursOfWorkOrGigabytesStepByStep) {
  EXPECT_GT(left_of_a_chain("MatMul", 2000), 40u) << "seconds each";
  EXPECT_GT(left_of_a_chain("Neg", 2000), 30u) << "16 MB each";
  EXPECT_GT(left_of_a_chain("Concat", 4), 20u) << "each twice the last";
  EXPECT_EQ(left_of_a_chain("Neg", 4), 0u);
}

}  // namespace
}  // namespace anynpu::compile
