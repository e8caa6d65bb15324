// SPDX-License-Identifier: Apache-2.0
#include "compile/pattern.h"

#include <cmath>

#include "tensor/half_arrays.h"

namespace anynpu::compile {

using graph::kNoValue;
using graph::Node;
using graph::ValueId;

const Node* Pattern::made_by(ValueId id, std::string_view op) const {
  if (id == kNoValue) return nullptr;
  const int producer = links_.producer[static_cast<size_t>(id)];
  if (producer < 0) return nullptr;
  const Node& node = graph_.nodes[static_cast<size_t>(producer)];
  return node.op == op && node.domain.empty() && node.outputs.size() == 1 ? &node : nullptr;
}

const Node* Pattern::absorbed(ValueId id, std::string_view op) const {
  return id != kNoValue && links_.only_user(id) >= 0 ? made_by(id, op) : nullptr;
}

const Node* Pattern::next(ValueId id, std::string_view op) const {
  const int user = links_.only_user(id);
  if (user < 0) return nullptr;
  const Node& node = graph_.nodes[static_cast<size_t>(user)];
  return node.op == op && node.domain.empty() && node.outputs.size() == 1 ? &node : nullptr;
}

std::optional<float> Pattern::scalar(ValueId id) const {
  if (id == kNoValue || !value(id).constant) return {};
  const auto elements = constant_elements<float>(graph_, id);
  if (elements.size() == 1) return elements[0];
  float short_one = 0;
  if (!read_short(graph_, id, short_one)) return {};
  return short_one;
}

std::optional<Pattern::WithScalar> Pattern::with_scalar(const Node& node) const {
  if (node.inputs.size() != 2) return {};
  for (size_t i = 0; i < 2; ++i) {
    const auto constant = scalar(node.inputs[i]);
    // One element of more dimensions would change the shape of the result.
    if (constant && node.inputs[1 - i] != kNoValue &&
        value(node.inputs[i]).shape.size() <= value(node.inputs[1 - i]).shape.size()) {
      return WithScalar{node.inputs[1 - i], *constant};
    }
  }
  return {};
}

std::optional<Pattern::WithScalar> Pattern::scaled(const Node& node) const {
  auto found = with_scalar(node);
  if (!found || (node.op != "Mul" && node.op != "Div")) return {};
  if (node.op == "Div") {
    if (node.inputs[0] != found->other || found->scalar == 0) return {};
    found->scalar = 1 / found->scalar;
  }
  return found;
}

void replace_producer(graph::Graph& graph, ValueId output, Node node) {
  for (Node& place : graph.nodes) {
    if (place.outputs.size() == 1 && place.outputs[0] == output) {
      node.name = place.name;
      node.outputs = {output};
      place = std::move(node);
      return;
    }
  }
}

bool about(float a, double b, DType type) {
  const double room = type == DType::bf16 ? 4e-3 : type == DType::f16 ? 5e-4 : 1e-5;
  return std::fabs(static_cast<double>(a) - b) <= room * std::fabs(b);
}

bool read_short(const graph::Graph& graph, ValueId id, float& value) {
  const graph::Value& v = graph.values[static_cast<size_t>(id)];
  if (!v.constant || v.constant->bytes.size() != sizeof(uint16_t)) return false;
  if (v.dtype != DType::f16 && v.dtype != DType::bf16) return false;
  widen(v.dtype, v.constant->bytes.data(), &value, 1);
  return true;
}

}  // namespace anynpu::compile
