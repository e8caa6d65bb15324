// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/body.h"

#include "import/tensorflow/graph_for_test.h"

namespace anynpu::tensorflow {
namespace {

TEST(TfBody, WhatNoResultNeedsIsLeftAlone) {
  TestGraph graph;
  graph.input("x", {2}).node("unknown", "NobodyKnows", {"x"}).node("y", "Relu", {"x"});
  EXPECT_EQ(graph.ops({{}, {"y:0"}}), "Relu");
}

TEST(TfBody, ACycleThatIsNoLoopIsRefused) {
  TestGraph graph;
  graph.node("a", "Relu", {"b"}).node("b", "Relu", {"a"}).node("y", "Relu", {"a"});
  const std::string said = graph.shape();
  EXPECT_NE(said.find("depends on itself"), std::string::npos) << said;
}

TEST(TfBody, ALinkToNothingIsRefused) {
  TestGraph graph;
  graph.node("y", "Relu", {"nothing"});
  const std::string said = graph.shape();
  EXPECT_NE(said.find("'nothing'"), std::string::npos) << said;
}

}  // namespace
}  // namespace anynpu::tensorflow
