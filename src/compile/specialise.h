// SPDX-License-Identifier: Apache-2.0
// Specialises a dynamic model for one set of input shapes, so that it can be planned.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "om/model.h"

namespace anynpu::compile {

// A copy of `graph` (constants are shared) with these input shapes, all shapes inferred, the passes
// that need shapes run, and the AIPP of `meta` inserted. If a shape does not fit, the error names
// the node.
Result<graph::Graph> specialise(const graph::Graph& graph, std::span<const Shape> shapes,
                                const om::Meta& meta);

// Runs the passes that need shapes, on a graph whose input shapes are known. If a shape stays
// unknown until run time, the fusing passes run later, on each part with fixed shapes, when the
// model is loaded. A subgraph uses the fold `budget` of the outer graph.
class FoldBudget;
Status optimise_shaped(graph::Graph& graph, const std::vector<std::string>& passes_off = {},
                       FoldBudget* budget = nullptr);

}  // namespace anynpu::compile
