// SPDX-License-Identifier: Apache-2.0
// Small descriptions of models in the vendor's format, for the tests of their readers.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "base/protowire.h"
#include "import/ge/ge.h"

namespace anynpu::ge {

constexpr int64_t kFloat = 1;  // DT_FLOAT in the file

inline std::span<const std::byte> bytes_of_text(const std::string& text) {
  return std::as_bytes(std::span(text));
}

inline WireWriter entry(const std::string& key, const WireWriter& value) {
  WireWriter out;
  out.text(1, key);
  out.message(2, value);
  return out;
}
inline WireWriter ints_attr(const std::string& key, const Shape& values) {
  WireWriter list, attr;
  list.packed(3, std::span<const int64_t>(values));
  list.integer(20, 2);
  attr.message(1, list);
  return entry(key, attr);
}
inline WireWriter text_attr(const std::string& key, const std::string& value) {
  WireWriter attr;
  attr.text(2, value);
  return entry(key, attr);
}
inline WireWriter int_attr(const std::string& key, int64_t value) {
  WireWriter attr;
  attr.integer(3, value);
  return entry(key, attr);
}

inline WireWriter tensor_desc(const Shape& shape, const std::string& layout = "ND",
                              const Shape& origin = {}, const std::string& origin_format = {}) {
  WireWriter dims, out;
  dims.packed(1, std::span<const int64_t>(shape));
  out.integer(2, kFloat);
  out.message(3, dims);
  out.text(4, layout);
  if (!origin_format.empty()) {
    out.message(5, ints_attr("origin_shape", origin));
    out.message(5, text_attr("origin_format", origin_format));
  }
  return out;
}

struct OpText {
  std::string type, name;
  std::vector<std::string> inputs;
  std::vector<WireWriter> attrs, ins, outs;
  std::vector<std::string> subgraphs = {};
};

inline WireWriter op_message(const OpText& op) {
  WireWriter out;
  out.text(1, op.name);
  out.text(2, op.type);
  for (const std::string& input : op.inputs) out.text(5, input);
  for (const WireWriter& attr : op.attrs) out.message(10, attr);
  for (const WireWriter& desc : op.ins) out.message(33, desc);
  for (const WireWriter& desc : op.outs) out.message(34, desc);
  for (const std::string& name : op.subgraphs) out.text(35, name);
  return out;
}

inline WireWriter graph_message(const std::string& name, const std::vector<OpText>& ops) {
  WireWriter out;
  out.text(1, name);
  for (const OpText& op : ops) out.message(6, op_message(op));
  return out;
}

inline std::string model_text(const std::vector<WireWriter>& graphs,
                              const std::vector<WireWriter>& attrs = {}) {
  WireWriter out;
  out.text(1, "model");
  out.integer(2, 1);
  for (const WireWriter& graph : graphs) out.message(7, graph);
  for (const WireWriter& attr : attrs) out.message(11, attr);
  return out.take();
}

inline OpText data_op(const std::string& name, const Shape& shape, int64_t index = 0) {
  return {"Data", name, {}, {int_attr("index", index)}, {}, {tensor_desc(shape)}};
}
inline OpText const_op(const std::string& name, const Shape& shape,
                       const std::vector<float>& values) {
  WireWriter tensor, attr;
  tensor.message(1, tensor_desc(shape));
  tensor.bytes(2, std::as_bytes(std::span(values)));
  attr.message(12, tensor);
  return {"Const", name, {}, {entry("value", attr)}, {}, {tensor_desc(shape)}};
}
inline OpText output_op(const std::vector<std::string>& sources) {
  return {"NetOutput", "out", sources, {}, {}, {}};
}

// What the reader says; "no failure" when it says nothing.
inline std::string air_failure(const std::string& text) {
  auto owner = std::make_shared<const std::string>(text);
  const auto graph = import_air(bytes_of_text(*owner), owner);
  return graph.ok() ? "no failure" : graph.status().to_string();
}

}  // namespace anynpu::ge
