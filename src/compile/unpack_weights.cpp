// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "compile/plan_fusion.h"
#include "graph/tensor_value.h"
#include "ops/registry.h"

namespace anynpu::compile {

namespace {

bool unpacks(const graph::Graph& graph, const graph::Node& node) {
  return (node.op == "DequantizeLinear" || node.op == "Transpose") && node.domain.empty() &&
         std::all_of(node.inputs.begin(), node.inputs.end(), [&](graph::ValueId id) {
           return id == graph::kNoValue || graph.values[static_cast<size_t>(id)].constant;
         });
}

}  // namespace

bool has_quantized_weights(const graph::Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                     [&](const graph::Node& node) { return unpacks(graph, node); });
}

Status unpack_weights(graph::Graph& graph) {
  std::vector<graph::Node> kept;
  for (graph::Node& node : graph.nodes) {
    if (!unpacks(graph, node)) {
      kept.push_back(std::move(node));
      continue;
    }
    ANYNPU_ASSIGN(const ops::OpContext context, ops::infer(graph, node));
    ANYNPU_ASSIGN(auto results, ops::evaluate(context), "while unpacking '{}'", node.name);
    graph::Value& value = graph.values[static_cast<size_t>(node.outputs[0])];
    value.dtype = context.outputs[0].dtype;
    value.shape = context.outputs[0].shape;
    value.has_shape = true;
    value.constant = graph::constant_of(std::move(results[0]));
  }
  graph.nodes = std::move(kept);
  return {};
}

}  // namespace anynpu::compile
