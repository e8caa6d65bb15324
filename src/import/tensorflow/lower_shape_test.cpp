// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/graph_for_test.h"

namespace anynpu::tensorflow {
namespace {

TEST(TfShape, TensorsAreJoinedAlongAnAxisOfTheModel) {
  TestGraph graph;
  graph.input("x", {1, 4, 4, 2}).floats("w", {1, 1, 2, 3}).ints("axis", {}, {-1});
  graph.node("c", "Conv2D", {"x", "w"},
             {text_of("padding", "SAME"), ints_of("strides", {1, 1, 1, 1})});
  graph.node("y", "ConcatV2", {"c", "x", "axis"});
  EXPECT_EQ(graph.shape(), "1x4x4x5");
}

TEST(TfShape, PaddingsStandInRows) {
  TestGraph constants;
  constants.ints("p", {2, 2}, {1, 2, 0, 3});
  EXPECT_EQ(one_node("Pad", {2, 2}, {}, {"p"}, constants).shape(), "5x5");
}

TEST(TfShape, MirrorsWithAndWithoutTheEdge) {
  TestGraph constants;
  constants.ints("p", {2, 2}, {1, 0, 0, 2});
  for (const char* mode : {"REFLECT", "SYMMETRIC"}) {
    EXPECT_EQ(one_node("MirrorPad", {3, 4}, {text_of("mode", mode)}, {"p"}, constants).shape(),
              "4x6")
        << mode;
  }
}

TEST(TfShape, AxesGoAndCome) {
  TestGraph constants;
  constants.ints("last", {}, {-1});
  EXPECT_EQ(one_node("ExpandDims", {2, 3}, {}, {"last"}, constants).shape(), "2x3x1");
  EXPECT_EQ(one_node("Squeeze", {2, 1, 3}, {ints_of("squeeze_dims", {1})}).shape(), "2x3");
  EXPECT_EQ(one_node("Pack", {2, 3}, {int_of("axis", -1)}, {"x"}).shape(), "2x3x2");
}

}  // namespace
}  // namespace anynpu::tensorflow
