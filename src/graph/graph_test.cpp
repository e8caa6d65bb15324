// SPDX-License-Identifier: Apache-2.0
#include "graph/graph.h"

#include <gtest/gtest.h>

#include "graph/flow.h"
#include "graph/tensor_value.h"
#include "graph/unique_names.h"

namespace anynpu::graph {
namespace {

ValueId add(Graph& graph, const std::string& name) {
  return graph.add_value(tensor_value(name, DType::f32, {1, 4}));
}

void add_node(Graph& graph, const std::string& name, ValueId in, ValueId out) {
  Node node;
  node.op = "Relu";
  node.name = name;
  node.inputs = {in};
  node.outputs = {out};
  graph.nodes.push_back(node);
}

Graph chain() {
  Graph graph;
  graph.name = "chain";
  const ValueId x = add(graph, "x"), y = add(graph, "y"), z = add(graph, "z");
  graph.inputs = {x};
  graph.outputs = {z};
  add_node(graph, "second", y, z);
  add_node(graph, "first", x, y);
  return graph;
}

TEST(Graph, VerifySortsNodesTopologically) {
  Graph graph = chain();
  ASSERT_TRUE(graph.verify().ok());
  EXPECT_EQ(graph.nodes[0].name, "first");
  EXPECT_EQ(graph.nodes[1].name, "second");
}

TEST(Graph, ACycleIsNamed) {
  Graph graph = chain();
  graph.nodes[1].inputs = {graph.find_value("z")};
  const Status status = graph.verify();
  EXPECT_EQ(status.code(), Code::corrupt_model);
  EXPECT_NE(status.message().find("cycle"), std::string::npos);
}

TEST(Graph, TwoProducersOfOneValueAreNamed) {
  Graph graph = chain();
  add_node(graph, "third", 0, 2);
  const Status status = graph.verify();
  EXPECT_NE(status.message().find("'second'"), std::string::npos) << status.message();
  EXPECT_NE(status.message().find("'third'"), std::string::npos);
}

TEST(Graph, AValueThatNothingProducesIsNamedWithItsUser) {
  Graph graph = chain();
  graph.nodes.pop_back();
  const Status status = graph.verify();
  EXPECT_NE(status.message().find("value 'y' is used by node 'second'"), std::string::npos);
}

TEST(Graph, IdsOutOfRangeAreRefused) {
  for (ValueId bad : {-2, 99}) {
    Graph graph = chain();
    graph.nodes[0].inputs = {bad};
    EXPECT_EQ(graph.verify().code(), Code::corrupt_model);
    graph = chain();
    graph.outputs = {bad};
    EXPECT_EQ(graph.verify().code(), Code::corrupt_model);
    graph = chain();
    graph.nodes[0].outputs = {bad};
    EXPECT_EQ(graph.verify().code(), Code::corrupt_model);
  }
}

TEST(Graph, AnOptionalInputLeftOutIsFine) {
  Graph graph = chain();
  graph.nodes[0].inputs.push_back(kNoValue);
  EXPECT_TRUE(graph.verify().ok());
}

TEST(Graph, AttributesOfAnotherTypeCountAsAbsent) {
  Node node;
  node.attrs["axis"] = int64_t{2};
  node.attrs["alpha"] = 0.5f;
  node.attrs["pads"] = std::vector<int64_t>{1, 1};
  node.attrs["mode"] = std::string("constant");
  EXPECT_EQ(node.int_attr("axis", 0), 2);
  EXPECT_EQ(node.int_attr("alpha", 7), 7);
  EXPECT_EQ(node.float_attr("alpha", 1.0f), 0.5f);
  EXPECT_EQ(node.ints_attr("pads"), (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(node.string_attr("mode", ""), "constant");
  EXPECT_EQ(node.string_attr("absent", "x"), "x");
}

TEST(Graph, PrintsOneLinePerNodeWithShapesAndTypes) {
  Graph graph = chain();
  ASSERT_TRUE(graph.verify().ok());
  graph.nodes[0].attrs["pads"] = std::vector<int64_t>{1, 1};
  graph.nodes[1].inputs.push_back(kNoValue);
  graph.values[0].format = Format::nchw;
  EXPECT_EQ(print(graph),
            "graph chain\n"
            "  input  %x: float32[1x4] NCHW\n"
            "  %y: float32[1x4] = Relu \"first\" (%x) {pads=[1, 1]}\n"
            "  %z: float32[1x4] = Relu \"second\" (%y, -)\n"
            "  output %z: float32[1x4]\n");
}

// out = cond ? relu(captured) : captured
Graph branch(bool relu) {
  Graph graph;
  graph.name = relu ? "then" : "else";
  const ValueId x = add(graph, "x");
  graph.inputs = {x};
  graph.outputs = {x};
  if (relu) {
    graph.outputs = {add(graph, "r")};
    add_node(graph, "relu", x, graph.outputs[0]);
  }
  return graph;
}

Graph conditional() {
  Graph graph;
  graph.name = "net";
  const ValueId cond = add(graph, "cond"), x = add(graph, "x"), y = add(graph, "y");
  graph.inputs = {cond, x};
  graph.outputs = {y};
  Node node;
  node.op = "If";
  node.name = "choose";
  node.inputs = {cond, x};
  node.outputs = {y};
  node.attrs[kCapturesAttr] = int64_t{1};
  node.attrs["then_branch"] = std::make_shared<const Graph>(branch(true));
  node.attrs["else_branch"] = std::make_shared<const Graph>(branch(false));
  graph.nodes.push_back(std::move(node));
  return graph;
}

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

TEST(Flow, SubgraphsArePrintedUnderTheirNode) {
  const std::string text = print(conditional());
  EXPECT_NE(text.find("    graph then\n      input  %x: float32[1x4]\n"), std::string::npos)
      << text;
}

TEST(UniqueNames, AFileFullOfOneNameGetsItsNumbersInOneWalk) {
  UniqueNames names(1);
  names.add("a_2");
  EXPECT_EQ(names.take("a"), "a");
  EXPECT_EQ(names.take("a"), "a_1");
  EXPECT_EQ(names.take("a"), "a_3");
  EXPECT_EQ(names.take("a_3"), "a_3_1");
  std::string last;
  for (int i = 0; i < 100'000; ++i) last = names.take("a");
  EXPECT_EQ(last, "a_100003");
}

}  // namespace
}  // namespace anynpu::graph
