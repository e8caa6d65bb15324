// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/test_node.h"

namespace anynpu::ops::elementwise {
namespace {

using Floats = std::vector<float>;

TestNode node(const char* name) { return TestNode(name, 1, "anynpu"); }

TEST(FrameworkFunctions, ValuesThatOneCanCheck) {
  EXPECT_EQ(node("FloorDivide").floats({3}, {7, -7, 7}).floats({3}, {2, 2, -2}).evaluate(),
            (Floats{3, -4, -4}));
}

TEST(FrameworkFunctions, WholeNumbersDivideWithoutTrap) {
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

// A gradient is the slope of its function, measured.
TEST(FrameworkFunctions, GradientsAreTheSlopesOfTheirFunctions) {
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
