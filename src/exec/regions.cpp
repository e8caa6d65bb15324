// SPDX-License-Identifier: Apache-2.0
// Finds the smallest part of a graph that has to run step by step.
#include <algorithm>

#include "exec/step_program.h"
#include "graph/flow.h"

namespace anynpu::exec {

namespace {

bool is_fixed(const graph::Graph& graph, const std::vector<graph::ValueId>& ids) {
  return std::all_of(ids.begin(), ids.end(), [&](graph::ValueId id) {
    if (id == graph::kNoValue) return true;
    const graph::Value& value = graph.values[static_cast<size_t>(id)];
    return value.kind == graph::ValueKind::tensor && bits_of(value.dtype) > 0 && value.has_shape &&
           is_static(value.shape);
  });
}

}  // namespace

// Planned nodes are pulled together: a node's level is the number of changes between planned and
// stepped nodes on the way to it.
std::vector<Region> split_regions(const graph::Graph& graph) {
  std::vector<int> made_at(graph.values.size(), 0);
  std::vector<bool> made_stepped(graph.values.size(), false);
  std::vector<Region> regions;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const graph::Node& node = graph.nodes[n];
    const bool planned = is_fixed(graph, node.inputs) && is_fixed(graph, node.outputs);
    int level = 0;
    for (graph::ValueId id : node.inputs) {
      if (id == graph::kNoValue) continue;
      const auto at = static_cast<size_t>(id);
      level = std::max(level, made_at[at] + (planned && made_stepped[at] ? 1 : 0));
    }
    for (graph::ValueId id : node.outputs) {
      if (id == graph::kNoValue) continue;
      made_at[static_cast<size_t>(id)] = level;
      made_stepped[static_cast<size_t>(id)] = !planned;
    }
    const size_t index = static_cast<size_t>(level) * 2 + (planned ? 0 : 1);
    if (regions.size() <= index) regions.resize(index + 1);
    regions[index].planned = planned;
    regions[index].nodes.push_back(n);
  }
  std::erase_if(regions, [](const Region& region) { return region.nodes.empty(); });
  return regions;
}

}  // namespace anynpu::exec
