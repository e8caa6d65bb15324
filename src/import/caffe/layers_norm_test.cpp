// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/caffe/net_for_test.h"

namespace anynpu::caffe {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(CaffeNorm, EltwiseAddsMultipliesOrTakesTheLargest) {
  EXPECT_THAT(import_layer("type: 'Eltwise' bottom: 'x'").ops, ElementsAre("Add"));
  EXPECT_THAT(import_layer("type: 'Eltwise' bottom: 'x' eltwise_param { operation: MAX }").ops,
              ElementsAre("Max"));
}

TEST(CaffeNorm, SoftmaxStandsAtAxisOneUnlessItSaysOtherwise) {
  EXPECT_THAT(import_layer("type: 'Softmax'").ops, ElementsAre("Softmax"));
}

TEST(CaffeNorm, AnLrnAcrossChannelsIsOneOperator) {
  EXPECT_THAT(import_layer("type: 'LRN'").ops, ElementsAre("LRN"));
  EXPECT_THAT(
      import_layer("type: 'LRN' lrn_param { norm_region: WITHIN_CHANNEL local_size: 3 }").ops,
      Contains("AveragePool"));
}

TEST(CaffeNorm, AScaleWithoutWeightsIsRefused) {
  EXPECT_THAT(message_about("type: 'Scale'"), HasSubstr("'l'"));
}

}  // namespace
}  // namespace anynpu::caffe
