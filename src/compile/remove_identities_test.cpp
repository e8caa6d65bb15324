// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/graph_for_test.h"
#include "compile/passes.h"

namespace anynpu::compile {
namespace {

using graph::ValueId;
using testing::ElementsAre;

TEST(RemoveIdentities, IdentityAndDropoutGoAndOutputNamesStay) {
  GraphForTest g;
  const ValueId x = g.input("x", {3});
  const ValueId a = g.node("Identity", {x}, "a");
  const ValueId b = g.node("Relu", {a}, "b");
  const ValueId c = g.node("Dropout", {b}, "c");
  const ValueId d = g.node("Relu", {c}, "d");
  const ValueId y = g.node("Identity", {d}, "y");
  g.graph.outputs = {y};
  ASSERT_TRUE(remove_identities(g.graph).ok());
  ASSERT_TRUE(remove_dead(g.graph).ok());
  EXPECT_THAT(GraphForTest::ops(g.graph), ElementsAre("Relu", "Relu"));
  EXPECT_EQ(g.graph.values[static_cast<size_t>(g.graph.outputs[0])].name, "y");
}

TEST(RemoveIdentities, AnIdentityFromInputToOutputStays) {
  GraphForTest g;
  const ValueId x = g.input("x", {3});
  g.graph.outputs = {g.node("Identity", {x}, "y")};
  ASSERT_TRUE(remove_identities(g.graph).ok());
  EXPECT_THAT(GraphForTest::ops(g.graph), ElementsAre("Identity"));
}

}  // namespace
}  // namespace anynpu::compile
