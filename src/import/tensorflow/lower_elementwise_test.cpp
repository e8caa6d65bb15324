// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/graph_for_test.h"

namespace anynpu::tensorflow {
namespace {

TEST(TfElementwise, OperatorsBecomeOurs) {
  EXPECT_EQ(one_node("Relu6", {2}).ops(), "Clip");
  EXPECT_EQ(one_node("Rsqrt", {2}).ops(), "Sqrt Reciprocal");
  EXPECT_EQ(one_node("SquaredDifference", {2}, {}, {"x"}).ops(), "Sub Mul");
}

TEST(TfElementwise, ABiasGoesToTheChannelsWhereverTheyStand) {
  TestGraph constants;
  constants.floats("c", {3});
  EXPECT_EQ(one_node("BiasAdd", {1, 2, 2, 3}, {}, {"c"}, constants).shape(), "1x2x2x3");
  EXPECT_EQ(
      one_node("BiasAdd", {1, 3, 2, 2}, {text_of("data_format", "NCHW")}, {"c"}, constants).shape(),
      "1x3x2x2");
}

}  // namespace
}  // namespace anynpu::tensorflow
