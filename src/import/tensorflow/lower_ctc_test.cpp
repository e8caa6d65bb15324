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

}  // namespace
}  // namespace anynpu::tensorflow
