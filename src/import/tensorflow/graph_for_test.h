// SPDX-License-Identifier: Apache-2.0
// Small GraphDefs for the tests of the importer, written as TensorFlow writes them.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/protowire.h"
#include "import/tensorflow/tensorflow.h"

namespace anynpu::tensorflow {

// AttrValues.
struct TestAttr {
  std::string name;
  WireWriter value;
};
inline TestAttr int_of(std::string name, int64_t value) {
  TestAttr attr{std::move(name), {}};
  attr.value.integer(3, value);
  return attr;
}
inline TestAttr float_of(std::string name, float value) {
  TestAttr attr{std::move(name), {}};
  attr.value.real(4, value);
  return attr;
}
inline TestAttr flag_of(std::string name, bool value) {
  TestAttr attr{std::move(name), {}};
  attr.value.varint(5, value);
  return attr;
}
inline TestAttr text_of(std::string name, std::string_view value) {
  TestAttr attr{std::move(name), {}};
  attr.value.text(2, value);
  return attr;
}
inline TestAttr type_of(std::string name, int64_t number) {
  TestAttr attr{std::move(name), {}};
  attr.value.integer(6, number);
  return attr;
}
inline TestAttr ints_of(std::string name, const std::vector<int64_t>& values) {
  TestAttr attr{std::move(name), {}};
  WireWriter list;
  list.packed(3, values);
  attr.value.message(1, list);
  return attr;
}
inline TestAttr texts_of(std::string name, const std::vector<std::string>& values) {
  TestAttr attr{std::move(name), {}};
  WireWriter list;
  for (const std::string& value : values) list.text(2, value);
  attr.value.message(1, list);
  return attr;
}
inline TestAttr types_of(std::string name, const std::vector<int64_t>& types) {
  TestAttr attr{std::move(name), {}};
  WireWriter list;
  list.packed(6, types);
  attr.value.message(1, list);
  return attr;
}
inline TestAttr function_of(std::string name, std::string_view function) {
  TestAttr attr{std::move(name), {}};
  WireWriter list;
  list.text(1, function);
  attr.value.message(10, list);
  return attr;
}
inline WireWriter shape_message(const Shape& shape) {
  WireWriter message;
  for (int64_t extent : shape) {
    WireWriter dim;
    dim.integer(1, extent);
    message.message(2, dim);
  }
  return message;
}
inline TestAttr shape_of(std::string name, const Shape& shape) {
  TestAttr attr{std::move(name), {}};
  attr.value.message(7, shape_message(shape));
  return attr;
}
inline TestAttr unknown_shape_of(std::string name) {
  TestAttr attr{std::move(name), {}};
  WireWriter message;
  message.varint(3, 1);
  attr.value.message(7, message);
  return attr;
}

inline WireWriter node_message(const std::string& name, const std::string& op,
                               const std::vector<std::string>& inputs,
                               const std::vector<TestAttr>& attrs) {
  WireWriter node;
  node.text(1, name);
  node.text(2, op);
  for (const std::string& input : inputs) node.text(3, input);
  for (const TestAttr& attr : attrs) {
    WireWriter entry;
    entry.text(1, attr.name);
    entry.message(2, attr.value);
    node.message(5, entry);
  }
  return node;
}

inline TestAttr tensor_of(int64_t type, const Shape& shape, std::span<const std::byte> content) {
  WireWriter tensor;
  tensor.integer(1, type);
  tensor.message(2, shape_message(shape));
  tensor.bytes(4, content);
  TestAttr attr{"value", {}};
  attr.value.message(8, tensor);
  return attr;
}

class TestGraph {
 public:
  TestGraph& node(const std::string& name, const std::string& op,
                  const std::vector<std::string>& inputs = {},
                  const std::vector<TestAttr>& attrs = {}) {
    graph_.message(1, node_message(name, op, inputs, attrs));
    return *this;
  }
  TestGraph& input(const std::string& name, const Shape& shape, int64_t type = 1) {
    return node(name, "Placeholder", {}, {type_of("dtype", type), shape_of("shape", shape)});
  }
  TestGraph& floats(const std::string& name, const Shape& shape, std::vector<float> values = {}) {
    values.resize(static_cast<size_t>(element_count(shape)), values.empty() ? 0.5f : values.back());
    return node(name, "Const", {},
                {type_of("dtype", 1), tensor_of(1, shape, std::as_bytes(std::span(values)))});
  }
  TestGraph& ints(const std::string& name, const Shape& shape, const std::vector<int32_t>& values) {
    return node(name, "Const", {},
                {type_of("dtype", 3), tensor_of(3, shape, std::as_bytes(std::span(values)))});
  }
  // A function of the library: its arguments (name, type), its nodes and what it returns.
  TestGraph& function(const std::string& name,
                      const std::vector<std::pair<std::string, int64_t>>& arguments,
                      const std::vector<WireWriter>& nodes,
                      const std::vector<std::string>& results) {
    WireWriter signature, function, library;
    signature.text(1, name);
    const auto argument = [](const std::string& called, int64_t type) {
      WireWriter message;
      message.text(1, called);
      message.integer(3, type);
      return message;
    };
    for (const auto& [called, type] : arguments) signature.message(2, argument(called, type));
    for (size_t i = 0; i < results.size(); ++i) signature.message(3, argument(format("r{}", i), 1));
    function.message(1, signature);
    for (const WireWriter& node : nodes) function.message(3, node);
    for (size_t i = 0; i < results.size(); ++i) {
      WireWriter entry;
      entry.text(1, format("r{}", i));
      entry.text(2, results[i]);
      function.message(4, entry);
    }
    library.message(1, function);
    graph_.message(2, library);
    return *this;
  }

  const std::string& bytes() const { return graph_.data(); }

  Result<graph::Graph> import(const ImportOptions& options = {}) const {
    auto owner = std::make_shared<const std::string>(graph_.data());
    return import_memory(std::as_bytes(std::span(*owner)), owner, options);
  }
  // The operators it is lowered to, in order, without the Identity of each output; or the failure.
  std::string ops(const ImportOptions& options = {}) const {
    const auto graph = import(options);
    if (!graph.ok()) return graph.status().to_string();
    std::string text;
    for (const graph::Node& node : graph->nodes) {
      if (node.op != "Identity") text += (text.empty() ? "" : " ") + node.op;
    }
    return text;
  }
  // The shape of output 0, or the failure.
  std::string shape(const ImportOptions& options = {}) const {
    const auto graph = import(options);
    if (!graph.ok()) return graph.status().to_string();
    const graph::Value& value = graph->values[static_cast<size_t>(graph->outputs[0])];
    return value.has_shape ? to_string(value.shape) : "unknown";
  }

 private:
  WireWriter graph_;
};

// A node "y" on an input "x" of `shape`, after constants.
inline TestGraph one_node(const std::string& op, const Shape& shape,
                          const std::vector<TestAttr>& attrs = {},
                          const std::vector<std::string>& more = {}, TestGraph graph = {}) {
  graph.input("x", shape);
  std::vector<std::string> inputs = {"x"};
  inputs.insert(inputs.end(), more.begin(), more.end());
  graph.node("y", op, inputs, attrs);
  return graph;
}

}  // namespace anynpu::tensorflow
