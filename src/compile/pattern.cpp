// SPDX-License-Identifier: Apache-2.0
#include "compile/pattern.h"

#include <algorithm>
#include <cmath>

#include "tensor/half_arrays.h"

namespace anynpu::compile {

using graph::kNoValue;
using graph::Node;
using graph::ValueId;

Pattern::Pattern(graph::Graph& graph) : graph_(graph) { index(); }

void Pattern::index() {
  const size_t values = graph_.values.size();
  producer_.assign(values, -1);
  uses_.assign(values, {});
  is_output_.assign(values, false);
  for (size_t n = 0; n < graph_.nodes.size(); ++n) {
    count_inputs(n, 1);
    for (ValueId id : graph_.nodes[n].outputs) {
      if (id != kNoValue) producer_[static_cast<size_t>(id)] = static_cast<int>(n);
    }
  }
  for (ValueId id : graph_.outputs) is_output_[static_cast<size_t>(id)] = true;
}

void Pattern::count_inputs(size_t n, int64_t sign) {
  for (ValueId id : graph_.nodes[n].inputs) {
    if (id == kNoValue) continue;
    uses_[static_cast<size_t>(id)].count += sign;
    uses_[static_cast<size_t>(id)].sum += sign * static_cast<int64_t>(n);
  }
}

int Pattern::only_user(ValueId id) const {
  if (id == kNoValue || is_output(id)) return -1;
  const Uses& uses = uses_[static_cast<size_t>(id)];
  return uses.count == 1 ? static_cast<int>(uses.sum) : -1;
}

// Nodes that make nothing but unused values go, and what only they used.
void Pattern::drop_unused(std::vector<ValueId> ids) {
  while (!ids.empty()) {
    const ValueId id = ids.back();
    ids.pop_back();
    const int producer = id == kNoValue ? -1 : producer_[static_cast<size_t>(id)];
    if (producer < 0) continue;
    Node& node = graph_.nodes[static_cast<size_t>(producer)];
    const bool needed = std::any_of(node.outputs.begin(), node.outputs.end(), [&](ValueId out) {
      return out != kNoValue && (is_output(out) || uses_[static_cast<size_t>(out)].count > 0);
    });
    if (needed) continue;
    count_inputs(static_cast<size_t>(producer), -1);
    for (ValueId out : node.outputs) {
      if (out != kNoValue) producer_[static_cast<size_t>(out)] = -1;
    }
    ids.insert(ids.end(), node.inputs.begin(), node.inputs.end());
    node = Node{};
  }
}

void Pattern::put(size_t n, Node node) {
  count_inputs(n, -1);
  graph_.nodes[n] = std::move(node);
  count_inputs(n, 1);
  for (ValueId id : graph_.nodes[n].outputs) {
    if (id != kNoValue) producer_[static_cast<size_t>(id)] = static_cast<int>(n);
  }
}

void Pattern::absorb(ValueId output, Node node) {
  const auto n = static_cast<size_t>(producer_[static_cast<size_t>(output)]);
  const std::vector<ValueId> before = graph_.nodes[n].inputs;
  node.outputs = {output};
  put(n, std::move(node));
  drop_unused(before);
}

ValueId Pattern::adopt(ValueId id) {
  producer_.resize(graph_.values.size(), -1);
  uses_.resize(graph_.values.size());
  is_output_.resize(graph_.values.size(), false);
  return id;
}

void Pattern::swap_over(ValueId first, Node one, ValueId second, Node two) {
  const auto a = static_cast<size_t>(producer_[static_cast<size_t>(first)]);
  const auto b = static_cast<size_t>(producer_[static_cast<size_t>(second)]);
  std::vector<ValueId> before = graph_.nodes[a].inputs;
  before.insert(before.end(), graph_.nodes[b].inputs.begin(), graph_.nodes[b].inputs.end());
  producer_[static_cast<size_t>(first)] = -1;
  put(a, std::move(one));
  put(b, std::move(two));
  drop_unused(before);
}

void Pattern::replace_producer(ValueId output, Node node) {
  const auto n = static_cast<size_t>(producer_[static_cast<size_t>(output)]);
  node.name = graph_.nodes[n].name;
  absorb(output, std::move(node));
}

Status Pattern::finish() {
  std::erase_if(graph_.nodes, [](const Node& node) { return node.op.empty(); });
  ANYNPU_TRY(graph_.verify());
  ANYNPU_TRY(remove_dead(graph_));
  index();  // nodes and values have other numbers now: the next sweep reads them
  return {};
}

const Node* Pattern::maker(ValueId id) const {
  const int producer = id == kNoValue ? -1 : producer_[static_cast<size_t>(id)];
  return producer < 0 ? nullptr : &graph_.nodes[static_cast<size_t>(producer)];
}

std::vector<int64_t> Pattern::integers(ValueId id) const {
  return id == kNoValue ? std::vector<int64_t>() : constant_elements<int64_t>(graph_, id);
}

const Node* Pattern::made_by(ValueId id, std::string_view op) const {
  if (id == kNoValue) return nullptr;
  const int producer = producer_[static_cast<size_t>(id)];
  if (producer < 0) return nullptr;
  const Node& node = graph_.nodes[static_cast<size_t>(producer)];
  return node.op == op && node.domain.empty() && node.outputs.size() == 1 ? &node : nullptr;
}

const Node* Pattern::absorbed(ValueId id, std::string_view op) const {
  return id != kNoValue && only_user(id) >= 0 ? made_by(id, op) : nullptr;
}

const Node* Pattern::absorbed(ValueId id) const {
  const int producer = only_user(id) < 0 ? -1 : producer_[static_cast<size_t>(id)];
  return producer < 0 ? nullptr : &graph_.nodes[static_cast<size_t>(producer)];
}

const Node* Pattern::next(ValueId id, std::string_view op) const {
  const int user = only_user(id);
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
  // Kernels scale what they multiply: of infinite numbers they would take differences.
  if (!std::isfinite(found->scalar)) return {};
  return found;
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
