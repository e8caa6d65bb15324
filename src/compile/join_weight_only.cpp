// SPDX-License-Identifier: Apache-2.0
// DequantizeLinear of constants in front of Gemm and MatMul becomes WeightOnlyMatMul: the weights
// stay packed in memory and are widened in registers (ops/gemm/weight_only.h).
#include <algorithm>
#include <array>

#include "compile/pattern.h"
#include "compile/plan_fusion.h"
#include "ops/registry.h"
#include "ops/simd/tile_bf16.h"

namespace anynpu::compile {

namespace {

using graph::kNoValue;
using graph::Node;
using graph::Value;
using graph::ValueId;

// Below, a group of 4-bit codes and its scale take the memory of floats.
constexpr int64_t kLeastBlock = 8;
constexpr int64_t kFewRows = 8;

class WeightOnlyFuser {
 public:
  explicit WeightOnlyFuser(graph::Graph& graph) : graph_(graph), pattern_(graph) {}
  Status run() {
    return pattern_.sweep([this](const Node& node) { return fuse(node); });
  }

 private:
  const Value& value(ValueId id) const { return pattern_.value(id); }
  static ValueId input(const Node& node, size_t index) {
    return index < node.inputs.size() ? node.inputs[index] : kNoValue;
  }

  static bool is_product(const Node& node) {
    constexpr std::array kPlain = {"Gemm", "MatMul"}, kFused = {"FusedGemm", "FusedMatMul"};
    const auto is = [&](const char* op) { return node.op == op; };
    return (node.domain.empty() && std::any_of(kPlain.begin(), kPlain.end(), is)) ||
           (node.domain == "anynpu" && std::any_of(kFused.begin(), kFused.end(), is));
  }

  bool is_constant(ValueId id) const { return id != kNoValue && value(id).constant; }

  // Whether a bfloat16 product of many rows has instructions of its own, for widened weights.
  bool has_own_product(const Value& a) const {
    int64_t rows = 1;
    for (size_t i = 0; i + 1 < a.shape.size(); ++i) rows *= a.shape[i];
    return a.dtype == DType::bf16 && rows > kFewRows && ops::check_bf16().ok();
  }

  bool fuse(const Node& node) {
    if (!is_product(node) || node.outputs.size() != 1 || node.int_attr("transA", 0) != 0)
      return false;
    const Value& a = value(node.inputs[0]);
    const Node* weights = pattern_.absorbed(node.inputs[1], "DequantizeLinear");
    if (!weights || !is_constant(weights->inputs[0]) || !is_constant(weights->inputs[1]) ||
        a.constant || a.shape.size() < 2 || has_own_product(a))
      return false;
    const Value &codes = value(weights->inputs[0]), &scale = value(weights->inputs[1]);
    const ValueId zero = input(*weights, 2);
    if (codes.shape.size() != 2 || scale.dtype != a.dtype ||
        value(node.inputs[1]).dtype != a.dtype || (zero != kNoValue && !is_constant(zero)))
      return false;
    const bool transposed = node.int_attr("transB", 0) != 0;
    const int64_t n = codes.shape[transposed ? 0 : 1];
    if (!adds_a_row(node, n)) return false;
    Node made;
    made.op = "WeightOnlyMatMul", made.domain = "anynpu", made.opset = 1, made.name = node.name;
    made.inputs = {node.inputs[0], weights->inputs[0], input(node, 2),
                   input(node, 3), weights->inputs[1], zero};
    for (const char* key : {"alpha", "activation", "activation_min", "activation_max", "steps",
                            "operands", "numbers"}) {
      const auto found = node.attrs.find(key);
      if (found != node.attrs.end()) made.attrs.insert(*found);
    }
    made.attrs["transB"] = int64_t{transposed};
    const int64_t axis = weights->int_attr("axis", 1);
    made.attrs["axis"] = axis < 0 ? axis + 2 : axis;
    if (scale.shape.size() == 2) {
      const int64_t block = weights->int_attr("block_size", 0);
      if (block < kLeastBlock) return false;
      made.attrs["block_size"] = block;
    }
    made.outputs = node.outputs;
    if (!has_kernel(made)) return false;
    pattern_.absorb(node.outputs[0], std::move(made));
    return true;
  }

  // C, where there is one, is a row that is added as it is.
  bool adds_a_row(const Node& node, int64_t n) const {
    const ValueId c = input(node, 2);
    if (c == kNoValue) return true;
    const Shape& shape = value(c).shape;
    return node.float_attr("beta", 1) == 1 && element_count(shape) == n && !shape.empty() &&
           shape.back() == n;
  }

  bool has_kernel(const Node& node) const {
    std::vector<ops::Operand> operands;
    for (ValueId id : node.inputs) operands.push_back(ops::Operand::of(graph_, id));
    const auto context = ops::infer(node, std::move(operands));
    if (!context.ok()) return false;
    const auto chosen = ops::choose_kernel(*context);
    return chosen.ok() && (*chosen)->name != "reference";
  }

  graph::Graph& graph_;
  Pattern pattern_;
};

}  // namespace

Status join_weight_only(graph::Graph& graph) {
  if (!has_quantized_weights(graph)) return {};
  return WeightOnlyFuser(graph).run();
}

}  // namespace anynpu::compile
