// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "compile/passes.h"

namespace anynpu::compile {

using graph::kNoValue;
using graph::Node;
using graph::ValueId;

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
    out.reserve(ids.size());
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
