// SPDX-License-Identifier: Apache-2.0
#include "ops/test_node.h"

namespace anynpu::ops {
namespace {

using Floats = std::vector<float>;

TEST(Gather, CountsNegativeIndicesFromTheEnd) {
  EXPECT_EQ(TestNode("Gather").floats({3}, {1, 2, 3}).ints({-1, 0}).evaluate(), (Floats{3, 1}));
}

TEST(Gather, FailsOnAnIndexOutside) {
  TestNode node("Gather");
  const auto context = node.floats({3}, {1, 2, 3}).ints({3}).infer();
  ASSERT_TRUE(context.ok());
  const auto y = evaluate(*context);
  ASSERT_FALSE(y.ok());
  EXPECT_NE(y.status().to_string().find("index 3"), std::string::npos);
}

TEST(ScatterElements, AppliesUpdatesInOrder) {
  EXPECT_EQ(TestNode("ScatterElements", 18)
                .floats({3}, {1, 2, 3})
                .ints({1, 1})
                .floats({2}, {5, 7})
                .attr("reduction", std::string("add"))
                .evaluate(),
            (Floats{1, 14, 3}));
  EXPECT_EQ(TestNode("ScatterElements", 18)
                .floats({3}, {1, 2, 3})
                .ints({1, 1})
                .floats({2}, {5, 7})
                .evaluate(),
            (Floats{1, 7, 3}));
}

TEST(TopK, KeepsTheOrderOfEqualValues) {
  EXPECT_EQ(TestNode("TopK").floats({4}, {3, 9, 9, 1}).ints({3}).evaluate(), (Floats{9, 9, 3}));
  EXPECT_NE(TestNode("TopK").shape({4}).ints({5}).shape_text().find("k is 5"), std::string::npos);
}

TEST(OneHot, LeavesIndicesOutsideOff) {
  EXPECT_EQ(TestNode("OneHot").ints({1, 7, -1}).ints({3}).floats({2}, {0, 1}).evaluate(),
            (Floats{0, 1, 0, 0, 0, 0, 0, 0, 1}));
}

}  // namespace
}  // namespace anynpu::ops
