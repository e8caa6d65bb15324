// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/caffe/net_for_test.h"
#include "import/caffe/net_text.h"

namespace anynpu::caffe {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

Layer layer_with(const std::string& param) {
  auto net = read_net(one_layer("type: 'Pooling' " + param), "net.prototxt");
  EXPECT_TRUE(net.ok()) << net.status().to_string();
  return net->layers.back();
}

TEST(CaffeParams, AreReadOrDefault) {
  const Layer layer = layer_with("pooling_param { kernel_size: 3 pool: AVE global_pooling: true }");
  Params params(layer, "pooling_param");
  EXPECT_EQ(params.integer("kernel_size", 1), 3);
  EXPECT_EQ(params.integer("stride", 1), 1);
  EXPECT_EQ(params.word("pool", "MAX"), "AVE");
  EXPECT_TRUE(params.flag("global_pooling", false));
  EXPECT_TRUE(params.has("kernel_size"));
  EXPECT_FALSE(params.has("pad"));
  EXPECT_TRUE(params.status().ok());
}

TEST(CaffeParams, TheFirstMistakeIsKept) {
  const Layer layer = layer_with("pooling_param { kernel_size: three pad: -1 }");
  Params params(layer, "pooling_param");
  EXPECT_EQ(params.integer("kernel_size", 7), 7);
  params.integer("pad", 0);
  EXPECT_THAT(params.status().message(), HasSubstr("'three'"));
}

}  // namespace
}  // namespace anynpu::caffe
