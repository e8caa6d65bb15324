// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/caffe/net_for_test.h"

namespace anynpu::caffe {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(CaffeActivation, SimpleLayersAreOneOperator) {
  EXPECT_THAT(import_layer("type: 'ReLU'").ops, ElementsAre("Relu"));
  EXPECT_THAT(import_layer("type: 'Sigmoid'").ops, ElementsAre("Sigmoid"));
  EXPECT_THAT(import_layer("type: 'TanH'").ops, ElementsAre("Tanh"));
  EXPECT_THAT(import_layer("type: 'BNLL'").ops, ElementsAre("Softplus"));
}

TEST(CaffeActivation, ASlopeMakesALeakyRelu) {
  EXPECT_THAT(import_layer("type: 'ReLU' relu_param { negative_slope: 0.1 }").ops,
              ElementsAre("LeakyRelu"));
}

TEST(CaffeActivation, APowerLeavesOutWhatDoesNothing) {
  EXPECT_THAT(import_layer("type: 'Power' power_param { power: 3 }").ops, ElementsAre("Pow"));
  EXPECT_THAT(import_layer("type: 'Power' power_param { scale: 2 shift: 1 }").ops,
              ElementsAre("Mul", "Add"));
}

}  // namespace
}  // namespace anynpu::caffe
