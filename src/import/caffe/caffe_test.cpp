// SPDX-License-Identifier: Apache-2.0
#include "import/caffe/caffe.h"

#include <gtest/gtest.h>

#include <random>

#include "base/protowire.h"
#include "import/caffe/net_text.h"

namespace anynpu::caffe {
namespace {

constexpr const char* kNet = R"(
name: "net"
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 2 dim: 4 dim: 4 } } }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv"
        convolution_param { num_output: 3 kernel_size: 3 bias_term: false } }
layer { name: "relu" type: "ReLU" bottom: "conv" top: "conv" }
layer { name: "drop" type: "Dropout" bottom: "conv" top: "conv" include { phase: TRAIN } }
layer { name: "pool" type: "Pooling" bottom: "conv" top: "pool" pooling_param { global_pooling: true } }
)";

std::string weights_of(const std::string& layer, const Shape& shape) {
  WireWriter dims;
  dims.packed(1, std::span<const int64_t>(shape));
  const std::vector<float> data(static_cast<size_t>(element_count(shape)), 0.5f);
  WireWriter blob;
  blob.message(7, dims);
  blob.packed(5, std::span<const float>(data));
  WireWriter body;
  body.text(1, layer);
  body.message(7, blob);
  WireWriter net;
  net.message(100, body);
  return net.take();
}

Result<graph::Graph> import_text(std::string_view text, const std::string& weights,
                                 const InputShapes& shapes = {}) {
  return import_memory(text, std::as_bytes(std::span(weights)), shapes);
}

TEST(Caffe, LayersBecomeNodesWithTheirNames) {
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

TEST(Caffe, AnOpenBatchStaysOpen) {
  const InputShapes shapes = {{"data", {-1, 2, 8, 8}}};
  const auto graph = import_text(kNet, weights_of("conv", {3, 2, 3, 3}), shapes);
  ASSERT_TRUE(graph.ok()) << graph.status().to_string();
  EXPECT_EQ(graph->values[static_cast<size_t>(graph->outputs[0])].shape, (Shape{-1, 3, 1, 1}));
}

TEST(Caffe, WeightsOfAnotherNetAreRefused) {
  const auto other = import_text(kNet, weights_of("conv", {3, 2, 5, 5}));
  EXPECT_EQ(other.status().code(), Code::shape_mismatch);
  const auto absent = import_text(kNet, weights_of("other", {1}));
  EXPECT_EQ(absent.status().code(), Code::not_found);
  const auto none = import_text(kNet, "");
  EXPECT_EQ(none.status().code(), Code::invalid_argument);
}

TEST(Caffe, OldNamesAndNumbersOfTypes) {
  EXPECT_EQ(type_of_old_name("INNER_PRODUCT"), "InnerProduct");
  EXPECT_EQ(type_of_old_name("4"), "Convolution");
  EXPECT_EQ(type_of_old_name("MYSTERY"), "");
}

TEST(Caffe, AbsurdExtentsAreRefusedBeforeMemoryIsTaken) {
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

TEST(Caffe, SurvivesDamagedFiles) {
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

}  // namespace
}  // namespace anynpu::caffe
