// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/graph_for_test.h"

namespace anynpu::tensorflow {
namespace {

TEST(TfBasic, InputsKeepTheirNamesAndTypes) {
  TestGraph graph;
  graph.input("picture", {1, 2}, 4).node("y", "Identity", {"picture"});
  const auto made = graph.import();
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  const graph::Value& input = made->values[static_cast<size_t>(made->inputs[0])];
  EXPECT_EQ(input.name, "picture");
  EXPECT_EQ(input.dtype, DType::u8);
}

TEST(TfBasic, ShapesOfTheCommandLineMustFitTheModel) {
  EXPECT_EQ(one_node("Relu", {-1, 3}).shape({{{"x", {7, 3}}}, {}}), "7x3");
  const std::string said = one_node("Relu", {-1, 3}).shape({{{"x", {7, 4}}}, {}});
  EXPECT_NE(said.find("--input_shape gives 7x4"), std::string::npos) << said;
}

TEST(TfBasic, TheShapeOfAnInputMayStandInOutputShapes) {
  TestGraph graph;
  TestAttr shapes{"_output_shapes", {}};
  WireWriter list;
  list.message(7, shape_message({2, 3}));
  shapes.value.message(1, list);
  graph.node("x", "Placeholder", {}, {type_of("dtype", 1), shapes}).node("y", "Relu", {"x"});
  EXPECT_EQ(graph.shape(), "2x3");
}

TEST(TfBasic, ADefaultCountsUnlessTheInputIsGiven) {
  TestGraph graph;
  graph.floats("one", {2}, {1})
      .node("flag", "PlaceholderWithDefault", {"one"},
            {type_of("dtype", 1), shape_of("shape", {2})});
  graph.input("x", {2}).node("y", "AddV2", {"x", "flag"});
  EXPECT_EQ(graph.import().value().inputs.size(), 1u);
  EXPECT_EQ(graph.import({{{"flag", {2}}}, {}}).value().inputs.size(), 2u);
}

TEST(TfBasic, WhatComesOutOfADatasetIsAnInput) {
  TestGraph graph;
  graph.node("source", "IteratorV2");
  TestAttr shapes{"output_shapes", {}};
  WireWriter list;
  list.message(7, shape_message({-1, 3}));
  list.message(7, shape_message({-1}));
  shapes.value.message(1, list);
  graph.node("next", "IteratorGetNext", {"source"}, {types_of("output_types", {1, 3}), shapes});
  graph.node("y", "Identity", {"next:1"});
  const auto made = graph.import({{{"next:1", {4}}}, {}});
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  ASSERT_EQ(made->inputs.size(), 2u);
  const graph::Value& second = made->values[static_cast<size_t>(made->inputs[1])];
  EXPECT_EQ(second.name, "next:1");
  EXPECT_EQ(second.dtype, DType::i32);
  EXPECT_EQ(second.shape, (Shape{4}));
}

TEST(TfBasic, AQueueGivesTheShapesOfItsElements) {
  TestGraph graph;
  TestAttr shapes{"shapes", {}};
  WireWriter list;
  list.message(7, shape_message({2, 3}));
  shapes.value.message(1, list);
  graph.node("queue", "FIFOQueueV2", {}, {shapes}).ints("n", {}, {8});
  graph.node("x", "QueueDequeueManyV2", {"queue", "n"}, {types_of("component_types", {1})});
  graph.node("y", "Relu", {"x"});
  EXPECT_EQ(graph.shape(), "?x2x3");
}

}  // namespace
}  // namespace anynpu::tensorflow
