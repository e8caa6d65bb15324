// SPDX-License-Identifier: Apache-2.0
// Maps each operator of the compiled model to the operators of the source model that it replaces.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace anynpu::compile {

// The nodes of a source graph, by name, with their outputs.
struct SourceNodes {
  explicit SourceNodes(const graph::Graph& graph);
  struct Node {
    std::string name;
    std::vector<std::string> outputs;
    std::vector<size_t> users;  // indices of nodes
  };
  std::vector<Node> nodes;
};

// For each node of `graph`: its name and those it stands for, in the order of the source; a node
// that the compiler added stands for itself. A source node belongs to the node that has its name,
// else to the one that makes its result, else to the one its user belongs to.
std::vector<std::pair<std::string, std::vector<std::string>>> origins(const SourceNodes& source,
                                                                      const graph::Graph& graph);

}  // namespace anynpu::compile
