// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/graph_for_test.h"

namespace anynpu::tensorflow {
namespace {

TestGraph two_outputs() {
  TestGraph graph;
  graph.input("late", {2}).input("x", {2});
  graph.node("a", "Relu", {"x"}).node("b", "Neg", {"a"}).node("c", "Exp", {"late"});
  return graph;
}

TEST(TfModel, ReturnsItsLeavesUnlessOutputsAreNamed) {
  const auto all = two_outputs().import();
  ASSERT_TRUE(all.ok()) << all.status().to_string();
  EXPECT_EQ(all->outputs.size(), 2u);
  EXPECT_EQ(all->values[static_cast<size_t>(all->inputs[0])].name, "late");
  const auto one = two_outputs().import({{}, {"a:0"}});
  ASSERT_TRUE(one.ok());
  EXPECT_EQ(one->outputs.size(), 1u);
  EXPECT_EQ(one->inputs.size(), 1u) << "inputs that no output needs are gone";
}

TEST(TfModel, AnOutputThatIsNotThereGetsTheNearestName) {
  const std::string said = two_outputs().shape({{}, {"aa:0"}});
  EXPECT_NE(said.find("no node 'aa'"), std::string::npos) << said;
  EXPECT_NE(said.find("did you mean 'a'"), std::string::npos) << said;
}

TEST(TfModel, UnknownShapesComeFromTheCommandLine) {
  TestGraph graph;
  graph.node("x", "Placeholder", {}, {type_of("dtype", 1), unknown_shape_of("shape")});
  graph.floats("w", {1, 1, 2, 3});
  graph.node("y", "Conv2D", {"x", "w"},
             {text_of("padding", "SAME"), ints_of("strides", {1, 1, 1, 1})});
  EXPECT_EQ(graph.shape({{{"x", {1, 4, 4, 2}}}, {}}), "1x4x4x3");
  const std::string said = graph.shape();
  EXPECT_NE(said.find("--input_shape=\"x:"), std::string::npos) << said;
}

}  // namespace
}  // namespace anynpu::tensorflow
