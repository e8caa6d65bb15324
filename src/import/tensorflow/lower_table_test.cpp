// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/graph_for_test.h"

namespace anynpu::tensorflow {
namespace {

TEST(TfLookup, OfNumbersIsAConstantThatIsSearched) {
  TestGraph graph;
  graph.input("x", {4}, 3)
      .ints("k", {3}, {7, 8, 9})
      .floats("v", {3}, {1, 2, 3})
      .floats("d", {}, {-1});
  graph.node("table", "HashTableV2").node("fill", "LookupTableImportV2", {"table", "k", "v"});
  graph.node("y", "LookupTableFindV2", {"table", "x", "d"});
  EXPECT_EQ(graph.shape({{}, {"y:0"}}), "4");
}

TEST(TfLookup, ThatNothingFillsIsRefused) {
  TestGraph graph;
  graph.input("x", {4}, 3).floats("d", {}, {-1}).node("table", "HashTableV2");
  graph.node("y", "LookupTableFindV2", {"table", "x", "d"});
  const std::string said = graph.shape({{}, {"y:0"}});
  EXPECT_NE(said.find("nothing in the model fills the table 'table'"), std::string::npos) << said;
}

}  // namespace
}  // namespace anynpu::tensorflow
