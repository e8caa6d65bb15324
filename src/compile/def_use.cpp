// SPDX-License-Identifier: Apache-2.0
#include "compile/def_use.h"

namespace anynpu::compile {

DefUse::DefUse(const graph::Graph& graph)
    : producer(graph.values.size(), -1),
      users(graph.values.size()),
      is_output(graph.values.size(), false) {
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    for (graph::ValueId id : graph.nodes[n].outputs) {
      if (id != graph::kNoValue) producer[static_cast<size_t>(id)] = static_cast<int>(n);
    }
    for (graph::ValueId id : graph.nodes[n].inputs) {
      if (id != graph::kNoValue) users[static_cast<size_t>(id)].push_back(static_cast<int>(n));
    }
  }
  for (graph::ValueId id : graph.outputs) is_output[static_cast<size_t>(id)] = true;
}

int DefUse::only_user(graph::ValueId id) const {
  const auto index = static_cast<size_t>(id);
  if (id == graph::kNoValue || is_output[index] || users[index].size() != 1) return -1;
  return users[index][0];
}

}  // namespace anynpu::compile
