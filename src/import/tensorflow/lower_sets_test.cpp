// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/graph_for_test.h"

namespace anynpu::tensorflow {
namespace {

TEST(TfSets, TheNumberOfElementsComesFromTheRun) {
  TestGraph graph;
  graph.input("a", {2, 3}, 3).input("b", {2, 2}, 3);
  graph.node("y", "DenseToDenseSetOperation", {"a", "b"}, {text_of("set_operation", "union")});
  EXPECT_EQ(graph.shape({{}, {"y:0"}}), "?x2");
  EXPECT_EQ(graph.shape({{}, {"y:1"}}), "?");
  EXPECT_EQ(graph.shape({{}, {"y:2"}}), "2");
}

TEST(TfSets, AnOperationThatIsNoneIsRefused) {
  TestGraph graph;
  graph.input("a", {2, 3}, 3).input("b", {2, 2}, 3);
  graph.node("y", "DenseToDenseSetOperation", {"a", "b"}, {text_of("set_operation", "xor")});
  EXPECT_NE(graph.shape().find("'set_operation' is 'xor'"), std::string::npos) << graph.shape();
}

TEST(TfSets, RowsOfNumbersLieBehindEachOther) {
  TestGraph graph;
  graph.input("from", {3}).input("to", {3}).floats("step", {}, {1});
  graph.node("y", "RaggedRange", {"from", "to", "step"});
  EXPECT_EQ(graph.shape({{}, {"y:0"}}), "4");
  EXPECT_EQ(graph.shape({{}, {"y:1"}}), "?");
}

}  // namespace
}  // namespace anynpu::tensorflow
