// SPDX-License-Identifier: Apache-2.0
#include "graph/flow.h"

#include <gtest/gtest.h>

#include "graph/graph_for_test.h"

namespace anynpu::graph {
namespace {

TEST(Flow, SubgraphsMustFitTheirNode) {
  Graph graph = conditional();
  EXPECT_TRUE(graph.verify().ok()) << graph.verify().to_string();
  graph.nodes[0].attrs[kCapturesAttr] = int64_t{0};
  EXPECT_NE(graph.verify().message().find("If 'choose' has 2 inputs, expected 1"),
            std::string::npos);
  graph = conditional();
  graph.nodes[0].attrs.erase("else_branch");
  EXPECT_NE(graph.verify().message().find("lacks the graph 'else_branch'"), std::string::npos);
  graph = conditional();
  Graph two = branch(true);
  two.outputs.push_back(two.inputs[0]);
  graph.nodes[0].attrs["then_branch"] = std::make_shared<const Graph>(std::move(two));
  EXPECT_NE(graph.verify().message().find("has 1 inputs and 2 outputs, expected 1 and 1"),
            std::string::npos);
}

// The states of a Scan come out again: with more of them than outputs a run had no place for one.
TEST(Flow, AScanHasAnOutputForEachState) {
  Graph body;
  body.inputs = {add(body, "s"), add(body, "t"), add(body, "u"), add(body, "v")};
  body.outputs = {body.inputs[0], body.inputs[1]};
  Graph graph;
  graph.inputs = {add(graph, "a"), add(graph, "b"), add(graph, "c"), add(graph, "d")};
  graph.outputs = {add(graph, "y"), add(graph, "z")};
  Node node;
  node.op = "Scan";
  node.opset = 11;
  node.name = "scan";
  node.inputs = graph.inputs;
  node.outputs = graph.outputs;
  node.attrs["body"] = std::make_shared<const Graph>(std::move(body));
  graph.nodes.push_back(node);
  for (const int64_t scanned : {-1, 0, 1, 2, 4, 5}) {
    graph.nodes[0].attrs["num_scan_inputs"] = scanned;
    const Status status = graph.verify();
    EXPECT_EQ(status.ok(), scanned >= 2 && scanned <= 4) << scanned << status.to_string();
  }
}

TEST(Flow, CapturedConstantsMoveIntoTheSubgraphs) {
  Graph graph = conditional();
  graph.inputs = {0};
  graph.values[1].constant = constant_of(std::vector<float>(4, 1.0f));
  sink_constants(graph, graph.nodes[0]);
  EXPECT_EQ(graph.nodes[0].inputs, std::vector<ValueId>{0});
  ASSERT_TRUE(graph.verify().ok()) << graph.verify().to_string();
  for (const char* name : {"then_branch", "else_branch"}) {
    const auto inner = subgraph(graph.nodes[0], name);
    EXPECT_TRUE(inner->inputs.empty());
    EXPECT_TRUE(inner->values[0].constant != nullptr);
  }
}

TEST(Flow, OnlyOperatorsOfTheDefaultDomainHaveSubgraphs) {
  Node node = conditional().nodes[0];
  EXPECT_EQ(subgraph_attrs(node).size(), 2u);
  EXPECT_EQ(captures_of(node), 1u);
  EXPECT_EQ(formal_inputs(node), 1u);
  EXPECT_EQ(subgraph(node, "body"), nullptr);
  node.attrs["body"] = int64_t{3};
  EXPECT_EQ(subgraph(node, "body"), nullptr) << "no graph";
  node.domain = "custom";
  EXPECT_FALSE(has_subgraphs(node));
}

TEST(Flow, ALoopHasAnOutputForEachCarriedValue) {
  Graph graph = conditional();
  Node& node = graph.nodes[0];
  node.op = "Loop";
  node.inputs = {0, 0, 1, 1, 1};
  node.attrs[kCapturesAttr] = int64_t{0};
  node.attrs["body"] = node.attrs["then_branch"];
  EXPECT_NE(check_flow(node).message().find("expected 2 inputs or more and an output for each"),
            std::string::npos)
      << check_flow(node).message();
}

}  // namespace
}  // namespace anynpu::graph
