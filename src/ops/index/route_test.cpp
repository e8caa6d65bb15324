// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "ops/test_node.h"

namespace anynpu::ops::index {
namespace {

using Floats = std::vector<float>;

std::vector<Ints> sorted(Ints experts, int64_t begin, int64_t end, int64_t capacity) {
  TestNode node("ExpertSort", 1, "anynpu");
  node.ints(std::move(experts)).attr("begin", begin).attr("end", end).attr("capacity", capacity);
  node.node.outputs = {1000, 1001, 1002};
  const auto context = node.infer();
  EXPECT_TRUE(context.ok());
  const auto outputs = evaluate(*context);
  EXPECT_TRUE(outputs.ok());
  std::vector<Ints> lists;
  for (const auto& bytes : *outputs) {
    lists.emplace_back(bytes.size() / sizeof(int64_t));
    if (!bytes.empty()) std::memcpy(lists.back().data(), bytes.data(), bytes.size());
  }
  return lists;
}

TEST(ExpertSort, KeepsTheOrderOfEqualOnes) {
  EXPECT_EQ(sorted({2, 0, 2, 1}, 0, 3, 0),
            (std::vector<Ints>{{1, 3, 0, 2}, {2, 0, 3, 1}, {1, 1, 2}}));
  EXPECT_EQ(sorted({7, 0, 7, 1}, 0, 0, 0), (std::vector<Ints>{{1, 3, 0, 2}, {2, 0, 3, 1}, {}}));
}

TEST(ExpertSort, LeavesOutOtherExpertsAndThoseBehindTheCapacity) {
  EXPECT_EQ(sorted({2, 0, 2, 1}, 1, 3, 0),
            (std::vector<Ints>{{3, 0, 2, -1}, {1, -1, 2, 0}, {1, 2}}));
  EXPECT_EQ(sorted({1, 1, 0, 1}, 0, 2, 2),
            (std::vector<Ints>{{2, -1, 0, 1}, {2, 3, 0, -1}, {1, 3}}));
}

TEST(GatherRows, ZerosForIndicesOutside) {
  EXPECT_EQ(TestNode("GatherRows", 1, "anynpu")
                .floats({2, 2}, {1, 2, 3, 4})
                .ints({3, -1, 9, 0})
                .attr("divisor", int64_t{2})
                .evaluate(),
            (Floats{3, 4, 0, 0, 0, 0, 1, 2}));
  EXPECT_EQ(TestNode("GatherRows", 1, "anynpu")
                .floats({2, 1}, {1, 2})
                .ints({1, 0})
                .floats({2}, {10, 100})
                .evaluate(),
            (Floats{200, 10}));
}

TEST(SumRows, AddsTheRowsOfEachToken) {
  const auto node = [](int64_t by_columns) {
    return TestNode("SumRows", 1, "anynpu")
        .floats({4, 1}, {1, 2, 4, 8})
        .ints({0, 3, -1, 2})
        .floats({4}, {1, 10, 100, 1000})
        .attr("terms", int64_t{2})
        .attr("by_columns", by_columns);
  };
  EXPECT_EQ(node(0).evaluate(), (Floats{81, 4000}));
  EXPECT_EQ(node(1).evaluate(), (Floats{1, 800 + 4000}));
  EXPECT_NE(node(0).attr("terms", int64_t{3}).shape_text().find("4 indices for sums of 3 rows"),
            std::string::npos);
}

TEST(InvertIndex, SaysWhoPointsHere) {
  TestNode node("InvertIndex", 1, "anynpu");
  node.ints({2, 0, 5}).attr("count", int64_t{3});
  const auto context = node.infer();
  ASSERT_TRUE(context.ok());
  const auto outputs = evaluate(*context);
  ASSERT_TRUE(outputs.ok());
  Ints y(3);
  std::memcpy(y.data(), (*outputs)[0].data(), sizeof(int64_t) * 3);
  EXPECT_EQ(y, (Ints{1, -1, 0}));
}

}  // namespace
}  // namespace anynpu::ops::index
