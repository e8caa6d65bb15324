// SPDX-License-Identifier: Apache-2.0
#include "exec/blocked_values.h"

#include "ops/registry.h"

namespace anynpu::exec {

std::vector<bool> find_blocked_values(const graph::Graph& graph) {
  // How many nodes read a value, and how many of them read it blocked.
  std::vector<int64_t> readers(graph.values.size(), 0), blocked(graph.values.size(), 0);
  const auto all_blocked = [&](graph::ValueId id) {
    const auto at = static_cast<size_t>(id);
    return readers[at] > 0 && readers[at] == blocked[at];
  };
  for (graph::ValueId id : graph.outputs) ++readers[static_cast<size_t>(id)];
  for (size_t n = graph.nodes.size(); n-- > 0;) {
    const graph::Node& node = graph.nodes[n];
    for (graph::ValueId id : node.inputs) {
      if (id != graph::kNoValue) ++readers[static_cast<size_t>(id)];
    }
    if (node.inputs.empty() || node.inputs[0] == graph::kNoValue || node.outputs.empty()) continue;
    const ops::BlockedInput wish = ops::traits_of(node).blocked_input;
    if (wish == ops::BlockedInput::yes ||
        (wish == ops::BlockedInput::if_output && node.outputs[0] != graph::kNoValue &&
         all_blocked(node.outputs[0])))
      ++blocked[static_cast<size_t>(node.inputs[0])];
  }
  std::vector<bool> found(graph.values.size());
  for (size_t i = 0; i < found.size(); ++i) found[i] = all_blocked(static_cast<graph::ValueId>(i));
  return found;
}

}  // namespace anynpu::exec
