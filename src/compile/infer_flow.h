// SPDX-License-Identifier: Apache-2.0
// Types and shapes of control flow and sequences. Subgraphs are inferred from what is known about
// their inputs and optimised like the outer graph. What is known only at run time stays unknown.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace anynpu::compile {

class FoldBudget;

// True for the operators of ops/flow, and for any other that is fed a sequence or an optional.
bool is_flow(const graph::Graph& graph, const graph::Node& node);

// Writes the outputs of `node` into the graph and the inferred subgraphs into the node. Fails when
// carried values change their type or the branches of an If differ in it.
Status infer_flow(graph::Graph& graph, graph::Node& node,
                  const std::vector<std::string>& passes_off, FoldBudget& budget);

// For an If with a constant condition: the nodes of its branch, to be inferred instead. Else empty.
Result<std::vector<graph::Node>> inline_branch(graph::Graph& graph, const graph::Node& node,
                                               const std::vector<std::string>& passes_off);

// Every value is a tensor with a type and a fixed shape, as PassShapes::known needs it.
bool all_shapes_known(const graph::Graph& graph);

}  // namespace anynpu::compile
