// SPDX-License-Identifier: Apache-2.0
#include "ops/test_node.h"

namespace anynpu::ops::rnn {
namespace {

TEST(LinearRecurrence, MultipliesWhatWasBeforeAndAdds) {
  TestNode node("LinearRecurrence", 1, "anynpu");
  node.floats({3, 2}, {0.5f, 1, 2, 0, 1, 3})
      .floats({3, 2}, {1, 2, 3, 4, 5, 6})
      .floats({2}, {4, -1});
  EXPECT_EQ(node.evaluate(), (std::vector<float>{3, 1, 9, 4, 14, 18}));
}

TEST(LinearRecurrence, TakesAFirstStateOfTheShapeOfAStep) {
  TestNode node("LinearRecurrence", 1, "anynpu");
  node.floats({3, 2}, {1, 1, 1, 1, 1, 1}).floats({3, 2}, {1, 1, 1, 1, 1, 1}).floats({3}, {1, 1, 1});
  EXPECT_NE(node.shape_text().find("without the first axis"), std::string::npos);
}

}  // namespace
}  // namespace anynpu::ops::rnn
