// SPDX-License-Identifier: Apache-2.0
// Nodes of opsets before 7, rewritten to a form that later opsets have: broadcasting by attribute
// becomes broadcasting by shape, attributes get their later names, types and defaults.
#pragma once

#include <cstdint>
#include <string>

#include "graph/graph.h"

namespace anynpu::onnx {

// The opset whose definition describes `op` of `opset` once upgraded; `opset` itself where nothing
// is rewritten.
int64_t upgraded_opset(const std::string& op, const std::string& domain, int64_t opset);

// Rewrites `node`, which has its attributes and inputs but is not in the graph yet; may add nodes
// in front. Fails if a later opset has no equivalent.
Status upgrade(graph::Node& node, graph::Graph& graph);

}  // namespace anynpu::onnx
