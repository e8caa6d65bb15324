// SPDX-License-Identifier: Apache-2.0
#include "small_models.h"

#include <gtest/gtest.h>

#include <string>

#include "compile/compile.h"
#include "graph/graph.h"
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

}  // namespace conformance
