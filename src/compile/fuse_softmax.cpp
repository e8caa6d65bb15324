// SPDX-License-Identifier: Apache-2.0
// Softmax written out in small operators, as programs do for its stability:
//   e = Exp(x - ReduceMax(x));  y = e / ReduceSum(e)
// over the last axis, becomes Softmax.
#include "compile/match.h"

namespace anynpu::compile {

using graph::Node;
using graph::ValueId;

Status fuse_softmax(graph::Graph& graph) {
  Pattern pattern(graph);
  const Term x = any("x");
  const Term e = op("Exp", {op("Sub", {x, op("ReduceMax", {x}, over_last_axis())})});
  const Term sum = op("ReduceSum", {e}, over_last_axis());
  const Term y = either({op("Div", {e, sum}), both("Mul", e, op("Reciprocal", {sum}))});
  return pattern.sweep([&](const Node& node) {
    if (!node.domain.empty() || (node.op != "Div" && node.op != "Mul")) return false;
    const ValueId made = node.outputs[0];
    const auto match = find(pattern, y, made);
    if (!match || !pattern.fuses(match->value("x"))) return false;
    Node softmax;
    softmax.op = "Softmax";
    softmax.opset = 13;
    softmax.inputs = {match->value("x")};
    softmax.attrs["axis"] = int64_t{-1};
    pattern.replace_producer(made, std::move(softmax));
    return true;
  });
}

}  // namespace anynpu::compile
