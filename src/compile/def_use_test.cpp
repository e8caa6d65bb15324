// SPDX-License-Identifier: Apache-2.0
#include "compile/def_use.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/graph_for_test.h"

namespace anynpu::compile {
namespace {

using graph::ValueId;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(DefUse, KnowsProducerUsersAndOutputs) {
  GraphForTest g;
  const ValueId x = g.input("x", {2});
  const ValueId a = g.node("Relu", {x}, "a");
  const ValueId y = g.node("Add", {a, a}, "y");
  g.graph.outputs = {y};
  const DefUse def_use(g.graph);
  EXPECT_THAT(def_use.producer, ElementsAre(-1, 0, 1));
  EXPECT_THAT(def_use.users[static_cast<size_t>(a)], ElementsAre(1, 1)) << "once per use";
  EXPECT_THAT(def_use.users[static_cast<size_t>(y)], IsEmpty());
  EXPECT_THAT(def_use.is_output, ElementsAre(false, false, true));
}

TEST(DefUse, OnlyUserIsNoneForSeveralUsersAndForOutputs) {
  GraphForTest g;
  const ValueId x = g.input("x", {2});
  const ValueId once = g.node("Relu", {x}, "once");
  const ValueId twice = g.node("Neg", {once}, "twice");
  const ValueId sum = g.node("Add", {twice, twice}, "sum");
  const ValueId seen = g.node("Abs", {sum}, "seen");
  g.graph.outputs = {g.node("Neg", {seen}, "y"), seen};
  const DefUse def_use(g.graph);
  EXPECT_EQ(def_use.only_user(once), 1);
  EXPECT_EQ(def_use.only_user(twice), -1);
  EXPECT_EQ(def_use.only_user(seen), -1) << "an output of the graph";
  EXPECT_EQ(def_use.only_user(graph::kNoValue), -1);
}

}  // namespace
}  // namespace anynpu::compile
