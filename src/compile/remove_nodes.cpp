// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "compile/passes.h"

namespace anynpu::compile {

namespace {

using graph::kNoValue;
using graph::Node;
using graph::ValueId;

void replace(std::vector<ValueId>& ids, ValueId from, ValueId to) {
  std::replace(ids.begin(), ids.end(), from, to);
}

void replace_everywhere(graph::Graph& graph, ValueId from, ValueId to) {
  for (Node& node : graph.nodes) {
    replace(node.inputs, from, to);
    replace(node.outputs, from, to);
  }
}

// A Dropout copies its input unless its training_mode input says otherwise or its mask is used.
bool is_copy(const graph::Graph& graph, const Links& links, const Node& node) {
  if (!node.domain.empty()) return false;
  if (node.op == "Identity") return node.inputs.size() == 1 && node.outputs.size() == 1;
  if (node.op != "Dropout" || node.inputs.empty() || node.outputs.empty()) return false;
  if (node.outputs.size() > 1 && node.outputs[1] != kNoValue) {
    const auto mask = static_cast<size_t>(node.outputs[1]);
    if (links.is_output[mask] || !links.users[mask].empty()) return false;
  }
  if (node.inputs.size() > 2 && node.inputs[2] != kNoValue) {
    const auto& training = graph.values[static_cast<size_t>(node.inputs[2])].constant;
    return training && training->bytes.size() == 1 && training->bytes[0] == std::byte{0};
  }
  return node.opset >= 7 || node.int_attr("is_test", 0) != 0;
}

// Connects around a copy; false when both sides have names that callers see.
bool bypass(graph::Graph& graph, const Links& links, const Node& node) {
  const ValueId from = node.inputs[0], to = node.outputs[0];
  if (from == kNoValue || to == kNoValue) return false;
  if (!links.is_output[static_cast<size_t>(to)]) {
    for (Node& user : graph.nodes) replace(user.inputs, to, from);
    return true;
  }
  // The output keeps its name: let the node in front write it directly.
  const auto source = static_cast<size_t>(from);
  if (links.producer[source] < 0 || links.is_output[source]) return false;
  replace_everywhere(graph, from, to);
  return true;
}

}  // namespace

Status remove_identities(graph::Graph& graph) {
  for (size_t n = 0; n < graph.nodes.size();) {
    const Node node = graph.nodes[n];
    if (node.op != "Identity" && node.op != "Dropout") {
      ++n;
      continue;
    }
    const Links links(graph);
    if (is_copy(graph, links, node)) {
      graph.nodes.erase(graph.nodes.begin() + static_cast<ptrdiff_t>(n));
      if (bypass(graph, links, node)) continue;
      graph.nodes.insert(graph.nodes.begin() + static_cast<ptrdiff_t>(n), node);
    }
    ++n;
  }
  return graph.verify();
}

Status remove_dead(graph::Graph& graph) {
  std::vector<bool> live(graph.values.size(), false);
  for (ValueId id : graph.outputs) live[static_cast<size_t>(id)] = true;
  for (ValueId id : graph.inputs) live[static_cast<size_t>(id)] = true;
  std::vector<bool> needed(graph.nodes.size(), false);
  for (size_t n = graph.nodes.size(); n-- > 0;) {
    const Node& node = graph.nodes[n];
    needed[n] = std::any_of(node.outputs.begin(), node.outputs.end(), [&](ValueId id) {
      return id != kNoValue && live[static_cast<size_t>(id)];
    });
    if (!needed[n]) continue;
    for (ValueId id : node.inputs) {
      if (id != kNoValue) live[static_cast<size_t>(id)] = true;
    }
    for (ValueId id : node.outputs) {
      if (id != kNoValue) live[static_cast<size_t>(id)] = true;
    }
  }

  graph::Graph kept;
  kept.name = std::move(graph.name);
  std::vector<ValueId> renumbered(graph.values.size(), kNoValue);
  for (size_t i = 0; i < graph.values.size(); ++i) {
    if (live[i]) renumbered[i] = kept.add_value(std::move(graph.values[i]));
  }
  const auto renumber = [&](const std::vector<ValueId>& ids) {
    std::vector<ValueId> out;
    for (ValueId id : ids) {
      out.push_back(id == kNoValue ? kNoValue : renumbered[static_cast<size_t>(id)]);
    }
    return out;
  };
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (!needed[n]) continue;
    Node node = std::move(graph.nodes[n]);
    node.inputs = renumber(node.inputs);
    node.outputs = renumber(node.outputs);
    kept.nodes.push_back(std::move(node));
  }
  kept.inputs = renumber(graph.inputs);
  kept.outputs = renumber(graph.outputs);
  graph = std::move(kept);
  return graph.verify();
}

}  // namespace anynpu::compile
