// SPDX-License-Identifier: Apache-2.0
// For tests of operators: a node with constant float inputs, evaluated by the reference kernel.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "ops/op_case.h"
#include "ops/registry.h"

namespace anynpu::ops {

class TestNode {
 public:
  explicit TestNode(std::string op, int64_t opset = 13, std::string domain = "") {
    node.op = std::move(op);
    node.name = "test";
    node.opset = opset;
    node.domain = std::move(domain);
    node.outputs = {1000};
  }
  TestNode& attr(const std::string& key, graph::Attr value) {
    node.attrs[key] = std::move(value);
    return *this;
  }
  TestNode& floats(Shape shape, std::vector<float> values) {
    return add(DType::f32, std::move(shape), values);
  }
  TestNode& ints(std::vector<int64_t> values) {
    return add(DType::i64, {static_cast<int64_t>(values.size())}, values);
  }
  TestNode& ints(Shape shape, std::vector<int64_t> values) {
    return add(DType::i64, std::move(shape), values);
  }
  TestNode& bools(Shape shape, std::vector<uint8_t> values) {
    return add(DType::boolean, std::move(shape), values);
  }
  TestNode& flag(bool value) { return add(DType::boolean, {}, std::vector<uint8_t>{value}); }
  TestNode& shape(Shape extents, DType dtype = DType::f32) {  // not a constant
    operands.push_back(Operand::of(dtype, std::move(extents)));
    data.emplace_back();
    node.inputs.push_back(static_cast<int>(operands.size()) - 1);
    return *this;
  }
  TestNode& absent() {
    operands.push_back(Operand::absent());
    data.emplace_back();
    node.inputs.push_back(graph::kNoValue);
    return *this;
  }

  Result<OpContext> infer() {
    std::vector<Operand> inputs = operands;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].is_constant) inputs[i].constant = data[i];
    }
    name_required_outputs(node);
    return ops::infer(node, std::move(inputs));
  }
  // "1x64x56x56", or the message of the failure.
  std::string shape_text() {
    const auto context = infer();
    return context.ok() ? to_string(context->outputs[0].shape) : context.status().to_string();
  }
  std::vector<float> evaluate() {
    const auto context = infer();
    EXPECT_TRUE(context.ok()) << context.status().to_string();
    if (!context.ok()) return {};
    const auto outputs = ops::evaluate(*context);
    EXPECT_TRUE(outputs.ok()) << outputs.status().to_string();
    if (!outputs.ok()) return {};
    std::vector<float> values((*outputs)[0].size() / sizeof(float));
    if (!values.empty()) std::memcpy(values.data(), (*outputs)[0].data(), (*outputs)[0].size());
    return values;
  }

  graph::Node node;

 private:
  template <typename T>
  TestNode& add(DType dtype, Shape extents, const std::vector<T>& values) {
    shape(std::move(extents), dtype);
    operands.back().is_constant = true;
    data.back().resize(values.size() * sizeof(T));
    if (!values.empty()) std::memcpy(data.back().data(), values.data(), data.back().size());
    return *this;
  }
  std::vector<Operand> operands;
  std::vector<std::vector<std::byte>> data;
};

// Every kernel of each case agrees with the reference; at least `least` comparisons in all.
inline void check_cases(const std::vector<const char*>& cases, int least = 1) {
  int compared = 0;
  for (const char* text : cases) {
    const auto op_case = OpCase::parse(text);
    ASSERT_TRUE(op_case.ok()) << text << ": " << op_case.status().to_string();
    const Status status = check_all_kernels(*op_case, &compared);
    EXPECT_TRUE(status.ok()) << text << ": " << status.to_string();
  }
  EXPECT_GE(compared, least);
}

using Ints = std::vector<int64_t>;

}  // namespace anynpu::ops
