// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/upgrade.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace anynpu::onnx {

namespace {

constexpr std::array<std::string_view, 11> kBroadcasting = {
    "Add", "Sub", "Mul", "Div", "Pow", "And", "Or", "Xor", "Equal", "Less", "Greater"};

bool contains(std::string_view op) {
  return std::find(kBroadcasting.begin(), kBroadcasting.end(), op) != kBroadcasting.end();
}

// Input 1 of `node` gets `count` dimensions of 1 behind its own.
void add_trailing_ones(graph::Node& node, graph::Graph& graph, size_t rank, size_t count) {
  graph::Node view;
  view.op = "Unsqueeze";
  view.opset = 1;  // axes as an attribute
  view.name = node.name + "/unsqueeze";
  std::vector<int64_t> axes;
  for (size_t i = 0; i < count; ++i) axes.push_back(static_cast<int64_t>(rank + i));
  view.attrs["axes"] = axes;
  view.inputs = {node.inputs[1]};
  graph::Value value;
  value.name = view.name;
  view.outputs = {graph.add_value(std::move(value))};
  node.inputs[1] = view.outputs[0];
  graph.nodes.push_back(std::move(view));
}

Status align(graph::Node& node, graph::Graph& graph, int64_t axis) {
  if (node.inputs.size() < 2 || node.inputs[0] == graph::kNoValue ||
      node.inputs[1] == graph::kNoValue)
    return {};
  const graph::Value& a = graph.values[static_cast<size_t>(node.inputs[0])];
  const graph::Value& b = graph.values[static_cast<size_t>(node.inputs[1])];
  if (b.has_shape && b.shape.empty()) return {};
  if (!a.has_shape || !b.has_shape) {
    return fail(
        Code::unsupported_shape,
        "{} '{}' broadcasts along axis {} at an opset before 7, and the model does not state "
        "the shapes of its inputs; export it with opset 7 or newer",
        node.op, node.name, axis);
  }
  const auto rank_a = static_cast<int64_t>(a.shape.size()),
             rank_b = static_cast<int64_t>(b.shape.size());
  const int64_t trailing = rank_a - axis - rank_b;
  if (axis < 0 || trailing < 0) {
    return fail(Code::shape_mismatch, "{} '{}': axis {} does not place {} within {}", node.op,
                node.name, axis, to_string(b.shape), to_string(a.shape));
  }
  if (trailing > 0) add_trailing_ones(node, graph, b.shape.size(), static_cast<size_t>(trailing));
  return {};
}

}  // namespace

int64_t upgraded_opset(const std::string& op, const std::string& domain, int64_t opset) {
  if (!domain.empty() || opset <= 0 || opset >= 7) return opset;
  const bool known = contains(op) || op == "Gemm" || op == "BatchNormalization" || op == "PRelu";
  return known ? 7 : opset;
}

Status upgrade(graph::Node& node, graph::Graph& graph) {
  const int64_t to = upgraded_opset(node.op, node.domain, node.opset);
  if (to == node.opset) return {};
  const bool broadcasts = node.int_attr("broadcast", 0) != 0;
  const int64_t axis = node.int_attr("axis", -1);
  node.opset = to;
  for (const char* key : {"broadcast", "axis", "is_test", "consumed_inputs"}) node.attrs.erase(key);
  if (contains(node.op) && broadcasts && axis >= 0) return align(node, graph, axis);
  if (node.op == "PRelu" && node.inputs.size() == 2) {
    const graph::Value& slope = graph.values[static_cast<size_t>(node.inputs[1])];
    if (slope.has_shape && element_count(slope.shape) > 1) return align(node, graph, 1);
  }
  return {};
}

}  // namespace anynpu::onnx
