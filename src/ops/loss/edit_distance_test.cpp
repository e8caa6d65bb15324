// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/test_node.h"

namespace anynpu::ops::loss {
namespace {

TestNode edits(std::vector<int64_t> x, Ints x_lengths, std::vector<int64_t> y, Ints y_lengths,
               bool normalize) {
  TestNode node("EditDistance", 1, "anynpu");
  const auto count = [](const auto& list) { return static_cast<int64_t>(list.size()); };
  node.ints({count(x)}, x).ints({count(x_lengths)}, x_lengths);
  node.ints({count(y)}, y).ints({count(y_lengths)}, y_lengths);
  return node.attr("normalize", int64_t{normalize});
}

TEST(EditDistance, CountsInsertionsRemovalsAndReplacements) {
  // kitten -> sitting, flaw -> lawn, and two that are equal.
  const auto y = edits({11, 9, 20, 20, 5, 14, 6, 12, 1, 23, 7}, {6, 4, 1},
                       {19, 9, 20, 20, 9, 14, 7, 12, 1, 23, 14, 7}, {7, 4, 1}, false)
                     .evaluate();
  EXPECT_EQ(y, (std::vector<float>{3, 2, 0}));
}

TEST(EditDistance, IsDividedByTheLengthOfTheTruth) {
  const auto y = edits({1, 2, 5}, {2, 1, 0, 0}, {1, 3, 4, 8, 9}, {4, 0, 1, 0}, true).evaluate();
  EXPECT_EQ(y[0], 0.75f);
  EXPECT_TRUE(std::isinf(y[1])) << "no truth";
  EXPECT_EQ(y[2], 1);
  EXPECT_EQ(y[3], 0) << "nothing for nothing";
}

TEST(EditDistance, LengthsThatDoNotFitAreNamed) {
  const auto said = [](TestNode node) {
    const auto context = node.infer();
    return context.ok() ? evaluate(*context).status().message() : context.status().message();
  };
  EXPECT_NE(said(edits({1}, {2}, {1}, {1}, true)).find("2 elements; 1 are left"),
            std::string::npos);
  EXPECT_NE(said(edits({1}, {-1}, {1}, {1}, true)).find("-1 elements"), std::string::npos);
  EXPECT_NE(said(edits({1}, {1}, {1}, {1, 0}, true)).find("the same shape"), std::string::npos);
}

}  // namespace
}  // namespace anynpu::ops::loss
