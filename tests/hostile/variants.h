// SPDX-License-Identifier: Apache-2.0
// A model and its inputs, changed in one place at a time: what a stranger's file may hold and the
// operators' authors did not think of.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace anynpu::hostile {

// What one input of a run is given.
struct Feed {
  DType dtype = DType::undefined;
  Shape shape;
  std::vector<std::byte> bytes;
};

struct Variant {
  std::string name;  // "input 1 emptied, a constant"
  graph::Graph graph;
  std::vector<Feed> feeds;  // one for each input of the graph
};

// Calls `visit` with every variant, in the same order each time: each input emptied, doubled, of
// another rank, of another type, with values at the ends of its type; each optional operand left
// out; each attribute at the ends of its type. What changes an input is done four times: as an
// input, as an input of a model that states no shapes behind it, as a constant, and through an
// operator whose result only a run can tell. Variants for which `wanted` says no are not made.
void for_each_variant(const graph::Graph& graph, const std::vector<Feed>& feeds,
                      const std::function<bool()>& wanted,
                      const std::function<void(Variant&&)>& visit);

}  // namespace anynpu::hostile
