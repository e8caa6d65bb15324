// SPDX-License-Identifier: Apache-2.0
#include "compile/gears.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/graph_for_test.h"

namespace anynpu::compile {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string message(const char* batch, const char* image, const char* dims) {
  return parse_gears(batch, image, dims).status().message();
}

TEST(Gears, EachOptionIsRead) {
  EXPECT_EQ(parse_gears("", "", "")->kind, om::GearKind::none);
  const auto batch = parse_gears("1, 2,4", "", "");
  ASSERT_TRUE(batch.ok()) << batch.status().to_string();
  EXPECT_EQ(batch->kind, om::GearKind::batch);
  EXPECT_EQ(batch->values.size(), 3u);
  EXPECT_THAT(parse_gears("", "8,8;16,32", "")->values[1], ElementsAre(16, 32));
  EXPECT_THAT(parse_gears("", "", "1,2,3;4,5,6;")->values[0], ElementsAre(1, 2, 3));
}

TEST(Gears, MistakesAreNamed) {
  EXPECT_THAT(message("1,2", "8,8;16,16", ""), HasSubstr("--dynamic_"));
  EXPECT_THAT(message("1", "", ""), HasSubstr("1 gears"));
  EXPECT_THAT(message("1,0", "", ""), HasSubstr("'0'"));
  EXPECT_THAT(message("1,a", "", ""), HasSubstr("'a'"));
  EXPECT_THAT(message("1,1", "", ""), HasSubstr("twice"));
  EXPECT_THAT(message("", "8,8;16", ""), HasSubstr("has 1 numbers, expected 2"));
  std::string many = "1";
  for (int i = 2; i <= 101; ++i) many += "," + std::to_string(i);
  EXPECT_THAT(message(many.c_str(), "", ""), HasSubstr("101 gears"));
}

graph::Graph open_batch() {
  GraphForTest g;
  g.graph.outputs = {g.node("Relu", {g.input("x", {-1, 3})}, "y")};
  return g.graph;
}

TEST(Gears, FillTheOpenExtents) {
  const graph::Graph graph = open_batch();
  const auto fitted = fit_gears(*parse_gears("2,8,4", "", ""), {}, graph, Format::nchw);
  ASSERT_TRUE(fitted.ok()) << fitted.status().to_string();
  const auto shapes = gear_shapes(graph, om::GearKind::batch, (*fitted)[1]);
  ASSERT_TRUE(shapes.ok());
  EXPECT_EQ((*shapes)[0], (Shape{8, 3}));
  EXPECT_EQ(*largest_gear(graph, om::GearKind::batch, *fitted), 1u);
}

TEST(Gears, OfTheBatchNeedAnOpenFirstExtentAndNoOther) {
  GraphForTest g;
  g.graph.outputs = {g.node("Relu", {g.input("x", {-1, -1})}, "y")};
  const auto fitted = fit_gears(*parse_gears("1,2", "", ""), {}, g.graph, Format::nchw);
  EXPECT_THAT(fitted.status().message(), HasSubstr("'x'"));
}

TEST(Gears, OneThatLeavesAnExtentOpenIsRefused) {
  EXPECT_FALSE(gear_shapes(open_batch(), om::GearKind::dims, {}).ok());
}

}  // namespace
}  // namespace anynpu::compile
