// SPDX-License-Identifier: Apache-2.0
#include "ops/test_node.h"

namespace anynpu::ops::loss {
namespace {

using Floats = std::vector<float>;

TEST(NegativeLogLikelihoodLoss, WeighsAndIgnores) {
  EXPECT_EQ(TestNode("NegativeLogLikelihoodLoss")
                .floats({2, 2}, {-1, -2, -3, -4})
                .ints({1, 0})
                .attr("ignore_index", int64_t{0})
                .evaluate(),
            (Floats{2}));
}

}  // namespace
}  // namespace anynpu::ops::loss
