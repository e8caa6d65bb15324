// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/graph_for_test.h"

namespace anynpu::tensorflow {
namespace {

TestGraph with_transform(const Shape& shape) {
  TestGraph graph;
  graph.floats("t", shape, {1, 0, 0, 0, 1, 0, 0, 0}).ints("size", {2}, {3, 4});
  return graph;
}

TEST(TfProjective, APictureOfTheSizeThatIsAskedFor) {
  const TestGraph graph = one_node("ImageProjectiveTransformV2", {2, 5, 6, 3}, {}, {"t", "size"},
                                   with_transform({1, 8}));
  EXPECT_EQ(graph.shape(), "2x3x4x3");
}

TEST(TfProjective, MorePixelsThanMemoryAreRefused) {
  TestGraph graph;
  graph.floats("t", {1, 8}, {1, 0, 0, 0, 1, 0, 0, 0}).ints("size", {2}, {1 << 20, 1 << 20});
  const TestGraph made =
      one_node("ImageProjectiveTransformV2", {2, 5, 6, 3}, {}, {"t", "size"}, graph);
  EXPECT_NE(made.shape().find("pixels are taken"), std::string::npos) << made.shape();
}

TEST(TfProjective, TransformsThatAreNoneAreRefused) {
  const TestGraph wrong = one_node("ImageProjectiveTransformV2", {2, 5, 6, 3}, {}, {"t", "size"},
                                   with_transform({8, 1}));
  EXPECT_NE(wrong.shape().find("no rows of 8"), std::string::npos) << wrong.shape();
  const TestGraph many = one_node("ImageProjectiveTransformV2", {2, 5, 6, 3}, {}, {"t", "size"},
                                  with_transform({3, 8}));
  EXPECT_NE(many.shape().find("3 transforms for 2 pictures"), std::string::npos) << many.shape();
}

}  // namespace
}  // namespace anynpu::tensorflow
