// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/test_node.h"

namespace anynpu::ops::rnn {
namespace {

// One step with one hidden unit: the chain rule by hand.
TEST(LstmGateGrad, OfOneStepIsTheChainRule) {
  const float i = 0.6f, j = 0.3f, f = 0.7f, o = 0.4f, before = 0.5f,
              t = std::tanh(f * before + i * j);
  TestNode node("LstmGateGrad", 1, "anynpu");
  node.floats({4, 1}, {1, 2, 3, 4})
      .floats({1, 1}, {before})
      .floats({1, 1, 1}, {f * before + i * j});
  node.floats({1, 1, 1}, {2}).floats({1, 1}, {1}).floats({1, 1}, {0.25f});
  for (float gate : {i, j, f, o, t}) node.floats({1, 1, 1}, {gate});
  const float g = 3, cell = 0.25f + g * o * (1 - t * t);
  const auto gates = node.evaluate();
  ASSERT_EQ(gates.size(), 4u);
  EXPECT_NEAR(gates[0], cell * j * i * (1 - i), 1e-6);
  EXPECT_NEAR(gates[1], cell * i * (1 - j * j), 1e-6);
  EXPECT_NEAR(gates[2], cell * before * f * (1 - f), 1e-6);
  EXPECT_NEAR(gates[3], g * t * o * (1 - o), 1e-6);
}

}  // namespace
}  // namespace anynpu::ops::rnn
