// SPDX-License-Identifier: Apache-2.0
#include "ops/test_node.h"

namespace anynpu::ops::norm {
namespace {

TEST(BatchNormalization, NormalisesEachChannel) {
  EXPECT_EQ(TestNode("BatchNormalization", 15)
                .floats({1, 2, 1, 2}, {1, 3, 10, 20})
                .floats({2}, {1, 2})
                .floats({2}, {0, 5})
                .floats({2}, {2, 10})
                .floats({2}, {1, 4})
                .attr("epsilon", 0.0f)
                .evaluate(),
            (std::vector<float>{-1, 1, 5, 15}));
}

TEST(BatchNormalization, AnInputOfOneDimensionHasOneChannel) {
  for (const int64_t training : {0, 1}) {
    EXPECT_EQ(TestNode("BatchNormalization", 15)
                  .floats({2}, {1, 3})
                  .floats({1}, {2})
                  .floats({1}, {5})
                  .floats({1}, {2})
                  .floats({1}, {1})
                  .attr("epsilon", 0.0f)
                  .attr("training_mode", training)
                  .evaluate(),
              (std::vector<float>{3, 7}));
  }
}

TEST(BatchNormalization, InTrainingModeTheMomentsAreThoseOfTheInput) {
  EXPECT_EQ(TestNode("BatchNormalization", 15)
                .floats({2, 2, 1}, {1, 10, 3, 30})
                .floats({2}, {1, 2})
                .floats({2}, {0, 5})
                .floats({2}, {7, 7})
                .floats({2}, {7, 7})
                .attr("epsilon", 0.0f)
                .attr("training_mode", int64_t{1})
                .evaluate(),
            (std::vector<float>{-1, 3, 1, 7}));
}

TEST(BatchNormalization, EveryKernelAgreesWithTheReference) {
  check_cases({"BatchNormalization shape=2x5x3x3,5,5,5,5 epsilon=4 opset=9",
               "BatchNormalization shape=2x5,5,5,5,5 epsilon=4 opset=15 dtype=float16"},
              2);
}

}  // namespace
}  // namespace anynpu::ops::norm
