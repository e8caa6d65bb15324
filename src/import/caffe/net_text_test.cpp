// SPDX-License-Identifier: Apache-2.0
#include "import/caffe/net_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/caffe/net_for_test.h"

namespace anynpu::caffe {
namespace {

TEST(CaffeNetText, OldNamesAndNumbersOfTypes) {
  EXPECT_EQ(type_of_old_name("INNER_PRODUCT"), "InnerProduct");
  EXPECT_EQ(type_of_old_name("4"), "Convolution");
  EXPECT_EQ(type_of_old_name("MYSTERY"), "");
}

TEST(CaffeNetText, LayersOfTheTestPhaseAreRead) {
  const auto net = read_net(kNet, "net.prototxt");
  ASSERT_TRUE(net.ok()) << net.status().to_string();
  EXPECT_EQ(net->name, "net");
  ASSERT_EQ(net->layers.size(), 4u) << "the Dropout is for training";
  EXPECT_EQ(net->layers[1].type, "Convolution");
  EXPECT_EQ(net->layers[0].in_shapes[0], (Shape{1, 2, 4, 4}));
}

TEST(CaffeNetText, TheOldFormIsReadAndTheOldestRefused) {
  const auto old = read_net(
      "input: 'x' input_dim: 1 input_dim: 3 layers { name: 'r' type: RELU bottom: 'x' top: 'y' }",
      "net.prototxt");
  ASSERT_TRUE(old.ok()) << old.status().to_string();
  EXPECT_EQ(old->layers.back().type, "ReLU");
  EXPECT_FALSE(read_net("layers { layer { name: 'r' type: 'relu' } }", "net.prototxt").ok());
}

}  // namespace
}  // namespace anynpu::caffe
