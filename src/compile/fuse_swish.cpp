// SPDX-License-Identifier: Apache-2.0
// x * Sigmoid(x), as exporters write it below opset 24, becomes Swish.
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
      if (!sigmoid || sigmoid->inputs[0] != x || !pattern.fuses(x)) continue;
      Node fused;
      fused.op = "Swish";
      fused.opset = 24;
      fused.inputs = {x};
      pattern.replace_producer(node.outputs[0], std::move(fused));
      return true;
    }
    return false;
  });
}

}  // namespace anynpu::compile
