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

// Writes the shapes into the graph's inputs. Fails when a name is no input, a shape contradicts the
// model, or an input is left with an unknown extent.
Status apply_input_shapes(const std::vector<InputShape>& shapes, graph::Graph& graph);

}  // namespace anynpu::compile
