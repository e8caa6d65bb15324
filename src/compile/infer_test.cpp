// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/graph_for_test.h"
#include "compile/passes.h"

namespace anynpu::compile {
namespace {

using graph::ValueId;
using testing::ElementsAre;

TEST(InferAndFold, NodesOfConstantsBecomeConstants) {
  GraphForTest g;
  const ValueId x = g.input("x", {3});
  const ValueId w = g.node("Add", {g.weight("a", {3}), g.weight("b", {3})}, "w");
  g.graph.outputs = {g.node("Add", {x, w}, "y")};
  ASSERT_TRUE(infer_and_fold(g.graph).ok());
  EXPECT_EQ(g.graph.nodes.size(), 1u);
  EXPECT_TRUE(g.graph.values[static_cast<size_t>(w)].constant);
}

TEST(InferAndFold, AMismatchNamesTheNode) {
  GraphForTest g;
  const ValueId x = g.input("x", {1, 63, 5, 5});
  g.graph.outputs = {g.node("Conv", {x, g.weight("w", {8, 64, 3, 3})}, "y")};
  const Status status = infer_and_fold(g.graph);
  EXPECT_NE(status.message().find("Conv_y"), std::string::npos) << status.to_string();
}

}  // namespace
}  // namespace anynpu::compile
