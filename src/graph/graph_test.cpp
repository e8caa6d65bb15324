// SPDX-License-Identifier: Apache-2.0
#include "graph/graph.h"

#include <gtest/gtest.h>

#include "graph/graph_for_test.h"
#include "graph/unique_names.h"

namespace anynpu::graph {
namespace {

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
