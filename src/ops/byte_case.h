// SPDX-License-Identifier: Apache-2.0
// For tests: one node over random bytes, which all kernels of its operator compute to the bit.
#pragma once

#include <gtest/gtest.h>

#include <random>
#include <span>
#include <string>
#include <vector>

#include "ops/op_case.h"
#include "ops/registry.h"

namespace anynpu::ops {

inline constexpr DType kByteTypes[] = {DType::u8, DType::i8};

struct ByteCase {
  using Bytes = std::vector<std::byte>;

  std::string op;
  std::mt19937 random{7};
  graph::Node node = {};
  std::vector<Operand> operands = {};
  std::vector<Bytes> data = {};

  ByteCase& bytes(DType type, Shape shape, int low = 0, int high = 255) {
    std::uniform_int_distribution<int> any(low, high);
    Bytes values(bytes_of(type, element_count(shape)));
    for (std::byte& value : values) value = static_cast<std::byte>(any(random));
    operands.push_back(Operand::of(type, std::move(shape)));
    data.push_back(std::move(values));
    return *this;
  }
  template <typename T>
  ByteCase& values(DType type, Shape shape, const std::vector<T>& values) {
    operands.push_back(Operand::of(type, std::move(shape)));
    const auto bytes = std::as_bytes(std::span(values));
    data.emplace_back(bytes.begin(), bytes.end());
    return *this;
  }
  ByteCase& real(float value) { return values<float>(DType::f32, {}, {value}); }
  ByteCase& absent() {
    operands.push_back(Operand::absent());
    data.emplace_back();
    return *this;
  }
  ByteCase& ints(std::string name, std::vector<int64_t> list) {
    node.attrs[std::move(name)] = std::move(list);
    return *this;
  }
  ByteCase& number(std::string name, int64_t value) {
    node.attrs[std::move(name)] = value;
    return *this;
  }

  Result<Bytes> run(const KernelDef& def, const OpContext& context) const {
    ANYNPU_ASSIGN(auto kernel, def.create(context));
    Bytes packed(kernel->packed_bytes());
    ANYNPU_TRY(kernel->pack(context, packed));
    ANYNPU_ASSIGN(auto plan, kernel->plan(context));
    Bytes workspace(plan->workspace_bytes, std::byte{0xff});
    const Operand& output = context.outputs[0];
    Bytes out(bytes_of(output.dtype, element_count(output.shape)));
    std::vector<const std::byte*> inputs;
    for (size_t i = 0; i < data.size(); ++i) {
      inputs.push_back(kernel->packs_input(i) ? nullptr : data[i].data());
    }
    std::vector<Bytes> others(context.outputs.size());
    std::vector<std::byte*> outputs{out.data()};
    for (size_t i = 1; i < others.size(); ++i) {
      others[i].resize(bytes_of(context.outputs[i].dtype, element_count(context.outputs[i].shape)));
      outputs.push_back(others[i].data());
    }
    ANYNPU_TRY(plan->run({inputs, outputs, packed.data(), workspace.data()}));
    return out;
  }

  // `constant`: the input that is known when the model is loaded, or -1. Returns how many kernels
  // were compared with the last, which is the reference.
  int expect_same(int constant, int64_t opset = 13) {
    node.op = op;
    node.name = "test";
    node.opset = opset;
    node.outputs = {1000};
    name_required_outputs(node);
    node.inputs.clear();
    std::vector<Operand> inputs = operands;
    for (size_t i = 0; i < inputs.size(); ++i) {
      node.inputs.push_back(inputs[i].present ? static_cast<int>(i) : graph::kNoValue);
      inputs[i].is_constant = static_cast<int>(i) == constant;
      if (inputs[i].is_constant) inputs[i].constant = data[i];
    }
    const auto context = infer(node, inputs);
    EXPECT_TRUE(context.ok()) << context.status().to_string();
    if (!context.ok()) return 0;
    const auto kernels = Registry::instance().kernels(op);
    const auto wanted = run(*kernels.back(), *context);
    EXPECT_TRUE(wanted.ok());
    int compared = 0;
    for (const KernelDef* kernel : kernels) {
      if (!wanted.ok() || kernel == kernels.back()) break;
      if (kernel->can_run && !kernel->can_run(*context).ok()) continue;
      const auto actual = run(*kernel, *context);
      EXPECT_TRUE(actual.ok()) << kernel->name << ": " << actual.status().to_string();
      EXPECT_TRUE(actual.ok() && *actual == *wanted)
          << kernel->name << ", " << to_string(operands[0].shape) << ", attributes of "
          << describe();
      ++compared;
    }
    return compared;
  }

  std::string describe() const {
    std::string text = op;
    for (const Operand& operand : operands) {
      text += " " + (operand.present ? to_string(operand.shape) : std::string("_"));
    }
    for (const auto& [name, attr] : node.attrs) {
      text += " " + name;
      if (const auto* list = std::get_if<std::vector<int64_t>>(&attr)) {
        for (int64_t value : *list) text += " " + std::to_string(value);
      } else if (const auto* value = std::get_if<int64_t>(&attr)) {
        text += " " + std::to_string(*value);
      }
    }
    return text;
  }
};

}  // namespace anynpu::ops
