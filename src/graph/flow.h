// SPDX-License-Identifier: Apache-2.0
// Control flow: nodes whose attributes hold graphs (If, Loop, Scan, SequenceMap). A subgraph is
// closed: values of the outer graph that it uses are captures, the last inputs of the node and, in
// the same order, the last inputs of each of its subgraphs. Their number is the attribute
// "captures". So passes see every use of a value among the inputs of nodes, and need not look
// inside.
//
//   operator     inputs before captures  subgraph inputs              subgraph outputs
//   If           cond                    -                            as the node's
//   Loop         M, cond, carried...     iteration, cond, carried...  cond, carried..., scans...
//   Scan         states..., scanned...   states..., slices...         states..., scans...
//   SequenceMap  sequence, more...       element, more...             elements...
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"

namespace anynpu::graph {

constexpr const char* kCapturesAttr = "captures";
// Limits of nesting: chains of else branches are deep. Nested loops: types and shapes of a body are
// inferred up to three times, so 3^n times for the innermost of n.
constexpr int kMostNestedGraphs = 16;
constexpr int kMostNestedLoops = 8;

// The names of the attributes that hold graphs; empty for any other operator.
std::vector<std::string_view> subgraph_attrs(const Node& node);
inline bool has_subgraphs(const Node& node) { return !subgraph_attrs(node).empty(); }

// Null when the attribute is missing or not a graph.
std::shared_ptr<const Graph> subgraph(const Node& node, std::string_view attr);

size_t captures_of(const Node& node);
// Inputs before the captures.
size_t formal_inputs(const Node& node);

// Checks that subgraphs exist and have the inputs and outputs of the table above.
Status check_flow(const Node& node);

// Captures that are constants in `graph` become constants of the subgraphs.
void sink_constants(const Graph& graph, Node& node);

}  // namespace anynpu::graph
