// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/test_node.h"

namespace anynpu::ops {
namespace {

TEST(Softmax, NormalisesTheLastAxisFromOpset13) {
  const auto y = TestNode("Softmax", 13).floats({2, 2}, {0, 0, 1000, 1000}).evaluate();
  for (float value : y) EXPECT_FLOAT_EQ(value, 0.5f);
}

TEST(Softmax, FlattensAtTheAxisUpToOpset12) {
  for (float value : TestNode("Softmax", 12).floats({1, 2, 2}, {3, 3, 3, 3}).evaluate()) {
    EXPECT_FLOAT_EQ(value, 0.25f);
  }
}

TEST(LogSoftmax, IsTheLogarithm) {
  const auto y = TestNode("LogSoftmax", 13).floats({1, 4}, {1, 1, 1, 1}).evaluate();
  EXPECT_FLOAT_EQ(y[0], std::log(0.25f));
}

TEST(Softmax, RefusesAnAxisOutsideTheTensor) {
  EXPECT_NE(
      TestNode("Softmax", 13).shape({2, 3}).attr("axis", int64_t{2}).shape_text().find("axis is 2"),
      std::string::npos);
}

TEST(Softmax, EveryKernelAgreesWithTheReference) {
  check_cases({"Softmax shape=8x1000", "Softmax shape=2x5x3x4 axis=1",
               "Softmax shape=2x5x3 opset=11", "Softmax shape=4x7 dtype=float16",
               "Softmax shape=0x7", "Softmax shape=3x0", "Softmax shape=3x17x1",
               "Softmax shape=2x3x129", "Softmax shape=1x2500", "Softmax shape=scalar"},
              20);
}

}  // namespace
}  // namespace anynpu::ops
