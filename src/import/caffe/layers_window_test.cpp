// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/caffe/net_for_test.h"

namespace anynpu::caffe {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(CaffeWindow, PoolingCountsThePartWindows) {
  const Imported made = import_layer("type: 'Pooling' pooling_param { kernel_size: 3 stride: 2 }");
  EXPECT_THAT(made.ops, Contains("MaxPool"));
  EXPECT_EQ(made.shape, (Shape{1, 4, 4, 4})) << "ceil, as Caffe rounds";
}

TEST(CaffeWindow, AConvolutionHasItsWeights) {
  const Imported made = import_layer(
      "type: 'Convolution' convolution_param { num_output: 2 kernel_size: 3 bias_term: false }",
      "1 4 8 8", weights_of("l", {2, 4, 3, 3}));
  EXPECT_THAT(made.ops, ElementsAre("Conv"));
  EXPECT_EQ(made.shape, (Shape{1, 2, 6, 6}));
}

TEST(CaffeWindow, AConvolutionWithoutWeightsIsRefused) {
  EXPECT_THAT(
      message_about("type: 'Convolution' convolution_param { num_output: 2 kernel_size: 3 }"),
      HasSubstr("'l'"));
}

}  // namespace
}  // namespace anynpu::caffe
