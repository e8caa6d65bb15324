// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "ops/elementwise/special_math.h"
#include "ops/test_node.h"

namespace anynpu::ops::elementwise {
namespace {

TEST(SpecialMath, HasTheValuesOfTables) {
  EXPECT_NEAR(psi(1), -0.5772156649015329, 1e-14);
  EXPECT_NEAR(psi(-0.5), 0.03648997397857652, 1e-13);
  EXPECT_NEAR(erf_inverse(0.5), 0.4769362762044699, 1e-15);
  EXPECT_NEAR(erf_inverse(-0.999), -2.326753765513525, 1e-13);
  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-13);
  EXPECT_NEAR(dawson(1), 0.5380795069127684, 1e-12);
  EXPECT_NEAR(dawson(-0.1), -0.09933599239785286, 1e-14);
  EXPECT_NEAR(dilogarithm(2), -0.8224670334241132, 1e-13);
  EXPECT_NEAR(dilogarithm(0.1), 1.2997147230049588, 1e-13);
  EXPECT_NEAR(fresnel_sine(1), 0.4382591473903548, 1e-13);
  EXPECT_NEAR(fresnel_cosine(1), 0.7798934003768228, 1e-13);
  EXPECT_NEAR(fresnel_sine(-4), -0.4205157542469284, 1e-8);
  EXPECT_NEAR(hurwitz_zeta(2, 1), 1.6449340668482264, 1e-13);
  EXPECT_NEAR(polygamma(1, 1), 1.6449340668482264, 1e-13);
  EXPECT_NEAR(gamma_lower(2, 1), 0.2642411176571153, 1e-14);
  EXPECT_NEAR(gamma_upper(0.5, 4), 0.004677734981047266, 1e-14);
  EXPECT_NEAR(beta_incomplete(2, 3, 0.4), 0.5248, 1e-13);
  EXPECT_NEAR(bessel_i0e(1), 0.4657596075936404, 1e-14);
}

TEST(SpecialMath, SaysNanOutsideOfTheDomain) {
  for (const double value :
       {erf_inverse(1.5), normal_quantile(-0.1), dilogarithm(-1), psi(-2), hurwitz_zeta(0.5, 1),
        gamma_lower(-1, 1), beta_incomplete(0, 1, 0.5), bessel_k(0, -1), polygamma(0.5, 1)}) {
    EXPECT_TRUE(std::isnan(value));
  }
}

TEST(FunctionRows, DivideWithARuleForZero) {
  const auto quotients =
      TestNode("DivNoNan", 1, "anynpu").floats({3}, {1, 0, 6}).floats({3}, {0, 0, 3}).evaluate();
  EXPECT_EQ(quotients[0], 0);
  EXPECT_EQ(quotients[1], 0);
  EXPECT_EQ(quotients[2], 2);
  const auto floors =
      TestNode("FloorDiv", 1, "anynpu").floats({2}, {-7, 7}).floats({}, {3}).evaluate();
  EXPECT_EQ(floors[0], -3);
  EXPECT_EQ(floors[1], 2);
}

TEST(FunctionRows, HaveTheShapeOfTheBroadcastOperands) {
  EXPECT_EQ(TestNode("Igamma", 1, "anynpu").shape({2, -1}).shape({3, 1, 1}).shape_text(), "3x2x?");
}

using Floats = std::vector<float>;

TestNode node(const char* name) { return TestNode(name, 1, "anynpu"); }

TEST(FunctionRows, ValuesThatOneCanCheck) {
  EXPECT_EQ(node("FloorDivide").floats({3}, {7, -7, 7}).floats({3}, {2, 2, -2}).evaluate(),
            (Floats{3, -4, -4}));
}

TEST(FunctionRows, WholeNumbersDivideWithoutTrap) {
  const auto quotients = [](const char* name) {
    TestNode divide = node(name);  // the context reads its operands
    const auto context = divide.ints({4}, {-7, 7, INT64_MIN, 5}).ints({4}, {2, -2, -1, 0}).infer();
    const auto outputs = evaluate(*context);
    std::vector<int64_t> values(4);
    std::memcpy(values.data(), (*outputs)[0].data(), 32);
    return values;
  };
  EXPECT_EQ(quotients("FloorDivide"), (std::vector<int64_t>{-4, -4, INT64_MIN, 0}));
}

TEST(FunctionRows, GreatestDivisorsOfWholeNumbers) {
  TestNode node_of = node("Gcd");
  const auto context =
      node_of.ints({5}, {12, -18, 0, 0, INT64_MIN}).ints({5}, {18, 27, 5, 0, 6}).infer();
  const auto outputs = evaluate(*context);
  std::vector<int64_t> values(5);
  std::memcpy(values.data(), (*outputs)[0].data(), 40);
  EXPECT_EQ(values, (std::vector<int64_t>{6, 9, 5, 0, 2}));
}

// A gradient is the slope of its function, measured.
TEST(FunctionRows, GradientsAreTheSlopesOfTheirFunctions) {
  struct Pair {
    const char *function, *gradient;
  };
  const float step = 1e-2f;
  for (const Pair& pair : {Pair{"SoftMarginLoss", "SoftMarginLossGrad"}}) {
    for (const float x : {0.2f, 0.45f, 0.8f}) {
      const auto value = [&](float at) {
        return node(pair.function).floats({1}, {at}).floats({1}, {0.6f}).evaluate()[0];
      };
      const float slope = (value(x + step) - value(x - step)) / (2 * step);
      const float got =
          node(pair.gradient).floats({1}, {3}).floats({1}, {x}).floats({1}, {0.6f}).evaluate()[0];
      EXPECT_NEAR(got, 3 * slope, 2e-2) << pair.gradient << " at " << x;
    }
  }
}

}  // namespace
}  // namespace anynpu::ops::elementwise
