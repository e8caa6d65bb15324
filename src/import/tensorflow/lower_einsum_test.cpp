// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/graph_for_test.h"

namespace anynpu::tensorflow {
namespace {

TestGraph einsum(const std::string& equation, const Shape& left, const Shape& right) {
  TestGraph graph;
  graph.input("a", left).input("b", right);
  graph.node("y", "Einsum", {"a", "b"}, {text_of("equation", equation)});
  return graph;
}

TEST(TfEinsum, OfALayerIsAProduct) {
  const auto dense = einsum("abc,cde->abde", {2, 3, 4}, {4, 5, 6});
  EXPECT_EQ(dense.shape(), "2x3x5x6");
  EXPECT_EQ(dense.ops(), "Reshape MatMul Reshape");
}

TEST(TfEinsum, OfAttentionIsAProductOfBatches) {
  const auto scores = einsum("aecd,abcd->acbe", {2, 7, 3, 4}, {2, 5, 3, 4});
  EXPECT_EQ(scores.shape(), "2x3x5x7");
  EXPECT_NE(scores.ops().find("MatMul"), std::string::npos);
}

TEST(TfEinsum, OfOtherKindsIsOurEinsum) {
  EXPECT_EQ(einsum("ab,cb->a", {2, 3}, {4, 3}).ops(), "Einsum");
  EXPECT_EQ(einsum("...b,b->...", {2, 3}, {3}).ops(), "Einsum");
}

}  // namespace
}  // namespace anynpu::tensorflow
