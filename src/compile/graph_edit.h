// SPDX-License-Identifier: Apache-2.0
// Helpers for passes: reading constants, adding values to a graph.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/unique_names.h"

namespace anynpu::compile {

// The value's elements as T; empty when it is not a constant of that type.
template <typename T>
std::vector<T> constant_elements(const graph::Graph& graph, graph::ValueId id);

// Names for new values, unique in the graph. Reads the graph once.
class NewNames {
 public:
  explicit NewNames(const graph::Graph& graph);
  // `name`, with a number appended when a value has it already.
  std::string take(const std::string& name) { return names_.take(name); }

 private:
  graph::UniqueNames names_{1};
};

// A new constant of f32, f64 or i64 elements, named `name` or a variation of it. A pass that adds
// many passes its `names`; without them the graph is searched each time.
template <typename T>
graph::ValueId add_constant(graph::Graph& graph, const std::string& name, const Shape& shape,
                            std::vector<T> elements, NewNames* names = nullptr);

}  // namespace anynpu::compile
