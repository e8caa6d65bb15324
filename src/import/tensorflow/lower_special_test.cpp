// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/graph_for_test.h"

namespace anynpu::tensorflow {
namespace {

TEST(TfSpecial, ElementsAreReadAsAnotherType) {
  EXPECT_EQ(one_node("Bitcast", {2, 3}, {type_of("type", 3)}).shape(), "2x3");
  EXPECT_EQ(one_node("Bitcast", {2, 3}, {type_of("type", 4)}).shape(), "2x3x4");  // bytes
  EXPECT_EQ(one_node("Bitcast", {3, 2}, {type_of("type", 2)}).shape(), "3");      // double
  const std::string said = one_node("Bitcast", {2, 3}, {type_of("type", 2)}).ops();
  EXPECT_NE(said.find("expected a last axis of 2"), std::string::npos) << said;
}

TEST(TfSpecial, AParameterBecomesAlpha) {
  TestGraph graph;
  graph.floats("c", {3});
  const auto made =
      one_node("ApproximateEqual", {3}, {float_of("tolerance", 0.5f)}, {"c"}, graph).import();
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  EXPECT_EQ(made->nodes[0].op, "ApproximateEqual");
  EXPECT_EQ(made->nodes[0].float_attr("alpha", 0), 0.5f);
}

}  // namespace
}  // namespace anynpu::tensorflow
