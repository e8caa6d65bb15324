// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/graph_for_test.h"

namespace anynpu::tensorflow {
namespace {

TEST(TfCtc, TheNumberOfLabelsComesFromTheRun) {
  TestGraph graph;
  graph.ints("lengths", {2}, {5, 3});
  EXPECT_EQ(one_node("CTCGreedyDecoder", {5, 2, 4}, {}, {"lengths"}, graph).shape(), "?x2");
}

TEST(TfCtc, ABlankThatIsNoLabelIsRefused) {
  TestGraph graph;
  graph.ints("lengths", {1}, {5});
  const std::string said =
      one_node("CTCGreedyDecoder", {5, 1, 4}, {int_of("blank_index", 4)}, {"lengths"}, graph).ops();
  EXPECT_NE(said.find("the blank 4"), std::string::npos) << said;
}

TEST(TfCtc, TheLossOfEachSequenceKnowsItsLabels) {
  TestGraph graph;
  graph.input("lengths", {2}, 3);
  std::vector<int64_t> places = {0, 0, 0, 1, 1, 0};
  graph.node("places", "Const", {},
             {type_of("dtype", 9), tensor_of(9, {3, 2}, std::as_bytes(std::span(places)))});
  graph.ints("labels", {3}, {1, 0, 1});
  EXPECT_EQ(one_node("CTCLoss", {5, 2, 4}, {}, {"places", "labels", "lengths"}, graph).shape(),
            "2");
  const std::string said =
      one_node("CTCLoss", {5, 2, 2}, {}, {"places", "labels", "lengths"}, graph).shape();
  EXPECT_NE(said.find("expected one below the blank"), std::string::npos) << said;
}

TEST(TfEditDistance, HasTheAxesInFrontOfTheSequences) {
  TestGraph graph;
  std::vector<int64_t> shape = {2, 4, 3}, other = {3, 1, 5};
  for (const auto& [name, extents] : {std::pair{"shape", shape}, std::pair{"other", other}}) {
    graph.node(name, "Const", {},
               {type_of("dtype", 9), tensor_of(9, {3}, std::as_bytes(std::span(extents)))});
  }
  graph.input("places", {-1, 3}, 9).input("values", {-1}, 3);
  graph.node("y", "EditDistance", {"places", "values", "shape", "places", "values", "other"});
  EXPECT_EQ(graph.shape(), "3x4");
}

}  // namespace
}  // namespace anynpu::tensorflow
