// SPDX-License-Identifier: Apache-2.0
// Small graphs for tests, what the reference kernels of their operators compute, and values of
// runs.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "compile/passes.h"
#include "exec/run_value.h"
#include "graph/tensor_value.h"
#include "ops/registry.h"

namespace anynpu::exec {

using Ints = std::vector<int64_t>;

class NetBuilder {
 public:
  graph::Graph graph;

  graph::ValueId input(const std::string& name, Shape shape, DType dtype = DType::f32) {
    const graph::ValueId id = graph.add_value(graph::tensor_value(name, dtype, std::move(shape)));
    graph.inputs.push_back(id);
    return id;
  }
  graph::ValueId weight(Shape shape, float scale = 0.1f) {
    std::vector<float> data(static_cast<size_t>(element_count(shape)));
    std::uniform_real_distribution<float> draw(-scale, scale);
    for (float& x : data) x = draw(random_);
    return constant("w", DType::f32, std::move(shape), std::move(data));
  }
  graph::ValueId floats(std::vector<float> values, Shape shape) {
    return constant("f", DType::f32, std::move(shape), std::move(values));
  }
  graph::ValueId ints(std::vector<int64_t> values) {
    const auto count = static_cast<int64_t>(values.size());
    return constant("i", DType::i64, {count}, std::move(values));
  }
  graph::ValueId number(int64_t value) { return constant("n", DType::i64, {}, Ints{value}); }
  graph::ValueId truth(bool value) {
    return constant("b", DType::boolean, {}, std::vector<uint8_t>{value});
  }
  graph::ValueId node(const std::string& op, std::vector<graph::ValueId> inputs,
                      std::map<std::string, graph::Attr> attrs = {},
                      const std::string& domain = "") {
    graph::Value out;
    out.name = "v" + std::to_string(graph.values.size());
    const graph::ValueId id = graph.add_value(out);
    graph::Node node;
    node.op = op;
    node.domain = domain;
    node.opset = domain.empty() ? 13 : 1;
    node.name = op + std::to_string(graph.nodes.size());
    node.inputs = std::move(inputs);
    node.outputs = {id};
    node.attrs = std::move(attrs);
    graph.nodes.push_back(node);
    return id;
  }
  // Another output of the last node.
  graph::ValueId one_more() {
    graph::Value out;
    out.name = "v" + std::to_string(graph.values.size());
    graph.nodes.back().outputs.push_back(graph.add_value(out));
    return graph.nodes.back().outputs.back();
  }
  void output(graph::ValueId id) { graph.outputs.push_back(id); }

  void infer() {
    const Status status = compile::infer_and_fold(graph);
    EXPECT_TRUE(status.ok()) << status.to_string();
  }
  // The graph as the body of a control flow operator.
  std::shared_ptr<const graph::Graph> body() {
    infer();
    return std::make_shared<const graph::Graph>(graph);
  }

  // Every node by its reference kernel, one after the other: what the plan must reproduce.
  std::vector<std::vector<float>> expected(const std::vector<std::vector<float>>& inputs) {
    std::map<graph::ValueId, std::pair<ops::Operand, std::vector<std::byte>>> known;
    for (size_t i = 0; i < graph.inputs.size(); ++i) {
      auto& entry = known[graph.inputs[i]];
      entry.first = ops::Operand::of(graph, graph.inputs[i]);
      const auto bytes = std::as_bytes(std::span(inputs[i]));
      entry.second.assign(bytes.begin(), bytes.end());
    }
    for (const graph::Node& n : graph.nodes) {
      std::vector<ops::Operand> operands;
      for (graph::ValueId id : n.inputs) {
        if (known.contains(id)) {
          ops::Operand operand = known[id].first;
          operand.is_constant = true;
          operand.constant = known[id].second;
          operands.push_back(operand);
        } else {
          operands.push_back(ops::Operand::of(graph, id));
        }
      }
      auto context = ops::infer(n, operands);
      EXPECT_TRUE(context.ok()) << context.status().to_string();
      auto result = ops::evaluate(*context);
      EXPECT_TRUE(result.ok()) << result.status().to_string();
      known[n.outputs[0]] = {context->outputs[0], (*result)[0]};
    }
    std::vector<std::vector<float>> outputs;
    for (graph::ValueId id : graph.outputs) {
      std::vector<std::byte> bytes;
      if (known.contains(id)) {
        bytes = known[id].second;
      } else {
        const auto data = graph.values[static_cast<size_t>(id)].constant->bytes;
        bytes.assign(data.begin(), data.end());
      }
      outputs.emplace_back(bytes.size() / sizeof(float));
      std::memcpy(outputs.back().data(), bytes.data(), bytes.size());
    }
    return outputs;
  }

 private:
  template <typename T>
  graph::ValueId constant(const std::string& letter, DType dtype, Shape shape,
                          std::vector<T> elements) {
    graph::Value v =
        graph::tensor_value(letter + std::to_string(graph.values.size()), dtype, std::move(shape));
    v.constant = graph::constant_of(std::move(elements));
    return graph.add_value(std::move(v));
  }
  std::mt19937 random_{7};
};

inline std::vector<float> draw(size_t count, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> data(count);
  for (float& x : data) x = uniform(random);
  return data;
}

inline void expect_near(const std::vector<float>& actual, const std::vector<float>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) ASSERT_NEAR(actual[i], expected[i], 1e-4) << i;
}

template <typename T>
constexpr DType kTypeForTest = std::is_same_v<T, float>     ? DType::f32
                               : std::is_same_v<T, int64_t> ? DType::i64
                               : std::is_same_v<T, bool>    ? DType::boolean
                                                            : DType::undefined;

// A tensor of a run with these elements.
template <typename T>
RunValue run_tensor(const Shape& shape, const std::vector<T>& elements) {
  RunValue value;
  EXPECT_EQ(static_cast<size_t>(element_count(shape)), elements.size());
  const Status status = make_tensor(kTypeForTest<T>, shape, value);
  EXPECT_TRUE(status.ok()) << status.to_string();
  for (size_t i = 0; i < elements.size(); ++i) {
    const T element = elements[i];
    std::memcpy(value.data.get() + i * sizeof(T), &element, sizeof(T));
  }
  return value;
}
// The elements of a tensor of a run; none if it is no tensor of T.
template <typename T>
std::vector<T> run_elements(const RunValue& value) {
  if (!value.is_tensor() || value.dtype != kTypeForTest<T>) return {};
  std::vector<T> elements;
  for (int64_t i = 0; i < element_count(value.shape); ++i) {
    T element;
    std::memcpy(&element, value.data.get() + static_cast<size_t>(i) * sizeof(T), sizeof(T));
    elements.push_back(element);
  }
  return elements;
}

// Pointers to values, as node runners take their inputs.
inline std::vector<const RunValue*> pointers_to(const std::vector<RunValue>& values) {
  std::vector<const RunValue*> pointers;
  for (const RunValue& value : values) pointers.push_back(&value);
  return pointers;
}

}  // namespace anynpu::exec
