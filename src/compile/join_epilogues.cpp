// SPDX-License-Identifier: Apache-2.0
// A FusedElementwise that reads nothing but the result of a convolution or a matrix product becomes
// its epilogue: the steps run over each part of the result while it is in the cache.
#include <algorithm>
#include <array>

#include "compile/pattern.h"
#include "compile/plan_fusion.h"
#include "ops/elements/program.h"

namespace anynpu::compile {

namespace {

using graph::Node;
using graph::ValueId;

constexpr std::array kKeys = {"steps", "operands", "numbers"};

// In blocks of channels unused ones must stay finite.
bool keeps_finite(const Node& steps) {
  ops::OpContext context;
  context.node = &steps;
  const auto program = ops::Program::of(context, 1);
  return program.ok() && program->keeps_finite();
}

}  // namespace

bool has_epilogue_form(const Node& node) {
  constexpr std::array kPlain = {"Conv", "Gemm", "MatMul"};
  constexpr std::array kFused = {"FusedConv", "FusedGemm", "FusedMatMul", "WeightOnlyMatMul"};
  const auto is = [&](const char* op) { return node.op == op; };
  const bool known = (node.domain == "com.microsoft" && node.op == "MatMulNBits") ||
                     (node.domain.empty() && std::any_of(kPlain.begin(), kPlain.end(), is)) ||
                     (node.domain == "anynpu" && std::any_of(kFused.begin(), kFused.end(), is));
  const std::string activation = node.string_attr("activation", "");
  return known && !node.attrs.contains("steps") &&
         (activation.empty() || activation == "Relu" || activation == "Clip");
}

Status join_epilogues(graph::Graph& graph) {
  Pattern pattern(graph);
  return pattern.sweep([&](const Node& steps) {
    if (steps.op != "FusedElementwise" || steps.domain != "anynpu" || steps.inputs.size() != 1)
      return false;
    const ValueId x = steps.inputs[0];
    const Node* product = pattern.absorbed(x);
    if (!product || !has_epilogue_form(*product) || product->outputs.size() != 1 ||
        pattern.value(x).shape != pattern.value(steps.outputs[0]).shape || !keeps_finite(steps))
      return false;
    const auto shape = [&](size_t i) { return pattern.value(product->inputs[i]).shape.size(); };
    if (product->op == "MatMul" && (shape(0) < 2 || shape(1) < 2)) return false;
    Node fused = *product;
    if (fused.domain != "anynpu") {
      fused.op = "Fused" + fused.op;
      fused.domain = "anynpu";
      fused.opset = 1;
    }
    for (const char* key : kKeys) {
      const auto found = steps.attrs.find(key);
      if (found != steps.attrs.end()) fused.attrs.insert(*found);
    }
    pattern.absorb(steps.outputs[0], std::move(fused));
    return true;
  });
}

}  // namespace anynpu::compile
