// SPDX-License-Identifier: Apache-2.0
// Small nets and weights for the tests of the importer.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/protowire.h"
#include "import/caffe/caffe.h"

namespace anynpu::caffe {

inline constexpr const char* kNet = R"(
name: "net"
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 2 dim: 4 dim: 4 } } }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv"
        convolution_param { num_output: 3 kernel_size: 3 bias_term: false } }
layer { name: "relu" type: "ReLU" bottom: "conv" top: "conv" }
layer { name: "drop" type: "Dropout" bottom: "conv" top: "conv" include { phase: TRAIN } }
layer { name: "pool" type: "Pooling" bottom: "conv" top: "pool" pooling_param { global_pooling: true } }
)";

inline std::string weights_of(const std::string& layer, const Shape& shape) {
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

inline Result<graph::Graph> import_text(std::string_view text, const std::string& weights,
                                        const InputShapes& shapes = {}) {
  return import_memory(text, std::as_bytes(std::span(weights)), shapes);
}

// A net with an input of 1x4x8x8 (or `dims`) and, on line 2, one layer.
inline std::string one_layer(const std::string& layer, const std::string& dims = "1 4 8 8") {
  std::string text = "input: \"x\" input_shape {";
  for (size_t at = 0; at < dims.size();) {
    const size_t end = std::min(dims.find(' ', at), dims.size());
    text += " dim: " + dims.substr(at, end - at);
    at = end + 1;
  }
  text += " }\nlayer { name: \"l\" bottom: \"x\" top: \"y\" " + layer + " }\n";
  return text;
}

// What is said about it; "no failure" when nothing is.
inline std::string message_about(const std::string& layer, const std::string& dims = "1 4 8 8") {
  const auto graph = import_memory(one_layer(layer, dims), {}, {}, {}, "net.prototxt");
  return graph.ok() ? "no failure" : graph.status().to_string();
}

// The operators it becomes, and the shape of output 0.
struct Imported {
  std::vector<std::string> ops;
  Shape shape;
};
inline Imported import_layer(const std::string& layer, const std::string& dims = "1 4 8 8",
                             const std::string& weights = {}) {
  const auto graph = import_text(one_layer(layer, dims), weights);
  EXPECT_TRUE(graph.ok()) << graph.status().to_string();
  Imported made;
  if (!graph.ok()) return made;
  for (const graph::Node& node : graph->nodes) made.ops.push_back(node.op);
  made.shape = graph->values[static_cast<size_t>(graph->outputs[0])].shape;
  return made;
}

}  // namespace anynpu::caffe
