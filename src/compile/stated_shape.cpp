// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <string_view>

#include "compile/passes.h"

namespace anynpu::compile {

namespace {

// Output 0 has the shape of input 0.
constexpr std::array<std::string_view, 20> kKeepShape = {
    "Abs",     "Cast",     "CastLike", "Ceil", "Cos",  "Erf",       "Exp",
    "Floor",   "Identity", "IsNaN",    "Log",  "Neg",  "Not",       "Round",
    "Sigmoid", "Sign",     "Sin",      "Sqrt", "Tanh", "Reciprocal"};
constexpr std::array<std::string_view, 5> kBroadcast = {"Add", "Sub", "Mul", "Div", "Pow"};
constexpr int kMostSteps = 64;

template <size_t N>
bool contains(const std::array<std::string_view, N>& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

// The operand beside `id` leaves the shape of `id` as it is: one element, no more than one
// dimension.
bool beside_scalar(const graph::Graph& graph, const graph::Node& node, graph::ValueId id) {
  if (!contains(kBroadcast, node.op) || node.inputs.size() != 2) return false;
  const graph::ValueId other = node.inputs[node.inputs[0] == id ? 1 : 0];
  if (other == graph::kNoValue || other == id) return false;
  const graph::Value& value = graph.values[static_cast<size_t>(other)];
  return value.has_shape && value.shape.size() <= 1 && element_count(value.shape) == 1;
}

}  // namespace

std::optional<Shape> stated_shape(const graph::Graph& graph, const Links& links,
                                  graph::ValueId id) {
  for (int step = 0; step < kMostSteps; ++step) {
    const graph::Value& value = graph.values[static_cast<size_t>(id)];
    if (value.has_shape) return value.shape;
    graph::ValueId next = graph::kNoValue;
    for (int user : links.users[static_cast<size_t>(id)]) {
      const graph::Node& node = graph.nodes[static_cast<size_t>(user)];
      const bool same = contains(kKeepShape, node.op) && node.inputs[0] == id;
      if (!node.domain.empty() || node.outputs.size() != 1) continue;
      if (same || beside_scalar(graph, node, id)) next = node.outputs[0];
    }
    if (next == graph::kNoValue) return std::nullopt;
    id = next;
  }
  return std::nullopt;
}

}  // namespace anynpu::compile
