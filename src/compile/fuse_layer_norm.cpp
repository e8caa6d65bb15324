// SPDX-License-Identifier: Apache-2.0
// Layer normalisation written out in small operators, as exporters do below opset 17:
//   d = x - ReduceMean(x);  y = d / Sqrt(ReduceMean(d * d) + epsilon) * scale + bias
#include "compile/pattern.h"

namespace anynpu::compile {

namespace {

using graph::Node;
using graph::ValueId;

class LayerNormFinder {
 public:
  explicit LayerNormFinder(graph::Graph& graph) : graph_(graph), pattern_(graph) {}

  Status run() {
    return pattern_.sweep([&](const Node& add) {
      return add.op == "Add" && add.domain.empty() && add.inputs.size() == 2 && match(add);
    });
  }

 private:
  // The mean over the last axis, kept as an extent of 1.
  const Node* mean(ValueId id) const {
    const Node* node = pattern_.made_by(id, "ReduceMean");
    if (!node || node->int_attr("keepdims", 1) != 1) return nullptr;
    std::vector<int64_t> axes = node->ints_attr("axes");
    if (axes.empty() && node->inputs.size() > 1) {
      axes = constant_elements<int64_t>(graph_, node->inputs[1]);
    }
    const auto rank = static_cast<int64_t>(pattern_.value(node->inputs[0]).shape.size());
    return axes.size() == 1 && (axes[0] == -1 || axes[0] == rank - 1) ? node : nullptr;
  }

  // d * d, or d to the power of 2.
  bool is_square(ValueId id, ValueId d) const {
    if (const Node* mul = pattern_.absorbed(id, "Mul")) {
      return mul->inputs[0] == d && mul->inputs[1] == d;
    }
    const Node* pow = pattern_.absorbed(id, "Pow");
    return pow && pow->inputs[0] == d && pattern_.scalar(pow->inputs[1]) == 2.0f;
  }

  // Sqrt(ReduceMean(square of d) + epsilon).
  bool is_deviation(ValueId id, ValueId d, float& epsilon) const {
    const Node* root = pattern_.absorbed(id, "Sqrt");
    const Node* sum = root ? pattern_.absorbed(root->inputs[0], "Add") : nullptr;
    const auto parts = sum ? pattern_.with_scalar(*sum) : std::nullopt;
    if (!parts || pattern_.only_user(parts->other) < 0) return false;
    const Node* variance = mean(parts->other);
    epsilon = parts->scalar;
    return variance && is_square(variance->inputs[0], d);
  }

  // A constant of as many elements as the last axis of `x`.
  bool is_parameter(ValueId id, ValueId x) const {
    const graph::Value& v = pattern_.value(id);
    return v.constant && v.dtype == pattern_.value(x).dtype && v.shape.size() == 1 &&
           v.shape[0] == pattern_.value(x).shape.back();
  }

  bool match(const Node& add) {
    for (size_t i = 0; i < 2; ++i) {
      const Node* mul = pattern_.absorbed(add.inputs[i], "Mul");
      for (size_t j = 0; mul && j < 2; ++j) {
        const Node* div = pattern_.absorbed(mul->inputs[j], "Div");
        const Node* sub = div ? pattern_.made_by(div->inputs[0], "Sub") : nullptr;
        if (!sub || !pattern_.fuses(sub->inputs[0])) continue;
        const ValueId x = sub->inputs[0], scale = mul->inputs[1 - j], bias = add.inputs[1 - i];
        const Node* centre = mean(sub->inputs[1]);
        float epsilon = 0;
        if (!centre || centre->inputs[0] != x || !is_parameter(scale, x) ||
            !is_parameter(bias, x) || !is_deviation(div->inputs[1], sub->outputs[0], epsilon) ||
            pattern_.is_output(sub->outputs[0]) ||
            pattern_.value(x).shape != pattern_.value(add.outputs[0]).shape) {
          continue;
        }
        Node fused;
        fused.op = "LayerNormalization";
        fused.opset = 17;
        fused.inputs = {x, scale, bias};
        fused.attrs["epsilon"] = epsilon;
        pattern_.replace_producer(add.outputs[0], std::move(fused));
        return true;
      }
    }
    return false;
  }

  graph::Graph& graph_;
  Pattern pattern_;
};

}  // namespace

Status fuse_layer_norm(graph::Graph& graph) { return LayerNormFinder(graph).run(); }

}  // namespace anynpu::compile
