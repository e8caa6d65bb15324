// SPDX-License-Identifier: Apache-2.0
#include "import/caffe/builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/caffe/net_for_test.h"

namespace anynpu::caffe {
namespace {

TEST(CaffeBuilder, WeightsOfAnotherNetAreRefused) {
  const auto other = import_text(kNet, weights_of("conv", {3, 2, 5, 5}));
  EXPECT_EQ(other.status().code(), Code::shape_mismatch);
  const auto absent = import_text(kNet, weights_of("other", {1}));
  EXPECT_EQ(absent.status().code(), Code::not_found);
  const auto none = import_text(kNet, "");
  EXPECT_EQ(none.status().code(), Code::invalid_argument);
}

TEST(CaffeBuilder, AbsurdExtentsAreRefusedBeforeMemoryIsTaken) {
  const auto net = [](const std::string& dims, const std::string& layer) {
    return "input: \"x\" input_shape { " + dims +
           " }\nlayer { name: \"l\" bottom: \"x\" top: \"y\" " + layer + " }";
  };
  const std::string huge = "dim: 1 dim: 1099511627776 dim: 4 dim: 4";
  const std::string wide = "dim: 1 dim: 4000000000 dim: 4 dim: 4";
  const std::string weights = weights_of("l", {1});
  for (const char* layer : {"type: 'BatchNorm'", "type: 'Scale'", "type: 'PReLU'", "type: 'Im2col'",
                            "type: 'Im2col' convolution_param { kernel_size: 4096 pad: 4096 }",
                            "type: 'Reorg' reorg_param { stride: 4096 }"}) {
    EXPECT_FALSE(import_text(net(huge, layer), weights).ok()) << layer;
    EXPECT_FALSE(import_text(net(wide, layer), weights).ok()) << layer;
  }
  EXPECT_FALSE(import_text(net(huge, "type: 'Normalize'"), weights).ok());
}

}  // namespace
}  // namespace anynpu::caffe
