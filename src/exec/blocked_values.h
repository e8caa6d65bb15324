// SPDX-License-Identifier: Apache-2.0
// Which tensors of a graph should be stored in blocks of channels (Layout::blocked16).
#pragma once

#include <vector>

#include "graph/graph.h"

namespace anynpu::exec {

// For each value of the graph: whether everything that reads it is a convolution, or an operator
// that keeps the layout for one. What computes such a value may store it blocked at once.
std::vector<bool> find_blocked_values(const graph::Graph& graph);

}  // namespace anynpu::exec
