// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/graph_for_test.h"

namespace anynpu::tensorflow {
namespace {

TEST(TfArray, TensorsAreCut) {
  TestGraph constants;
  constants.ints("axis", {}, {1})
      .ints("sizes", {2}, {-1, 2})
      .ints("b", {2}, {0, 1})
      .ints("n", {2}, {-1, 2});
  TestGraph split = constants;
  split.input("x", {2, 6}).node("y", "Split", {"axis", "x"}, {int_of("num_split", 3)});
  EXPECT_EQ(split.shape({{}, {"y:2"}}), "2x2");
  EXPECT_EQ(one_node("SplitV", {2, 6}, {}, {"sizes", "axis"}, constants).shape(), "2x4");
  EXPECT_EQ(one_node("Slice", {2, 6}, {}, {"b", "n"}, constants).shape(), "2x2");
  EXPECT_EQ(one_node("Unpack", {2, 6}, {int_of("num", 6), int_of("axis", 1)}).shape(), "2");
}

TEST(TfArray, UnevenPartsAreRefused) {
  TestGraph split;
  split.ints("axis", {}, {1}).input("x", {2, 7});
  split.node("y", "Split", {"axis", "x"}, {int_of("num_split", 3)});
  const std::string said = split.shape();
  EXPECT_NE(said.find("7 rows into 3 equal parts"), std::string::npos) << said;
}

}  // namespace
}  // namespace anynpu::tensorflow
