// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/test_node.h"

namespace anynpu::ops::index {
namespace {

std::vector<int64_t> integers(TestNode& node, size_t output) {
  const auto context = node.infer();
  EXPECT_TRUE(context.ok()) << context.status().to_string();
  const auto outputs = evaluate(*context);
  EXPECT_TRUE(outputs.ok()) << outputs.status().to_string();
  std::vector<int64_t> values((*outputs)[output].size() / 8);
  std::memcpy(values.data(), (*outputs)[output].data(), (*outputs)[output].size());
  return values;
}

TEST(SearchSorted, PlacesBeforeAndBehindEqualOnes) {
  for (const int64_t right : {0, 1}) {
    TestNode node("SearchSorted", 1, "anynpu");
    node.floats({4}, {1, 3, 3, 7}).floats({2, 2}, {0, 3, 8, NAN}).attr("right", right);
    EXPECT_EQ(integers(node, 0), (std::vector<int64_t>{0, right ? 3 : 1, 4, 4}));
  }
}

TEST(SearchSorted, EveryRowHasItsOwnValues) {
  TestNode node("SearchSorted", 1, "anynpu");
  node.floats({2, 2}, {1, 3, 10, 30}).floats({2, 1}, {2, 40});
  EXPECT_EQ(integers(node, 0), (std::vector<int64_t>{1, 2}));
}

TEST(CumExtreme, KeepsTheLastOfEqualOnesAndNan) {
  TestNode node("CumExtreme", 1, "anynpu");
  node.floats({6}, {2, 5, 1, 5, NAN, 9});
  node.node.outputs = {1000, 1001};
  EXPECT_EQ(integers(node, 1), (std::vector<int64_t>{0, 1, 1, 3, 4, 4}));
}

}  // namespace
}  // namespace anynpu::ops::index
