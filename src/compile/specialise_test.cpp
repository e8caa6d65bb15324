// SPDX-License-Identifier: Apache-2.0
#include "compile/specialise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/graph_for_test.h"

namespace anynpu::compile {
namespace {

using graph::ValueId;
using testing::ElementsAre;
using testing::HasSubstr;

graph::Graph dynamic_swish() {
  GraphForTest g;
  const ValueId x = g.input("x", {-1, 5});
  g.graph.outputs = {g.node("Mul", {x, g.node("Sigmoid", {x}, "s")}, "y")};
  return g.graph;
}

TEST(Specialise, ShapesAreFixedAndPassesRunOnACopy) {
  const graph::Graph dynamic = dynamic_swish();
  const std::vector<Shape> shapes = {{3, 5}};
  const auto fixed = specialise(dynamic, shapes, {});
  ASSERT_TRUE(fixed.ok()) << fixed.status().to_string();
  EXPECT_THAT(GraphForTest::ops(*fixed), ElementsAre("Swish"));
  EXPECT_EQ(fixed->values[static_cast<size_t>(fixed->outputs[0])].shape, (Shape{3, 5}));
  EXPECT_EQ(dynamic.nodes.size(), 2u);
}

TEST(Specialise, PassesThatTheModelSwitchedOffStayOff) {
  om::Meta meta;
  meta.passes_off = {"fuse_swish"};
  const std::vector<Shape> shapes = {{3, 5}};
  EXPECT_THAT(GraphForTest::ops(*specialise(dynamic_swish(), shapes, meta)),
              ElementsAre("Sigmoid", "Mul"));
}

TEST(Specialise, AWrongNumberOfShapesAndAbsurdOnesAreRefused) {
  EXPECT_THAT(specialise(dynamic_swish(), {}, {}).status().message(), HasSubstr("0 shapes"));
  const std::vector<Shape> negative = {{-3, 5}};
  EXPECT_THAT(specialise(dynamic_swish(), negative, {}).status().to_string(), HasSubstr("'x'"));
}

TEST(Specialise, AGraphWithOpenShapesIsInferredAndNotFused) {
  graph::Graph graph = dynamic_swish();
  ASSERT_TRUE(optimise_shaped(graph).ok());
  EXPECT_THAT(GraphForTest::ops(graph), ElementsAre("Sigmoid", "Mul"));
}

}  // namespace
}  // namespace anynpu::compile
