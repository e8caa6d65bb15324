// SPDX-License-Identifier: Apache-2.0
// Small .mindir files for the tests of their reader: one node after the other.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/protowire.h"
#include "import/mindspore/mindspore.h"

namespace anynpu::mindspore {

// Types of attributes in the file.
constexpr int64_t kReal = 1, kWhole = 7, kText = 8, kFlag = 9, kTensors = 19, kTuple = 20;

inline WireWriter tensor_message(const Shape& shape, int64_t type = 1,
                                 const std::vector<float>& values = {},
                                 const std::string& name = {}) {
  WireWriter out;
  out.packed(1, std::span<const int64_t>(shape));
  out.integer(2, type);
  if (!name.empty()) out.text(7, name);
  if (!values.empty()) out.bytes(9, std::as_bytes(std::span(values)));
  return out;
}

inline WireWriter whole_value(int64_t value, int64_t type = kWhole) {
  WireWriter out;
  out.text(1, "value");
  out.integer(3, value);
  out.integer(16, type);
  return out;
}
inline WireWriter real_value(float value) {
  WireWriter out;
  out.text(1, "value");
  out.real(2, value);
  out.integer(16, kReal);
  return out;
}
inline WireWriter list_value(const std::vector<int64_t>& values,
                             const std::string& name = "value") {
  WireWriter out;
  out.text(1, name);
  for (int64_t value : values) {
    WireWriter one;
    one.packed(10, std::span<const int64_t>(&value, 1));
    one.integer(16, kWhole);
    out.message(17, one);
  }
  out.integer(16, kTuple);
  return out;
}

// A file with one input x of `shape`; nodes are added in order and the last one is the output.
class MindirText {
 public:
  explicit MindirText(Shape shape) {
    WireWriter info;
    info.text(1, "net:x");
    info.message(2, tensor_message(shape));
    graph_.text(2, "net");
    graph_.message(5, info);
  }
  std::string constant(const std::string& name, const WireWriter& value) {
    WireWriter node;
    node.text(2, name);
    node.text(3, name);
    node.text(4, "Constant");
    node.message(5, value);
    graph_.message(1, node);
    return name;
  }
  std::string parameter(const std::string& name, const Shape& shape,
                        const std::vector<float>& values) {
    graph_.message(3, tensor_message(shape, 1, values, name));
    return name;
  }
  // `types` are those of the outputs; more than one make a tuple.
  std::string node(const std::string& primitive, const std::vector<std::string>& inputs,
                   const std::vector<WireWriter>& attributes = {},
                   const std::vector<int64_t>& types = {1}) {
    const std::string name = primitive + std::to_string(++count_);
    WireWriter prim, node, shape;
    prim.text(1, name);
    prim.text(2, primitive);
    for (const WireWriter& attribute : attributes) prim.message(3, attribute);
    primitives_.push_back(prim);
    for (const std::string& input : inputs) node.text(1, input);
    node.text(2, "net:" + name);
    node.text(3, "net:" + name);
    node.text(4, "REF::" + name);
    shape.text(1, "shape");
    for (int64_t type : types) {
      WireWriter one;
      one.message(12, tensor_message({}, type));
      one.integer(16, kTensors);
      if (types.size() > 1) shape.message(17, one);
      if (types.size() == 1) shape.message(12, tensor_message({}, type));
    }
    shape.integer(16, types.size() > 1 ? kTuple : kTensors);
    node.message(5, shape);
    node.text(7, "Default/" + name);
    graph_.message(1, node);
    return last_ = "net:" + name;
  }
  std::string text(const std::string& output = {}) const {
    WireWriter info, graph = graph_, file;
    info.text(1, output.empty() ? last_ : output);
    graph.message(6, info);
    file.text(1, "1.1");
    file.text(2, "MindSpore");
    file.message(7, graph);
    for (const WireWriter& primitive : primitives_) file.message(12, primitive);
    return file.take();
  }

 private:
  WireWriter graph_;
  std::vector<WireWriter> primitives_;
  std::string last_;
  int count_ = 0;
};

inline Result<graph::Graph> import_text(const std::string& text, const InputShapes& shapes = {}) {
  auto owner = std::make_shared<const std::string>(text);
  return import_memory(std::as_bytes(std::span(*owner)), owner, shapes);
}

// What is said about it; "no failure" when nothing is.
inline std::string failure_of(const std::string& text) {
  const auto graph = import_text(text);
  return graph.ok() ? "no failure" : graph.status().to_string();
}

// The operators it becomes, and the shape of output 0.
struct Imported {
  std::vector<std::string> ops;
  Shape shape;
  DType dtype = DType::undefined;
};
inline Imported import_net(const MindirText& net) {
  const auto graph = import_text(net.text());
  EXPECT_TRUE(graph.ok()) << graph.status().to_string();
  Imported made;
  if (!graph.ok()) return made;
  for (const graph::Node& node : graph->nodes) made.ops.push_back(node.op);
  const graph::Value& output = graph->values[static_cast<size_t>(graph->outputs[0])];
  made.shape = output.shape;
  made.dtype = output.dtype;
  return made;
}

}  // namespace anynpu::mindspore
