// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/compile.h"
#include "compile/describe.h"
#include "compile/graph_for_test.h"

namespace anynpu::compile {
namespace {

using testing::HasSubstr;

graph::Graph open_relu() {
  GraphForTest g;
  g.graph.outputs = {g.node("Relu", {g.input("x", {-1, 3})}, "y")};
  return g.graph;
}

TEST(Dynamic, GearsGiveTheSizesOfTheLargest) {
  Options options;
  options.input_shapes = parse_input_shapes("x:-1,3").value();
  options.gears = parse_gears("2,8,4", "", "").value();
  const auto model = compile(open_relu(), options);
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  EXPECT_EQ(model->meta.gear_kind, om::GearKind::batch);
  EXPECT_EQ(model->meta.gears.size(), 3u);
  EXPECT_EQ(model->meta.inputs[0].size, 8u * 3 * 4);
  EXPECT_EQ(model->meta.inputs.back().role, om::Role::gear);
}

TEST(Dynamic, RangesKeepTheExtentOpen) {
  Options options;
  options.input_shapes = parse_input_shapes("x:1~10,3").value();
  const auto model = compile(open_relu(), options);
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  ASSERT_EQ(model->meta.inputs[0].ranges.size(), 2u);
  EXPECT_EQ(model->meta.inputs[0].ranges[0], (om::Range{1, 10}));
  EXPECT_EQ(model->meta.inputs[0].shape, (Shape{-1, 3}));
}

TEST(Dynamic, TrialShapesLieWithinTheRanges) {
  Options options;
  options.input_shapes = parse_input_shapes("x:4~10,3").value();
  graph::Graph graph = open_relu();
  const auto shapes = trial_shapes(graph, options);
  ASSERT_TRUE(shapes.ok()) << shapes.status().to_string();
  EXPECT_GE((*shapes)[0][0], 4);
  EXPECT_LE((*shapes)[0][0], 10);
}

TEST(Dynamic, AGearThatNoShapeOfTheModelFitsIsRefused) {
  GraphForTest g;
  const auto x = g.input("x", {-1, 3});
  g.graph.outputs = {g.node("Add", {x, g.weight("w", {4, 3})}, "y")};
  Options options;
  options.input_shapes = parse_input_shapes("x:-1,3").value();
  options.gears = parse_gears("3,4", "", "").value();
  EXPECT_FALSE(compile(g.graph, options).ok());
}

}  // namespace
}  // namespace anynpu::compile
