// SPDX-License-Identifier: Apache-2.0
// Nodes of opsets before 7, rewritten to their form in opset 7: broadcasting by attribute becomes
// broadcasting by shape.
#pragma once

#include <cstdint>
#include <string>

#include "graph/graph.h"

namespace anynpu::onnx {

// The opset whose definition describes `op` of `opset` once upgraded; `opset` itself where nothing
// is rewritten.
int64_t upgraded_opset(const std::string& op, const std::string& domain, int64_t opset);

// Rewrites `node`, which has its attributes and inputs but is not in the graph yet; may add an
// Unsqueeze in front. Fails where the shapes that decide are not stated.
Status upgrade(graph::Node& node, graph::Graph& graph);

}  // namespace anynpu::onnx
