// SPDX-License-Identifier: Apache-2.0
#include "compile/affine.h"

#include <algorithm>
#include <cmath>

#include "compile/graph_edit.h"

namespace anynpu::compile {

namespace {

using graph::kNoValue;
using graph::Node;
using graph::ValueId;

// A plain inference BatchNormalization over `channels`.
std::optional<Affine> read_batch_norm(const graph::Graph& graph, const Node& node,
                                      size_t channels) {
  if (node.inputs.size() != 5 || node.int_attr("training_mode", 0) != 0) return {};
  if (std::any_of(node.outputs.begin() + 1, node.outputs.end(),
                  [](ValueId id) { return id != kNoValue; })) {
    return {};
  }
  std::vector<float> lists[4];  // scale, bias, mean, variance
  for (size_t i = 0; i < 4; ++i) {
    lists[i] = constant_elements<float>(graph, node.inputs[i + 1]);
    if (lists[i].size() != channels) return {};
  }
  const double epsilon = node.float_attr("epsilon", 1e-5f);
  Affine made;
  for (size_t c = 0; c < channels; ++c) {
    made.factor.push_back(lists[0][c] / std::sqrt(lists[3][c] + epsilon));
    made.shift.push_back(lists[1][c] - lists[2][c] * made.factor[c]);
  }
  return made;
}

// The elements of a constant that has one number for each channel, or one for all; empty for
// others.
std::vector<float> channel_elements(const graph::Graph& graph, ValueId id, const ChannelAxis& at) {
  std::vector<float> elements = constant_elements<float>(graph, id);
  const Shape& shape = graph.values[static_cast<size_t>(id)].shape;
  if (elements.empty() || shape.size() > at.rank) return {};
  const size_t lead = at.rank - shape.size();  // axes of the tensor that the constant has not
  if (elements.size() == 1)
    elements.assign(at.channels, elements[0]);
  else if (at.axis < lead || shape[at.axis - lead] != static_cast<int64_t>(at.channels))
    return {};
  return elements.size() == at.channels ? elements : std::vector<float>();
}

// Mul, Div, Add or Sub of `x` and a constant.
std::optional<Affine> read_arithmetic(const graph::Graph& graph, const Node& node, ValueId x,
                                      const ChannelAxis& at) {
  if (node.inputs.size() != 2 || node.inputs[0] == node.inputs[1]) return {};
  const bool first = node.inputs[0] == x;
  const auto k = channel_elements(graph, node.inputs[first ? 1 : 0], at);
  if (k.empty() || (node.op == "Div" && !first)) return {};
  Affine made;
  for (const double number : k) {
    const bool adds = node.op == "Add" || node.op == "Sub";
    made.factor.push_back(node.op == "Mul" ? number : node.op == "Div" ? 1 / number : 1.0);
    made.shift.push_back(adds ? number : 0.0);
    if (node.op == "Sub") (first ? made.shift : made.factor).back() *= -1;
    if (!std::isfinite(made.factor.back()) || !std::isfinite(made.shift.back())) return {};
  }
  return made;
}

}  // namespace

std::optional<Affine> read_affine(const graph::Graph& graph, const Node& node, ValueId x,
                                  const ChannelAxis& at) {
  if (!node.domain.empty()) return {};
  if (node.op == "BatchNormalization" && node.inputs[0] == x && at.axis == 1)
    return read_batch_norm(graph, node, at.channels);
  for (std::string_view op : {"Mul", "Div", "Add", "Sub"}) {
    if (node.op == op) return read_arithmetic(graph, node, x, at);
  }
  return {};
}

bool to_finite_float(double exact, float& rounded) {
  rounded = static_cast<float>(exact);
  return std::isfinite(rounded);
}

}  // namespace anynpu::compile
