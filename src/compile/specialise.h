// SPDX-License-Identifier: Apache-2.0
// One set of input shapes of a dynamic model: the graph that a plan can be made of.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "om/model.h"

namespace anynpu::compile {

// A copy of `graph` (constants are shared) with these input shapes, all shapes inferred, the passes
// that need shapes run, and the AIPP of `meta` in front. Fails with the node's sentence when
// a shape does not fit.
Result<graph::Graph> specialise(const graph::Graph& graph, std::span<const Shape> shapes,
                                const om::Meta& meta);

// The passes that need shapes, on a graph whose inputs have theirs. Where a shape stays open until
// the model runs, the fusing passes wait: they run on each part of fixed shapes when it is loaded.
// A subgraph folds constants out of the `budget` of the graph around it.
class FoldBudget;
Status optimise_shaped(graph::Graph& graph, const std::vector<std::string>& passes_off = {},
                       FoldBudget* budget = nullptr);

}  // namespace anynpu::compile
