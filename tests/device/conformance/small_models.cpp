// SPDX-License-Identifier: Apache-2.0
#include "small_models.h"

#include <gtest/gtest.h>

#include <string>

#include "compile/compile.h"
#include "graph/flow.h"
#include "graph/graph.h"
#include "graph/tensor_value.h"
#include "om/container.h"

namespace conformance {
namespace {

using namespace anynpu;
using graph::ValueId;

ValueId add_value(graph::Graph& graph, const std::string& name, DType dtype, bool known) {
  graph::Value value;
  value.name = name;
  value.dtype = dtype;
  if (known) value.shape = {kRows, kColumns};
  value.has_shape = known;
  return graph.add_value(std::move(value));
}

void add_node(graph::Graph& graph, const char* op, std::vector<ValueId> inputs, ValueId output) {
  graph::Node node;
  node.op = node.name = op;
  node.opset = 13;
  node.inputs = std::move(inputs);
  node.outputs = {output};
  graph.nodes.push_back(std::move(node));
}

std::vector<std::byte> compile_to_bytes(graph::Graph graph) {
  compile::Options options;
  options.model_name = graph.name;
  auto model = compile::compile(std::move(graph), options);
  EXPECT_TRUE(model.ok()) << model.status().to_string();
  return *om::to_bytes(*model);
}

}  // namespace

std::vector<std::byte> relu_add_model() {
  graph::Graph graph;
  graph.name = "relu_add";
  const ValueId x = add_value(graph, "x", DType::f32, true);
  const ValueId positive = add_value(graph, "positive", DType::f32, true);
  const ValueId y = add_value(graph, "y", DType::f32, true);
  graph.inputs = {x};
  add_node(graph, "Relu", {x}, positive);
  add_node(graph, "Add", {positive, x}, y);
  graph.outputs = {y};
  return compile_to_bytes(std::move(graph));
}

std::vector<std::byte> non_zero_model() {
  graph::Graph graph;
  graph.name = "non_zero";
  const ValueId x = add_value(graph, "x", DType::f32, true);
  const ValueId places = add_value(graph, "places", DType::i64, false);
  graph.inputs = {x};
  add_node(graph, "NonZero", {x}, places);
  graph.outputs = {places};
  return compile_to_bytes(std::move(graph));
}

std::vector<std::byte> rows_model() {
  graph::Graph graph;
  graph.name = "rows";
  const ValueId x = add_value(graph, "x", DType::f32, true);
  const ValueId rows = graph.add_value(graph::tensor_value("rows", DType::i64, {kRows}));
  const ValueId y = add_value(graph, "y", DType::f32, true);
  graph.inputs = {x, rows};
  add_node(graph, "Gather", {x, rows}, y);
  graph.outputs = {y};
  return compile_to_bytes(std::move(graph));
}

std::vector<std::byte> mixed_model() {
  graph::Graph graph;
  graph.name = "mixed";
  std::vector<float> weights(kColumns * kColumns);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = mixed_weight(i / kColumns, i % kColumns);
  graph::Value w = graph::tensor_value("w", DType::f32, {kColumns, kColumns});
  w.constant = graph::constant_of(std::move(weights));
  const ValueId x = add_value(graph, "x", DType::f32, true);
  const ValueId positive = add_value(graph, "positive", DType::f32, true);
  const ValueId constant = graph.add_value(std::move(w));
  const ValueId product = add_value(graph, "product", DType::f32, true);
  const ValueId shares = add_value(graph, "shares", DType::f32, true);
  const ValueId y = add_value(graph, "y", DType::f32, true);
  graph.inputs = {x};
  add_node(graph, "Relu", {x}, positive);
  add_node(graph, "MatMul", {positive, constant}, product);
  add_node(graph, "Softmax", {product}, shares);
  add_node(graph, "Add", {shares, x}, y);
  graph.outputs = {y};
  return compile_to_bytes(std::move(graph));
}

namespace {

// One operator of x, the value around it that both branches use.
std::shared_ptr<const graph::Graph> branch(const char* op, size_t inputs) {
  auto inner = std::make_shared<graph::Graph>();
  inner->name = op;
  const ValueId x = add_value(*inner, "x", DType::f32, true);
  const ValueId y = add_value(*inner, "y", DType::f32, true);
  inner->inputs = {x};
  add_node(*inner, op, std::vector<ValueId>(inputs, x), y);
  inner->outputs = {y};
  return inner;
}

}  // namespace

std::vector<std::byte> branch_model() {
  graph::Graph graph;
  graph.name = "branch";
  const ValueId x = add_value(graph, "x", DType::f32, true);
  const auto number = [&](const char* name, DType dtype) {
    return graph.add_value(graph::tensor_value(name, dtype, {}));
  };
  const ValueId sum = number("sum", DType::f32), zero = number("zero", DType::f32);
  graph.values[static_cast<size_t>(zero)].constant = graph::constant_of(std::vector<float>{0});
  const ValueId above = number("above", DType::boolean);
  const ValueId y = add_value(graph, "y", DType::f32, true);
  graph.inputs = {x};
  add_node(graph, "ReduceSum", {x}, sum);
  graph.nodes.back().attrs["keepdims"] = int64_t{0};
  add_node(graph, "Greater", {sum, zero}, above);
  add_node(graph, "If", {above, x}, y);
  graph.nodes.back().attrs[graph::kCapturesAttr] = int64_t{1};
  graph.nodes.back().attrs["then_branch"] = branch("Add", 2);
  graph.nodes.back().attrs["else_branch"] = branch("Relu", 1);
  graph.outputs = {y};
  return compile_to_bytes(std::move(graph));
}

}  // namespace conformance
