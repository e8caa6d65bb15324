// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/graph_for_test.h"
#include "compile/passes.h"

namespace anynpu::compile {
namespace {

using graph::ValueId;
using testing::ElementsAre;

TEST(RemoveDead, WhatNoOutputNeedsGoesButInputsStay) {
  GraphForTest g;
  const ValueId x = g.input("x", {3});
  g.input("unused", {3});
  g.node("Relu", {g.weight("w", {3})}, "dead");
  g.graph.outputs = {g.node("Relu", {x}, "y")};
  ASSERT_TRUE(remove_dead(g.graph).ok());
  EXPECT_EQ(g.graph.nodes.size(), 1u);
  EXPECT_EQ(g.graph.values.size(), 3u);
  EXPECT_EQ(g.graph.inputs.size(), 2u);
}

}  // namespace
}  // namespace anynpu::compile
