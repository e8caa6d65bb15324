// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/test_node.h"

namespace anynpu::ops {
namespace {

using Floats = std::vector<float>;

TEST(Einsum, MultipliesTransposesAndSums) {
  const auto einsum = [](const char* equation) {
    return TestNode("Einsum")
        .floats({2, 2}, {1, 2, 3, 4})
        .attr("equation", std::string(equation))
        .evaluate();
  };
  EXPECT_EQ(einsum("ij->ji"), (Floats{1, 3, 2, 4}));
  EXPECT_EQ(einsum("ii->i"), (Floats{1, 4}));
  EXPECT_EQ(einsum("ij"), (Floats{1, 2, 3, 4}));
  EXPECT_EQ(einsum("...j->..."), (Floats{3, 7}));
  EXPECT_NE(TestNode("Einsum")
                .shape({2, 2})
                .attr("equation", std::string("ijk->i"))
                .shape_text()
                .find("'ijk'"),
            std::string::npos);
}

TEST(Det, ExchangesRows) {
  EXPECT_EQ(TestNode("Det").floats({2, 2}, {0, 2, 3, 1}).evaluate(), (Floats{-6}));
}

TEST(NegativeLogLikelihoodLoss, WeighsAndIgnores) {
  EXPECT_EQ(TestNode("NegativeLogLikelihoodLoss")
                .floats({2, 2}, {-1, -2, -3, -4})
                .ints({1, 0})
                .attr("ignore_index", int64_t{0})
                .evaluate(),
            (Floats{2}));
}

TEST(LpPool, TakesTheNormOfEachWindow) {
  EXPECT_EQ(TestNode("LpPool").floats({1, 1, 2}, {3, 4}).attr("kernel_shape", Ints{2}).evaluate(),
            (Floats{5}));
}

TEST(GRU, StartsFromItsState) {
  // Zero weights: the update gate is 1/2 and the candidate 0, so the state halves.
  TestNode node("GRU", 14);
  node.floats({1, 1, 1}, {1})
      .floats({1, 3, 1}, {0, 0, 0})
      .floats({1, 3, 1}, {0, 0, 0})
      .absent()
      .absent()
      .floats({1, 1, 1}, {8});
  EXPECT_EQ(node.evaluate(), (Floats{4}));
}

TEST(DFT, OfAConstantHasOneBin) {
  const auto y = TestNode("DFT", 17).floats({1, 2, 1}, {1, 1}).evaluate();
  ASSERT_EQ(y.size(), 4u);
  EXPECT_EQ(y[0], 2);
  for (size_t i = 1; i < 4; ++i) EXPECT_NEAR(y[i], 0, 1e-12) << i;
}

}  // namespace
}  // namespace anynpu::ops
