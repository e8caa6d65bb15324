// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/test_node.h"

namespace anynpu::ops::detection {
namespace {

using Floats = std::vector<float>;

// Three boxes: the second covers most of the first, the third lies apart.
TestNode soft(float sigma) {
  TestNode node("SoftNonMaxSuppression", 1, "anynpu");
  node.floats({3, 4}, {0, 0, 1, 1, 0, 0, 1, 0.9f, 2, 2, 3, 3})
      .floats({3}, {0.9f, 0.8f, 0.7f})
      .attr("most", int64_t{3})
      .attr("iou", sigma > 0 ? 1.0f : 0.5f)
      .attr("sigma", sigma);
  node.node.outputs = {1000, 1001, 1002};
  return node;
}

template <typename T>
std::vector<T> elements(const std::vector<std::byte>& bytes) {
  std::vector<T> list(bytes.size() / sizeof(T));
  std::copy_n(bytes.data(), bytes.size(), reinterpret_cast<std::byte*>(list.data()));
  return list;
}

TEST(Suppression, DropsBoxesThatCoverABetterOne) {
  auto node = soft(0);
  const auto context = node.infer();
  ASSERT_TRUE(context.ok()) << context.status().to_string();
  const auto made = evaluate(*context);
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  EXPECT_EQ(elements<int32_t>(made.value()[0]), (std::vector<int32_t>{0, 2, 0}));
  EXPECT_EQ(elements<float>(made.value()[1]), (Floats{0.9f, 0.7f, 0}));
  EXPECT_EQ(elements<int32_t>(made.value()[2]), (std::vector<int32_t>{2}));
}

TEST(Suppression, TakesOverlapsThatAreGiven) {
  TestNode node("SoftNonMaxSuppression", 1, "anynpu");
  node.floats({3, 3}, {1, 0.2f, 0.9f, 0.2f, 1, 0, 0.9f, 0, 1})
      .floats({3}, {0.9f, 0.8f, 0.7f})
      .attr("most", int64_t{3})
      .attr("overlaps", int64_t{1});
  node.node.outputs = {1000, 1001, 1002};
  const auto context = node.infer();
  ASSERT_TRUE(context.ok()) << context.status().to_string();
  const auto made = evaluate(*context);
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  EXPECT_EQ(elements<int32_t>(made.value()[0]), (std::vector<int32_t>{0, 1, 0}));
  const std::string said = TestNode("SoftNonMaxSuppression", 1, "anynpu")
                               .shape({3, 4})
                               .shape({3})
                               .attr("most", int64_t{3})
                               .attr("overlaps", int64_t{1})
                               .shape_text();
  EXPECT_NE(said.find("expected N, N and N"), std::string::npos) << said;
}

TEST(Suppression, LowersScoresInsteadWhenItIsSoft) {
  auto node = soft(0.5f);
  const auto context = node.infer();
  ASSERT_TRUE(context.ok()) << context.status().to_string();
  const auto made = evaluate(*context);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(elements<int32_t>(made.value()[0]), (std::vector<int32_t>{0, 2, 1}));
  EXPECT_NEAR(elements<float>(made.value()[1])[2], 0.8f * std::exp(-0.81f), 1e-5);
}

TEST(Suppression, CombinesTheBestOfAllClasses) {
  TestNode node("CombinedNonMaxSuppression", 1, "anynpu");
  node.floats({1, 2, 1, 4}, {0, 0, 1, 1, 0.5f, 0.5f, 2, 2})
      .floats({1, 2, 2}, {0.9f, 0.2f, 0.3f, 0.8f})
      .attr("most_per_class", int64_t{1})
      .attr("most", int64_t{3})
      .attr("least", 0.1f);
  node.node.outputs = {1000, 1001, 1002, 1003};
  const auto context = node.infer();
  ASSERT_TRUE(context.ok()) << context.status().to_string();
  const auto made = evaluate(*context);
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  EXPECT_EQ(elements<float>(made.value()[1]), (Floats{0.9f, 0.8f, 0}));
  EXPECT_EQ(elements<float>(made.value()[2]), (Floats{0, 1, 0}));
  EXPECT_EQ(elements<float>(made.value()[0])[7], 1) << "corners are clipped to the picture";
  EXPECT_EQ(elements<int32_t>(made.value()[3]), (std::vector<int32_t>{2}));
}

}  // namespace
}  // namespace anynpu::ops::detection
