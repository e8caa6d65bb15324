// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <string_view>

#include "compile/passes.h"

namespace anynpu::compile {

namespace {

// Output 0 has the shape of input 0.
constexpr std::array<std::string_view, 18> kKeepShape = {
    "Abs", "Cast",  "CastLike", "Ceil",       "Erf",   "Exp",     "Floor", "Identity", "IsNaN",
    "Log", "Neg",   "Not",      "Reciprocal", "Round", "Sigmoid", "Sign",  "Sqrt",     "Tanh"};

bool keeps_shape(const graph::Node& node) {
  return node.domain.empty() && !node.inputs.empty() && node.inputs[0] != graph::kNoValue &&
         node.outputs.size() == 1 && node.outputs[0] != graph::kNoValue &&
         std::find(kKeepShape.begin(), kKeepShape.end(), node.op) != kKeepShape.end();
}

}  // namespace

void state_shapes_backwards(graph::Graph& graph) {
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    if (!keeps_shape(*node)) continue;
    const graph::Value& to = graph.values[static_cast<size_t>(node->outputs[0])];
    graph::Value& from = graph.values[static_cast<size_t>(node->inputs[0])];
    if (!to.has_shape || from.has_shape) continue;
    from.shape = to.shape;
    from.has_shape = true;
  }
}

}  // namespace anynpu::compile
