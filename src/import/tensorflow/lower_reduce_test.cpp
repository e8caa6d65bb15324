// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/graph_for_test.h"

namespace anynpu::tensorflow {
namespace {

TestGraph reduced(const std::string& op, const std::vector<int32_t>& axes, bool keep) {
  TestGraph graph;
  graph.input("x", {1, 4, 5, 2}).floats("w", {1, 1, 2, 3});
  graph.ints("axes", {static_cast<int64_t>(axes.size())}, axes);
  graph.node("c", "Conv2D", {"x", "w"},
             {text_of("padding", "SAME"), ints_of("strides", {1, 1, 1, 1})});
  graph.node("y", op, {"c", "axes"}, {flag_of("keep_dims", keep)});
  return graph;
}

TEST(TfReduce, TheMeanOfAPictureIsAPooling) {
  EXPECT_EQ(reduced("Mean", {1, 2}, false).ops(), "Transpose Conv GlobalAveragePool Squeeze");
  EXPECT_EQ(reduced("Mean", {1, 2}, false).shape(), "1x3");
  EXPECT_EQ(reduced("Mean", {-2, 1}, true).shape(), "1x1x1x3");
}

TEST(TfReduce, AxesAreThoseOfTheModel) {
  EXPECT_EQ(reduced("Sum", {3}, false).shape(), "1x4x5");
  EXPECT_EQ(reduced("Max", {1}, false).shape(), "1x5x3");
  const std::string said = reduced("Sum", {7}, false).shape();
  EXPECT_NE(said.find("axis 7"), std::string::npos) << said;
}

}  // namespace
}  // namespace anynpu::tensorflow
