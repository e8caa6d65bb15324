// SPDX-License-Identifier: Apache-2.0
#include "ops/test_node.h"

namespace anynpu::ops::linalg {
namespace {

using Floats = std::vector<float>;

TEST(Det, ExchangesRows) {
  EXPECT_EQ(TestNode("Det").floats({2, 2}, {0, 2, 3, 1}).evaluate(), (Floats{-6}));
}

}  // namespace
}  // namespace anynpu::ops::linalg
