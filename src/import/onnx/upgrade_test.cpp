// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/upgrade.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/onnx/model_for_test.h"

namespace anynpu::onnx {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

graph::Node old_node(const std::string& op, int64_t opset) {
  graph::Node made;
  made.op = op;
  made.name = "n";
  made.opset = opset;
  return made;
}

TEST(Upgrade, OldFormsAreDescribedByALaterOpset) {
  EXPECT_EQ(upgraded_opset("Add", "", 6), 7);
  EXPECT_EQ(upgraded_opset("Add", "", 7), 7);
  EXPECT_EQ(upgraded_opset("Add", "other", 6), 6);
  EXPECT_EQ(upgraded_opset("Conv", "", 1), 1);
}

TEST(Upgrade, ABroadcastAxisBecomesTrailingOnes) {
  graph::Graph graph;
  graph::Node add = old_node("Add", 6);
  for (const Shape& shape : {Shape{2, 3, 4}, Shape{3}}) {
    graph::Value value;
    value.name = "v" + std::to_string(graph.values.size());
    value.shape = shape;
    value.has_shape = true;
    add.inputs.push_back(graph.add_value(value));
  }
  add.attrs["broadcast"] = int64_t{1};
  add.attrs["axis"] = int64_t{1};
  ASSERT_TRUE(upgrade(add, graph).ok());
  EXPECT_EQ(add.opset, 7);
  EXPECT_TRUE(add.attrs.empty());
  ASSERT_EQ(graph.nodes.size(), 1u);
  EXPECT_EQ(graph.nodes[0].op, "Unsqueeze");
  EXPECT_EQ(add.inputs[1], graph.nodes[0].outputs[0]);
  add.opset = 6;
  add.attrs = {{"broadcast", int64_t{1}}, {"axis", int64_t{3}}};
  add.inputs[1] = 1;
  EXPECT_THAT(upgrade(add, graph).message(), HasSubstr("axis 3"));
}

TEST(Upgrade, ACastNamesItsTypeInWords) {
  graph::Graph graph;
  graph::Node cast = old_node("Cast", 1);
  cast.attrs["to"] = std::string("INT64");
  ASSERT_TRUE(upgrade(cast, graph).ok());
  EXPECT_EQ(cast.int_attr("to", 0), 7);
  cast = old_node("Cast", 1);
  cast.attrs["to"] = std::string("INT63");
  EXPECT_THAT(upgrade(cast, graph).message(), HasSubstr("'INT63'"));
}

TEST(Upgrade, PaddingsAreCalledPads) {
  graph::Graph graph;
  graph::Node pad = old_node("Pad", 1);
  pad.attrs["paddings"] = std::vector<int64_t>{1, 1};
  ASSERT_TRUE(upgrade(pad, graph).ok());
  EXPECT_THAT(pad.ints_attr("pads"), ElementsAre(1, 1));
}

TEST(Upgrade, WhatIsNewEnoughStays) {
  graph::Graph graph;
  graph::Node add = old_node("Add", 13);
  add.attrs["axis"] = int64_t{1};
  ASSERT_TRUE(upgrade(add, graph).ok());
  EXPECT_EQ(add.opset, 13);
  EXPECT_EQ(add.attrs.size(), 1u);
}

}  // namespace
}  // namespace anynpu::onnx
