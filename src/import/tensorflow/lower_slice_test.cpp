// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/graph_for_test.h"

namespace anynpu::tensorflow {
namespace {

// x[begin:end:1] with masks, of a 4x5x6.
std::string sliced(const std::vector<int32_t>& begin, const std::vector<int32_t>& end,
                   const std::vector<TestAttr>& masks, std::vector<int32_t> strides = {}) {
  strides.resize(begin.size(), 1);
  const auto count = static_cast<int64_t>(begin.size());
  TestGraph constants;
  constants.ints("b", {count}, begin).ints("e", {count}, end).ints("s", {count}, strides);
  return one_node("StridedSlice", {4, 5, 6}, masks, {"b", "e", "s"}, constants).shape();
}

TEST(TfStridedSlice, MasksOpenShrinkAndAddAxes) {
  EXPECT_EQ(sliced({1}, {3}, {}), "2x5x6");
  EXPECT_EQ(sliced({1, 2}, {0, 4}, {int_of("end_mask", 1)}), "3x2x6");
  EXPECT_EQ(sliced({-1}, {0}, {int_of("shrink_axis_mask", 1)}), "5x6");
  EXPECT_EQ(sliced({0, 2}, {0, 3}, {int_of("ellipsis_mask", 1)}), "4x5x1");
  EXPECT_EQ(sliced({0, 1}, {0, 2}, {int_of("new_axis_mask", 1)}), "1x1x5x6");
  EXPECT_EQ(sliced({0, 0, 3}, {0, 0, 4},
                   {int_of("ellipsis_mask", 1), int_of("new_axis_mask", 2),
                    int_of("shrink_axis_mask", 4)}),
            "4x5x1");
}

TEST(TfStridedSlice, NegativeStridesGoBackwards) {
  EXPECT_EQ(sliced({-1}, {0}, {int_of("begin_mask", 1), int_of("end_mask", 1)}, {-1}), "4x5x6");
  EXPECT_EQ(sliced({3}, {0}, {}, {-2}), "2x5x6");
}

TEST(TfStridedSlice, ARowAtAnIndexOfTheRunHasAKnownShape) {
  TestGraph graph;
  graph.input("x", {4, 5, 6}).input("i", {}, 3).ints("one", {1}, {1}).ints("zero", {1}, {0});
  graph.node("b", "Pack", {"i"}).node("e", "AddV2", {"b", "one"});
  graph.node("y", "StridedSlice", {"x", "b", "e", "one"}, {int_of("shrink_axis_mask", 1)});
  EXPECT_EQ(graph.shape(), "5x6");
}

TEST(TfStridedSlice, MoreAxesThanThereAreAreRefused) {
  const std::string said = sliced({0, 0, 0, 0}, {1, 1, 1, 1}, {});
  EXPECT_NE(said.find("slices 4 axes"), std::string::npos) << said;
}

TEST(TfSlice, GradientsAndUpdatesArePutWhereTheSliceIs) {
  TestGraph graph;
  graph.ints("shape", {2}, {4, 5}).ints("begin", {2}, {1, 0}).ints("end", {2}, {3, 5});
  graph.ints("strides", {2}, {1, 2}).input("x", {4, 5}).input("part", {2, 3});
  graph.node("grad", "StridedSliceGrad", {"shape", "begin", "end", "strides", "part"});
  graph.node("update", "TensorStridedSliceUpdate", {"x", "begin", "end", "strides", "part"});
  EXPECT_EQ(graph.shape({{}, {"grad:0"}}), "4x5");
  EXPECT_EQ(graph.shape({{}, {"update:0"}}), "4x5");
}

}  // namespace
}  // namespace anynpu::tensorflow
