// SPDX-License-Identifier: Apache-2.0
#include "compile/passes.h"
#include "ops/registry.h"

namespace anynpu::compile {

namespace {

// One element and at most one dimension: does not change the shape of the other operand.
bool is_scalar(const graph::Value& value) {
  return value.has_shape && value.shape.size() <= 1 && element_count(value.shape) == 1;
}

}  // namespace

bool find_stated_shape(graph::Graph& graph, graph::ValueId id) {
  std::vector<graph::ValueId> same = {id};
  std::vector<bool> is_same(graph.values.size(), false);
  is_same[static_cast<size_t>(id)] = true;
  const auto carries = [&](const graph::Node& node) {
    if (!node.domain.empty() || node.outputs.size() != 1 || node.inputs.empty()) return false;
    const ops::StatedShape rule = ops::traits_of(node).stated_shape;
    if (rule == ops::StatedShape::ignored) return false;
    const size_t carrying = rule == ops::StatedShape::of_broadcast ? node.inputs.size() : 1;
    bool any = false;
    for (size_t i = 0; i < carrying; ++i) {
      if (node.inputs[i] == graph::kNoValue) return false;
      const auto at = static_cast<size_t>(node.inputs[i]);
      any = any || is_same[at];
      if (!is_same[at] && !is_scalar(graph.values[at])) return false;
    }
    return any;
  };
  for (const graph::Node& node : graph.nodes) {
    if (!carries(node) || node.outputs[0] == graph::kNoValue) continue;
    const graph::Value& out = graph.values[static_cast<size_t>(node.outputs[0])];
    if (out.has_shape) {
      for (graph::ValueId each : same) {
        graph.values[static_cast<size_t>(each)].shape = out.shape;
        graph.values[static_cast<size_t>(each)].has_shape = true;
      }
      return true;
    }
    same.push_back(node.outputs[0]);
    is_same[static_cast<size_t>(node.outputs[0])] = true;
  }
  return false;
}

}  // namespace anynpu::compile
