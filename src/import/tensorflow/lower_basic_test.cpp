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

TEST(TfBasic, ADefaultCountsUnlessTheInputIsGiven) {
  TestGraph graph;
  graph.floats("one", {2}, {1})
      .node("flag", "PlaceholderWithDefault", {"one"},
            {type_of("dtype", 1), shape_of("shape", {2})});
  graph.input("x", {2}).node("y", "AddV2", {"x", "flag"});
  EXPECT_EQ(graph.import().value().inputs.size(), 1u);
  EXPECT_EQ(graph.import({{{"flag", {2}}}, {}}).value().inputs.size(), 2u);
}

}  // namespace
}  // namespace anynpu::tensorflow
