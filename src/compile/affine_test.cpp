// SPDX-License-Identifier: Apache-2.0
#include "compile/affine.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "compile/graph_for_test.h"

namespace anynpu::compile {
namespace {

using graph::ValueId;
using Doubles = std::vector<double>;

class AffineTest : public PassTest {
 protected:
  ValueId list(std::vector<float> elements, Shape shape) {
    return add_constant(g.graph, "list", shape, std::move(elements));
  }
  // What `op` does to its first input of 2 x 2 x 3 with channels at `axis`.
  std::optional<Affine> read(const std::string& op, ValueId constant, size_t axis,
                             bool first = true) {
    const ValueId x = g.input("x", {2, 2, 3});
    node(op, first ? std::vector{x, constant} : std::vector{constant, x});
    return read_affine(g.graph, last(), x, {axis == 1 ? size_t{2} : size_t{3}, 3, axis});
  }
};

TEST_F(AffineTest, ArithmeticWithAConstantForEachChannel) {
  const auto of_middle = read("Mul", list({2, 4}, {2, 1}), 1);
  ASSERT_TRUE(of_middle);
  EXPECT_EQ(of_middle->factor, (Doubles{2, 4}));
  EXPECT_EQ(of_middle->shift, (Doubles{0, 0}));
  const auto of_last = read("Sub", list({1, 2, 3}, {3}), 2, false);
  ASSERT_TRUE(of_last);  // constant - x
  EXPECT_EQ(of_last->factor, (Doubles{-1, -1, -1}));
  EXPECT_EQ(of_last->shift, (Doubles{1, 2, 3}));
  EXPECT_EQ(read("Div", scalar(4), 2)->factor, (Doubles{0.25, 0.25, 0.25}));
  EXPECT_EQ(read("Add", scalar(4), 1)->shift, (Doubles{4, 4}));
}

TEST_F(AffineTest, OtherAxesAndOperatorsAreNone) {
  EXPECT_FALSE(read("Mul", list({1, 2, 3}, {3}), 1));
  EXPECT_FALSE(read("Mul", list({1, 2}, {2, 1}), 2));
  EXPECT_FALSE(read("Div", scalar(4), 1, false));  // constant / x
  EXPECT_FALSE(read("Div", scalar(0), 1));
  EXPECT_FALSE(read("Pow", scalar(2), 1));
}

TEST_F(AffineTest, NumbersBeyondFloatAreRefused) {
  float rounded = 0;
  EXPECT_TRUE(to_finite_float(1e38, rounded));
  EXPECT_EQ(rounded, 1e38f);
  EXPECT_FALSE(to_finite_float(1e39, rounded));
}

}  // namespace
}  // namespace anynpu::compile
