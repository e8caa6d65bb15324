// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/test_node.h"

namespace anynpu::ops::elementwise {
namespace {

TEST(ToComplex, PutsPartsBesideEachOtherAndBroadcasts) {
  EXPECT_EQ(
      TestNode("ToComplex", 1, "anynpu").floats({2, 1}, {1, 2}).floats({2}, {5, 6}).evaluate(),
      (std::vector<float>{1, 5, 1, 6, 2, 5, 2, 6}));
}

TEST(ToComplex, TakesAngles) {
  const auto y = TestNode("ToComplex", 1, "anynpu")
                     .floats({1}, {2})
                     .floats({1}, {static_cast<float>(M_PI / 2)})
                     .attr("polar", int64_t{1})
                     .evaluate();
  EXPECT_NEAR(y[0], 0, 1e-6);
  EXPECT_NEAR(y[1], 2, 1e-6);
}

TEST(ComplexCast, GivesRealNumbersNoImaginaryPart) {
  EXPECT_EQ(TestNode("ComplexCast", 1, "anynpu")
                .floats({2}, {1, -2})
                .attr("to", static_cast<int64_t>(DType::c64))
                .evaluate(),
            (std::vector<float>{1, 0, -2, 0}));
}

}  // namespace
}  // namespace anynpu::ops::elementwise
