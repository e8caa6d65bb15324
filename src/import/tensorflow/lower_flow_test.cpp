// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/graph_for_test.h"

namespace anynpu::tensorflow {
namespace {

// while (i < 3) { i += 1; x = relu(x) }, as functions.
TestGraph loop() {
  TestGraph graph;
  const std::vector<std::pair<std::string, int64_t>> arguments = {{"i", 3}, {"x", 1}};
  const auto number = [](const std::string& name, int32_t value) {
    return node_message(
        name, "Const", {},
        {type_of("dtype", 3), tensor_of(3, {}, std::as_bytes(std::span(&value, 1)))});
  };
  graph.function("cond", arguments,
                 {number("n", 3), node_message("go", "Less", {"i", "n:output:0"}, {})}, {"go:z:0"});
  graph.function("body", arguments,
                 {number("one", 1), node_message("next", "AddV2", {"i", "one:output:0"}, {}),
                  node_message("r", "Relu", {"x"}, {})},
                 {"next:z:0", "r:activations:0"});
  graph.ints("zero", {}, {0}).input("x", {2});
  graph.node("y", "StatelessWhile", {"zero", "x"},
             {function_of("cond", "cond"), function_of("body", "body")});
  return graph;
}

TEST(TfFlow, ALoopOfFunctionsIsALoop) {
  EXPECT_EQ(loop().ops({{}, {"y:1"}}), "Loop");
  EXPECT_EQ(loop().shape({{}, {"y:1"}}), "2");
}

TEST(TfFlow, ACallIsPutInPlace) {
  TestGraph graph;
  graph.function("f", {{"a", 1}}, {node_message("r", "Relu", {"a"}, {})}, {"r:activations:0"});
  graph.input("x", {2}).node("y", "PartitionedCall", {"x"}, {function_of("f", "f")});
  EXPECT_EQ(graph.ops(), "Relu");
}

TEST(TfFlow, AFunctionThatCallsItselfIsRefused) {
  TestGraph graph;
  graph.function("f", {{"a", 1}},
                 {node_message("r", "PartitionedCall", {"a"}, {function_of("f", "f")})},
                 {"r:output:0"});
  graph.input("x", {2}).node("y", "PartitionedCall", {"x"}, {function_of("f", "f")});
  const std::string said = graph.shape();
  EXPECT_NE(said.find("calls itself"), std::string::npos) << said;
}

TEST(TfFlow, ABranchOfFunctionsIsAnIf) {
  TestGraph graph;
  graph.function("yes", {{"a", 1}}, {node_message("r", "Relu", {"a"}, {})}, {"r:activations:0"});
  graph.function("no", {{"a", 1}}, {node_message("r", "Neg", {"a"}, {})}, {"r:y:0"});
  graph.input("x", {2}).input("c", {}, 10);
  graph.node("y", "If", {"c", "x"},
             {function_of("then_branch", "yes"), function_of("else_branch", "no")});
  EXPECT_EQ(graph.ops(), "If");
}

}  // namespace
}  // namespace anynpu::tensorflow
