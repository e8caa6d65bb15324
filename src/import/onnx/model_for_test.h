// SPDX-License-Identifier: Apache-2.0
// Models written field by field, as onnx.proto numbers them, for the tests of the importer.
#pragma once

#include <gtest/gtest.h>

#include <cctype>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/protowire.h"
#include "import/onnx/onnx.h"
#include "import/onnx/tensor_proto.h"

namespace anynpu::onnx {

inline WireWriter value_info(const std::string& name, const std::vector<std::string>& dims,
                             int type = 1) {
  WireWriter shape;
  for (const std::string& dim : dims) {
    WireWriter d;
    if (isalpha(dim[0])) {
      d.text(2, dim);
    } else {
      d.integer(1, std::stoll(dim));
    }
    shape.message(1, d);
  }
  WireWriter tensor, kind, info;
  tensor.integer(1, type);
  tensor.message(2, shape);
  kind.message(1, tensor);
  info.text(1, name);
  info.message(2, kind);
  return info;
}

inline WireWriter node(const std::string& op, const std::string& name,
                       std::vector<std::string> inputs, std::vector<std::string> outputs,
                       const std::string& domain = "") {
  WireWriter out;
  for (const auto& i : inputs) out.text(1, i);
  for (const auto& o : outputs) out.text(2, o);
  out.text(3, name);
  out.text(4, op);
  if (!domain.empty()) out.text(7, domain);
  return out;
}

inline WireWriter raw_tensor(const std::string& name, std::vector<float> data) {
  WireWriter tensor;
  tensor.integer(1, static_cast<int64_t>(data.size()));
  tensor.integer(2, 1);
  tensor.text(8, name);
  tensor.bytes(9, std::as_bytes(std::span(data)));
  return tensor;
}

inline std::string model_of(const WireWriter& graph) {
  WireWriter opset, model;
  opset.text(1, "");
  opset.integer(2, 13);
  model.integer(1, 8);
  model.text(2, "maker");
  model.text(3, "1.0");
  model.message(7, graph);
  model.message(8, opset);
  return model.data();
}

// 0, 7, 0: one element of three.
inline WireWriter sparse_tensor(const std::string& name) {
  WireWriter indices, sparse;
  indices.integer(1, 1);
  indices.integer(2, 7);
  indices.packed(7, std::vector<int64_t>{1});
  sparse.message(1, raw_tensor(name, {7}));
  sparse.message(2, indices);
  sparse.integer(3, 3);
  return sparse;
}

// x + w + s -> relu, with w among the inputs as old files have it.
inline std::string sample() {
  WireWriter graph;
  graph.message(1, node("Add", "", {"x", "w"}, {"sum"}));
  graph.message(1, node("Add", "", {"sum", "s"}, {"all"}));
  graph.message(1, node("Relu", "", {"all"}, {"y"}));
  graph.text(2, "sample");
  graph.message(5, raw_tensor("w", {1, 2, 3}));
  graph.message(15, sparse_tensor("s"));
  graph.message(11, value_info("x", {"N", "3"}));
  graph.message(11, value_info("w", {"3"}));
  graph.message(12, value_info("y", {"N", "3"}));
  return model_of(graph);
}

inline Result<Model> import(const std::string& bytes, const std::string& folder = {}) {
  auto owner = std::make_shared<const std::string>(bytes);
  return import_memory(std::as_bytes(std::span(*owner)), owner, folder);
}

// The message `writer` as the first field of a reader; `text` keeps its bytes.
inline WireField field_of(const WireWriter& writer, std::string& text) {
  WireWriter outer;
  outer.message(1, writer);
  text = outer.data();
  WireReader reader(std::as_bytes(std::span(text)));
  WireField field;
  EXPECT_TRUE(reader.next(field));
  return field;
}

inline Result<Tensor> read(const WireWriter& tensor, const std::string& folder = {}) {
  WireWriter outer;
  outer.message(1, tensor);
  auto owner = std::make_shared<const std::string>(outer.data());
  WireReader reader(std::as_bytes(std::span(*owner)));
  WireField field;
  EXPECT_TRUE(reader.next(field));
  Source source{owner, folder, {}};
  return read_tensor(field, source);
}

template <typename T>
std::vector<T> elements(const Tensor& tensor) {
  std::vector<T> list(tensor.data->bytes.size() / sizeof(T));
  std::memcpy(list.data(), tensor.data->bytes.data(), list.size() * sizeof(T));
  return list;
}

}  // namespace anynpu::onnx
