// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/operator_check.h"

#include "import/tensorflow/graph_for_test.h"

namespace anynpu::tensorflow {
namespace {

TEST(TfOperatorCheck, NamesAllThatAreMissingAtOnce) {
  TestGraph graph;
  graph.input("x", {2}).node("a", "Sofmax", {"x"}).node("y", "NobodyKnowsThisOne", {"a"});
  const std::string said = graph.shape();
  EXPECT_NE(said.find("2 operators"), std::string::npos) << said;
  EXPECT_NE(said.find("Sofmax 'a', nearest known name: Softmax"), std::string::npos) << said;
  EXPECT_NE(said.find("NobodyKnowsThisOne 'y'"), std::string::npos) << said;
}

TEST(TfOperatorCheck, LooksIntoFunctions) {
  TestGraph graph;
  graph.input("x", {2}).node("y", "PartitionedCall", {"x"}, {function_of("f", "inner")});
  graph.function("inner", {{"a", 1}}, {node_message("r", "NobodyKnows", {"a"}, {})}, {"r:o:0"});
  const std::string said = graph.shape();
  EXPECT_NE(said.find("NobodyKnows 'r' in function 'inner'"), std::string::npos) << said;
}

TEST(TfOperatorCheck, VariablesGetTheCommandThatFreezes) {
  TestGraph graph;
  graph.node("v", "VariableV2").node("y", "Relu", {"v"});
  const std::string said = graph.shape();
  EXPECT_NE(said.find("not frozen"), std::string::npos) << said;
  EXPECT_NE(said.find("convert_variables_to_constants_v2"), std::string::npos) << said;
}

}  // namespace
}  // namespace anynpu::tensorflow
