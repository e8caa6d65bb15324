// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/graph_for_test.h"

namespace anynpu::tensorflow {
namespace {

// indices (n, 2), values (n), shape (2); n comes from the run.
TestGraph sparse(const std::string& op, const std::vector<TestAttr>& attrs = {},
                 const std::vector<std::string>& more = {}, TestGraph graph = {}) {
  graph.input("i", {-1, 2}, 9).input("v", {-1}).ints("shape", {2}, {3, 4});
  std::vector<std::string> inputs = {"i", "v", "shape"};
  inputs.insert(inputs.end(), more.begin(), more.end());
  return graph.node("y", op, inputs, attrs);
}

TEST(TfSparse, HowManyElementsThereAreComesFromTheRun) {
  TestGraph graph;
  graph.floats("fill", {}, {0.5f});
  const TestGraph filled = sparse("SparseFillEmptyRows", {}, {"fill"}, graph);
  EXPECT_EQ(filled.shape({{}, {"y:0"}}), "?x2");
  EXPECT_EQ(filled.shape({{}, {"y:1"}}), "?");
  EXPECT_EQ(filled.shape({{}, {"y:2"}}), "3") << "which rows are empty";
  EXPECT_EQ(sparse("SparseReorder").shape(), "?x2");
  EXPECT_EQ(sparse("SparseSoftmax").shape(), "?");
}

TEST(TfSparse, RowsThatAreReducedBecomeDense) {
  TestGraph graph;
  graph.ints("axes", {1}, {1});
  EXPECT_EQ(sparse("SparseReduceMax", {}, {"axes"}, graph).shape(), "3");
  EXPECT_EQ(sparse("SparseReduceMax", {flag_of("keep_dims", true)}, {"axes"}, graph).shape(),
            "3x1");
}

TEST(TfSparse, ASplitHasAllIndicesThenAllValuesThenAllShapes) {
  TestGraph graph;
  graph.ints("axis", {}, {1});
  graph.input("i", {-1, 2}, 9).input("v", {-1}).ints("shape", {2}, {3, 5});
  graph.node("y", "SparseSplit", {"axis", "i", "v", "shape"}, {int_of("num_split", 2)});
  EXPECT_EQ(graph.shape({{}, {"y:1"}}), "?x2");
  EXPECT_EQ(graph.shape({{}, {"y:3"}}), "?");
  EXPECT_EQ(graph.shape({{}, {"y:5"}}), "2");
}

TEST(TfSparse, ARankThatNobodyKnowsIsRefused) {
  TestGraph graph;
  graph.input("i", {-1, -1}, 9).input("v", {-1}).input("shape", {-1}, 9);
  graph.node("y", "SparseReorder", {"i", "v", "shape"});
  EXPECT_NE(graph.shape().find("expected a rank known"), std::string::npos) << graph.shape();
}

}  // namespace
}  // namespace anynpu::tensorflow
