// SPDX-License-Identifier: Apache-2.0
// Descriptions of single operators for tests, and what they become.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "import/singleop/table.h"

namespace anynpu::singleop {

class OpForTest {
 public:
  explicit OpForTest(std::string type) { op.type = std::move(type); }

  OpForTest& in(Shape shape, DType dtype = DType::f32, Format format = Format::nd) {
    op.inputs.push_back(desc(dtype, format, std::move(shape)));
    return *this;
  }
  // An input of int64 numbers that is known before the operator runs.
  OpForTest& known(const std::vector<int64_t>& numbers) {
    in({static_cast<int64_t>(numbers.size())}, DType::i64);
    TensorDesc& last = op.inputs.back();
    last.constant.resize(numbers.size() * sizeof(int64_t));
    std::memcpy(last.constant.data(), numbers.data(), last.constant.size());
    last.is_constant = true;
    return *this;
  }
  // An output whose type and shape are left to the operator, or as they are described.
  OpForTest& out() {
    op.outputs.push_back(desc(DType::undefined, Format::nd, {kUnknownRank}));
    return *this;
  }
  OpForTest& out(Shape shape, DType dtype = DType::f32, Format format = Format::nd) {
    op.outputs.push_back(desc(dtype, format, std::move(shape)));
    return *this;
  }
  OpForTest& attr(const std::string& name, Attr value) {
    op.attrs[name] = std::move(value);
    return *this;
  }

  // The operators of its graph in order.
  std::vector<std::string> nodes() const {
    const auto graph = build_graph(op);
    EXPECT_TRUE(graph.ok()) << graph.status().to_string();
    std::vector<std::string> list;
    if (!graph.ok()) return list;
    for (const graph::Node& node : graph->nodes) list.push_back(node.op);
    return list;
  }
  // The shape that output 0 gets.
  Shape shape() const {
    const auto graph = build_graph(op);
    EXPECT_TRUE(graph.ok()) << graph.status().to_string();
    return graph.ok() ? graph->values[static_cast<size_t>(graph->outputs[0])].shape : Shape{};
  }
  // Why it is refused.
  std::string message() const { return build_graph(op).status().message(); }

  SingleOp op;

 private:
  static TensorDesc desc(DType dtype, Format format, Shape shape) {
    TensorDesc desc;
    desc.dtype = dtype;
    desc.format = format;
    desc.shape = std::move(shape);
    return desc;
  }
};

}  // namespace anynpu::singleop
