// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/graph_for_test.h"

namespace anynpu::tensorflow {
namespace {

TEST(TfSegment, KnownIdsGiveTheNumberOfSegments) {
  TestGraph graph;
  graph.ints("ids", {4}, {0, 0, 2, 2});
  for (const char* op : {"SegmentSum", "SegmentMean", "SegmentMax", "SegmentProd"})
    EXPECT_EQ(one_node(op, {4, 3}, {}, {"ids"}, graph).shape(), "3x3") << op;
}

TEST(TfSegment, UnsortedSegmentsAreAsManyAsAsked) {
  TestGraph graph;
  graph.ints("ids", {4}, {3, -1, 0, 3}).ints("count", {}, {5});
  EXPECT_EQ(one_node("UnsortedSegmentSum", {4, 3}, {}, {"ids", "count"}, graph).shape(), "5x3");
}

TEST(TfSegment, AHistogramHasItsBins) {
  TestGraph graph;
  graph.floats("range", {2}, {0, 1}).ints("bins", {}, {7});
  EXPECT_EQ(one_node("HistogramFixedWidth", {4, 3}, {}, {"range", "bins"}, graph).shape(), "7");
}

}  // namespace
}  // namespace anynpu::tensorflow
