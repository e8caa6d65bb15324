// SPDX-License-Identifier: Apache-2.0
#include "service/aclnn/joined_part.h"

#include <algorithm>

#include "aclnn/fuse.h"
#include "compile/plan_fusion.h"

namespace anynpu::service {

namespace {

using graph::Graph;
using graph::ValueId;

size_t place_of(const std::vector<ValueId>& list, ValueId id) {
  return static_cast<size_t>(std::find(list.begin(), list.end(), id) - list.begin());
}

// Joining moves readers behind other nodes: whether all still read before the memory is
// overwritten.
bool reads_come_first(const Graph& graph, const std::vector<aclnn::Overwrite>& overwrites) {
  for (const aclnn::Overwrite& o : overwrites) {
    bool written = false;
    for (const graph::Node& node : graph.nodes) {
      const bool reads = std::ranges::find(node.inputs, o.input) != node.inputs.end();
      if (written && reads) return false;
      written = written || std::ranges::find(node.outputs, o.output) != node.outputs.end();
    }
  }
  return true;
}

// The part with programs; false when it cannot have any.
bool join_programs(aclnn::Part& part) {
  const Graph before = part.graph;
  if (!compile::join_elementwise(part.graph).ok()) return false;
  if (part.graph.nodes.size() == before.nodes.size()) return false;
  for (aclnn::Overwrite& o : part.overwrites) {  // values have new numbers
    o.input = part.graph.inputs[place_of(before.inputs, o.input)];
    o.output = part.graph.outputs[place_of(before.outputs, o.output)];
  }
  return reads_come_first(part.graph, part.overwrites);
}

}  // namespace

std::vector<Graph> joined_graphs(const aclnn::Part& part) {
  std::vector<Graph> found{part.graph};
  Graph tiled = aclnn::fused(part);
  if (tiled.nodes.size() < found.front().nodes.size())
    found.insert(found.begin(), std::move(tiled));
  aclnn::Part with_programs{.graph = part.graph,
                            .overwrites = part.overwrites,
                            .inputs = {},
                            .outputs = {},
                            .transfers = {}};
  if (!join_programs(with_programs)) return found;
  Graph programs = aclnn::fused(with_programs);
  if (programs.nodes.size() <= found.front().nodes.size())
    found.insert(found.begin(), std::move(programs));
  return found;
}

}  // namespace anynpu::service
