// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "import/caffe/caffe.h"
#include "import/caffe/net_for_test.h"

namespace anynpu::caffe {
namespace {

TEST(CaffeNet, LayersBecomeNodesWithTheirNames) {
  const auto graph = import_text(kNet, weights_of("conv", {3, 2, 3, 3}));
  ASSERT_TRUE(graph.ok()) << graph.status().to_string();
  ASSERT_EQ(graph->nodes.size(), 3u);
  EXPECT_EQ(graph->nodes[0].op, "Conv");
  EXPECT_EQ(graph->nodes[0].name, "conv");
  EXPECT_EQ(graph->nodes[1].name, "relu");
  EXPECT_EQ(graph->nodes[2].op, "GlobalMaxPool");
  ASSERT_EQ(graph->outputs.size(), 1u);
  const auto value = [&](graph::ValueId id) { return graph->values[static_cast<size_t>(id)]; };
  EXPECT_EQ(value(graph->outputs[0]).name, "pool");
  EXPECT_EQ(value(graph->outputs[0]).shape, (Shape{1, 3, 1, 1}));
  // The value after the in-place layer has the name of the blob.
  EXPECT_EQ(value(graph->nodes[1].outputs[0]).name, "conv");
}

TEST(CaffeNet, AnOpenBatchStaysOpen) {
  const InputShapes shapes = {{"data", {-1, 2, 8, 8}}};
  const auto graph = import_text(kNet, weights_of("conv", {3, 2, 3, 3}), shapes);
  ASSERT_TRUE(graph.ok()) << graph.status().to_string();
  EXPECT_EQ(graph->values[static_cast<size_t>(graph->outputs[0])].shape, (Shape{-1, 3, 1, 1}));
}

TEST(CaffeNet, SurvivesDamagedFiles) {
  const std::string text = kNet, weights = weights_of("conv", {3, 2, 3, 3});
  std::mt19937 random(2);
  const auto damage = [&](std::string bytes) {
    for (int i = 0; i < 2; ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
    return random() % 4 == 0 ? bytes.substr(0, random() % bytes.size()) : bytes;
  };
  int refused = 0;
  for (int round = 0; round < 600; ++round) {
    refused += import_text(damage(text), weights).ok() ? 0 : 1;
    refused += import_text(text, damage(weights)).ok() ? 0 : 1;
  }
  EXPECT_GT(refused, 300);
}

TEST(CaffeNet, NetsThatCannotBeReadAreNamedWithTheirPlaces) {
  const auto message = [](std::string_view text) {
    return import_memory(text, {}, {}, {}, "net.prototxt").status().to_string();
  };
  EXPECT_NE(message("").find("net.prototxt:1:1: the net has no layers for the TEST phase"),
            std::string::npos);
  EXPECT_NE(message("layer: 3").find("net.prototxt:1:1: 'layer' is '3'; expected a message"),
            std::string::npos);
  EXPECT_NE(message("\nlayer { name: 'a' }")
                .find("net.prototxt:2:1: layer 'a' has no type; add one, such as type: "),
            std::string::npos);
  EXPECT_NE(message("input: 'x' input: 'x' input_shape { dim: 1 } input_shape { dim: 1 }")
                .find("input 'x' is there twice; give every input a name of its own"),
            std::string::npos);
  EXPECT_NE(message("layer { name: 'r' type: 'ReLU' bottom: 'q' top: 'r' }")
                .find("bottom 'q' is the top of no layer before it; correct the name"),
            std::string::npos);
  EXPECT_NE(message("layer { name: 'd' type: 'Input' top: 'd' }")
                .find("input 'd' has no shape in the prototxt; give it with --input_shape"),
            std::string::npos);
}

TEST(CaffeNet, LayersThatAreNotThereComeWithTheirPlaces) {
  const std::string message = message_about("type: 'Magic' }\nlayer { name: 'd' type: 'Data'");
  EXPECT_NE(message.find("2 layers of the net are not supported"), std::string::npos) << message;
  EXPECT_NE(message.find("net.prototxt:2:1: Magic 'l': layers of this type are not in this"),
            std::string::npos)
      << message;
  EXPECT_NE(message.find("net.prototxt:3:1: Data 'd': it reads training data"), std::string::npos)
      << message;
}

}  // namespace
}  // namespace anynpu::caffe
