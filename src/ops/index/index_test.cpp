// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/test_node.h"

namespace anynpu::ops::index {
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

TEST(GatherElements, TakesEveryAxisAndNegativeIndices) {
  Floats x(2 * 3 * 4);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  const int64_t extents[] = {2, 3, 4}, strides[] = {12, 4, 1};
  for (int64_t axis = 0; axis < 3; ++axis) {
    std::vector<int64_t> indices;
    Floats expected;
    for (int64_t i = 0; i < 2 * 2 * 3; ++i) {  // a corner of the input
      const int64_t at[] = {i / 6, i / 3 % 2, i % 3}, extent = extents[axis];
      const int64_t index = i * 7 % (2 * extent) - extent;
      indices.push_back(index);
      int64_t from = (index < 0 ? index + extent : index) * strides[axis];
      for (int64_t d = 0; d < 3; ++d) from += d == axis ? 0 : at[d] * strides[d];
      expected.push_back(static_cast<float>(from));
    }
    EXPECT_EQ(TestNode("GatherElements")
                  .floats({2, 3, 4}, x)
                  .ints({2, 2, 3}, indices)
                  .attr("axis", axis)
                  .evaluate(),
              expected)
        << axis;
  }
}

TEST(GatherElements, FailsOnAnIndexOutside) {
  TestNode node("GatherElements");
  const auto context = node.floats({3}, {1, 2, 3}).ints({0, -4}).infer();
  ASSERT_TRUE(context.ok());
  const auto y = evaluate(*context);
  ASSERT_FALSE(y.ok());
  EXPECT_NE(y.status().to_string().find("index -4"), std::string::npos);
}

TEST(ScatterND, CopiesRunsAndAddsThemInOrder) {
  const auto node = [](const char* reduction) {
    return TestNode("ScatterND", 18)
        .floats({3, 2}, {1, 2, 3, 4, 5, 6})
        .ints({3, 1}, {2, -3, 2})
        .floats({3, 2}, {10, 20, 30, 40, 50, 60})
        .attr("reduction", std::string(reduction));
  };
  EXPECT_EQ(node("none").evaluate(), (Floats{30, 40, 3, 4, 50, 60}));
  EXPECT_EQ(node("add").evaluate(), (Floats{31, 42, 3, 4, 65, 86}));
}

TEST(ScatterND, NaNIsTheMaximumAndTheMinimum) {
  for (const char* reduction : {"max", "min"}) {
    const auto y = TestNode("ScatterND", 18)
                       .floats({3}, {1, NAN, 3})
                       .ints({3, 1}, {0, 1, 2})
                       .floats({3}, {NAN, 2, 3})
                       .attr("reduction", std::string(reduction))
                       .evaluate();
    EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[1])) << reduction;
    EXPECT_EQ(y[2], 3);
  }
}

TEST(TopK, FewAreTheFirstOfMany) {
  Floats x;
  for (int i = 0; i < 400; ++i) x.push_back(i % 97 == 50 ? NAN : static_cast<float>(i * 37 % 83));
  for (int64_t largest : {0, 1}) {
    const auto best = [&](int64_t k) {
      TestNode node("TopK");
      node.floats({1, 400}, x).ints({k}).attr("largest", largest);
      node.node.outputs = {1000, 1001};
      const auto context = node.infer();
      EXPECT_TRUE(context.ok()) << context.status().to_string();
      const auto outputs = evaluate(*context);
      EXPECT_TRUE(outputs.ok()) << outputs.status().to_string();
      std::vector<int64_t> places(static_cast<size_t>(k));
      if (k > 0) std::memcpy(places.data(), (*outputs)[1].data(), places.size() * sizeof(int64_t));
      return places;
    };
    const std::vector<int64_t> all = best(400);
    for (int64_t k : {0, 1, 2, 10, 32, 33})
      EXPECT_EQ(best(k), std::vector<int64_t>(all.begin(), all.begin() + k)) << k;
  }
}

TEST(OneHot, PutsTheAxisAnywhere) {
  const auto node = [](int64_t axis) {
    return TestNode("OneHot")
        .ints({2, 2}, {0, -1, 2, 3})
        .ints({}, {3})
        .floats({2}, {5, 7})
        .attr("axis", axis);
  };
  EXPECT_EQ(node(-1).evaluate(), (Floats{7, 5, 5, 5, 5, 7, 5, 5, 7, 5, 5, 5}));
  EXPECT_EQ(node(0).evaluate(), (Floats{7, 5, 5, 5, 5, 5, 5, 5, 5, 7, 7, 5}));
  EXPECT_EQ(node(1).evaluate(), (Floats{7, 5, 5, 5, 5, 7, 5, 5, 5, 5, 7, 5}));
}

TEST(TensorScatter, WritesARunAtThePlaceOfEachSample) {
  const auto node = [](std::vector<int64_t> places, const char* mode) {
    return TestNode("TensorScatter", 24)
        .floats({2, 3, 1}, {1, 2, 3, 4, 5, 6})
        .floats({2, 2, 1}, {10, 20, 30, 40})
        .ints(std::move(places))
        .attr("mode", std::string(mode));
  };
  EXPECT_EQ(node({0, 1}, "linear").evaluate(), (Floats{10, 20, 3, 4, 30, 40}));
  EXPECT_EQ(node({2, 4}, "circular").evaluate(), (Floats{20, 2, 10, 4, 30, 40}));
  EXPECT_EQ(TestNode("TensorScatter", 24)
                .floats({1, 2, 2}, {1, 2, 3, 4})
                .floats({1, 2, 1}, {7, 8})
                .attr("axis", int64_t{2})
                .evaluate(),
            (Floats{7, 2, 8, 4}));
  auto far = node({0, 2}, "linear");
  const auto context = far.infer();
  ASSERT_TRUE(context.ok());
  const auto y = evaluate(*context);
  ASSERT_FALSE(y.ok());
  EXPECT_NE(y.status().to_string().find("write_indices[1] is 2, expected 0 to 1"),
            std::string::npos);
  EXPECT_NE(TestNode("TensorScatter", 24)
                .shape({2, 3})
                .shape({2, 4})
                .attr("axis", int64_t{1})
                .shape_text()
                .find("does not fit"),
            std::string::npos);
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
}  // namespace anynpu::ops::index
