// SPDX-License-Identifier: Apache-2.0
// Def-use chains: the node that defines each value, and the nodes that use it.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace anynpu::compile {

// Of every value of a graph, by its id. Valid until the graph changes.
struct DefUse {
  explicit DefUse(const graph::Graph& graph);
  // The one node that uses `id`, or -1: none, several, or an output of the graph.
  int only_user(graph::ValueId id) const;

  std::vector<int> producer;            // node index, or -1
  std::vector<std::vector<int>> users;  // node indices, once per use
  std::vector<bool> is_output;          // of the graph
};

}  // namespace anynpu::compile
