// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/graph_def.h"

#include "import/tensorflow/graph_for_test.h"

namespace anynpu::tensorflow {
namespace {

TEST(TfGraphDef, LinksNameNodeAndOutput) {
  EXPECT_EQ(parse_link("a/b"), (Link{"a/b", 0, ""}));
  EXPECT_EQ(parse_link("a/b:2"), (Link{"a/b", 2, ""}));
  EXPECT_EQ(parse_link("top:values:1"), (Link{"top", 1, "values"}));
}

TEST(TfGraphDef, NodesKeepDataInputsAndAttributes) {
  TestGraph made;
  made.node("y", "Relu", {"x:1", "^later"}, {int_of("n", 3)});
  const auto graph = read_graph_def(std::as_bytes(std::span(made.bytes())));
  ASSERT_TRUE(graph.ok()) << graph.status().to_string();
  ASSERT_EQ(graph.value().nodes.size(), 1u);
  EXPECT_EQ(graph.value().nodes[0].inputs, (std::vector<Link>{{"x", 1, ""}}));
  EXPECT_TRUE(graph.value().nodes[0].attrs.contains("n"));
}

TEST(TfGraphDef, FunctionsKeepTheirResults) {
  TestGraph made;
  made.node("y", "NoOp")
      .function("f", {{"a", 1}}, {node_message("r", "Relu", {"a"}, {})}, {"r:activations:0"});
  const auto graph = read_graph_def(std::as_bytes(std::span(made.bytes())));
  ASSERT_TRUE(graph.ok()) << graph.status().to_string();
  const FunctionDef& function = *graph.value().functions.at("f");
  EXPECT_EQ(function.arguments[0].name, "a");
  EXPECT_EQ(function.results[0], (Link{"r", 0, "activations"}));
}

TEST(TfGraphDef, BytesThatAreNoneAreRefused) {
  const std::string noise = "\xff\xff\xff\xff";
  EXPECT_FALSE(read_graph_def(std::as_bytes(std::span(noise))).ok());
  EXPECT_FALSE(read_graph_def({}).ok());
}

}  // namespace
}  // namespace anynpu::tensorflow
