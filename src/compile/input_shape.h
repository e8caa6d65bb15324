// SPDX-License-Identifier: Apache-2.0
// The grammar of --input_shape: "name1:d,d,d;name2:d,d", a scalar as "name:". An extent is a
// number, -1 (any) or a range low~high. Names may hold colons: the last one of each part separates.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"

namespace anynpu::compile {

struct Extent {
  int64_t low = 0;
  int64_t high = 0;  // -1 = no limit
  bool is_fixed() const { return low == high; }
  bool operator==(const Extent&) const = default;
};

struct InputShape {
  std::string name;
  std::vector<Extent> extents;
};

Result<std::vector<InputShape>> parse_input_shapes(std::string_view text);

// "name:[8~20,3,5,-1];..." of --input_shape_range, the older way to write ranges.
Result<std::vector<InputShape>> parse_input_shape_range(std::string_view text);

// Writes the shapes into the graph's inputs; false when a dimension stays unknown (-1 or a range).
// Fails when a name is not an input, a shape contradicts the model, or an input of the model has an
// unknown dimension that the command line does not mention.
Result<bool> apply_input_shapes(const std::vector<InputShape>& shapes, graph::Graph& graph);

}  // namespace anynpu::compile
