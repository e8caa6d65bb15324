// SPDX-License-Identifier: Apache-2.0
// x * Sigmoid(alpha * x), as exporters write it below opset 24, becomes Swish.
#include <cmath>

#include "compile/pattern.h"

namespace anynpu::compile {

using graph::Node;
using graph::ValueId;

Status fuse_swish(graph::Graph& graph) {
  Pattern pattern(graph);
  return pattern.sweep([&](const Node& node) {
    if (node.op != "Mul" || !node.domain.empty() || node.inputs.size() != 2) return false;
    for (size_t i = 0; i < 2; ++i) {
      const ValueId x = node.inputs[1 - i];
      const Node* sigmoid = pattern.absorbed(node.inputs[i], "Sigmoid");
      if (!sigmoid || !pattern.fuses(x)) continue;
      float alpha = 1;
      if (sigmoid->inputs[0] != x) {
        const Node* product = pattern.absorbed(sigmoid->inputs[0], "Mul");
        const auto scaled = product ? pattern.scaled(*product) : std::nullopt;
        const bool same = pattern.value(x).shape == pattern.value(node.outputs[0]).shape;
        if (!scaled || scaled->other != x || !std::isfinite(scaled->scalar) || !same) continue;
        alpha = scaled->scalar;
      }
      Node fused;
      fused.op = "Swish";
      fused.opset = 24;
      fused.inputs = {x};
      if (alpha != 1) fused.attrs["alpha"] = alpha;
      pattern.replace_producer(node.outputs[0], std::move(fused));
      return true;
    }
    return false;
  });
}

}  // namespace anynpu::compile
