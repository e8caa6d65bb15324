// SPDX-License-Identifier: Apache-2.0
#include "compile/pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/graph_for_test.h"

namespace anynpu::compile {
namespace {

using graph::ValueId;
using testing::ElementsAre;

class PatternTest : public PassTest {};

TEST_F(PatternTest, LooksBackwardsAtOperatorsOfTheDefaultDomain) {
  const graph::ValueId a = node("Relu", {g.input("x", {2})});
  const graph::ValueId b = node("Neg", {a});
  g.graph.outputs = {b};
  const Pattern pattern(g.graph);
  ASSERT_TRUE(pattern.made_by(a, "Relu"));
  EXPECT_FALSE(pattern.made_by(a, "Neg"));
  EXPECT_TRUE(pattern.absorbed(a, "Relu"));
  EXPECT_FALSE(pattern.absorbed(b, "Neg")) << "an output of the graph";
  EXPECT_TRUE(pattern.next(a, "Neg"));
}

TEST_F(PatternTest, WhatTwoNodesReadIsNotAbsorbed) {
  const graph::ValueId a = node("Relu", {g.input("x", {2})});
  g.graph.outputs = {node("Add", {a, a})};
  const Pattern pattern(g.graph);
  EXPECT_TRUE(pattern.made_by(a, "Relu"));
  EXPECT_FALSE(pattern.absorbed(a, "Relu"));
}

TEST_F(PatternTest, FindsAScalarBesideAnOperand) {
  const graph::ValueId x = g.input("x", {2});
  const graph::ValueId half = node("Div", {x, scalar(2)});
  const graph::ValueId inverse = node("Div", {scalar(2), x});
  g.graph.outputs = {half, inverse};
  const Pattern pattern(g.graph);
  const auto scaled = pattern.scaled(g.graph.nodes[0]);
  ASSERT_TRUE(scaled);
  EXPECT_EQ(scaled->other, x);
  EXPECT_EQ(scaled->scalar, 0.5f);
  EXPECT_FALSE(pattern.scaled(g.graph.nodes[1])) << "2 / x is no product of x";
}

TEST_F(PatternTest, AReplacedNodeTakesWhatOnlyItNeededAlong) {
  const graph::ValueId x = g.input("x", {2});
  const graph::ValueId y = node("Neg", {node("Relu", {x})});
  g.graph.outputs = {y};
  Pattern pattern(g.graph);
  const Status status = pattern.sweep([&](const graph::Node& old) {
    if (old.op != "Neg") return false;
    graph::Node fresh = old;
    fresh.op = "Abs";
    fresh.inputs = {x};
    pattern.replace_producer(y, fresh);
    return true;
  });
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_THAT(GraphForTest::ops(g.graph), ElementsAre("Abs"));
}

TEST(Pattern, NumbersAreComparedAsTheirTypeHoldsThem) {
  EXPECT_TRUE(about(0.70710678f, 0.7071067811865476, DType::f32));
  EXPECT_FALSE(about(0.707f, 0.7071067811865476, DType::f32));
  EXPECT_TRUE(about(0.70703125f, 0.7071067811865476, DType::bf16));
}

}  // namespace
}  // namespace anynpu::compile
