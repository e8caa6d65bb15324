// SPDX-License-Identifier: Apache-2.0
// Layer normalisation written out in small operators, as exporters do below opset 17:
//   d = x - ReduceMean(x);  y = d / Sqrt(ReduceMean(d * d) + epsilon) * scale + bias
// and as TensorFlow writes it:
//   r = scale / Sqrt(ReduceMean(d * d) + epsilon);  y = x * r + (bias - ReduceMean(x) * r)
// or, in Keras 3,  y = x * r + (-ReduceMean(x) * r + bias),  with parameters of as many axes as x.
#include <optional>

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
      return add.op == "Add" && add.domain.empty() && add.inputs.size() == 2 &&
             (match(add) || match_with_rate(add));
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

  // A constant of as many elements as the last axis of `x`, whose other axes have an extent of 1.
  bool is_parameter(ValueId id, ValueId x) const {
    const graph::Value& v = pattern_.value(id);
    const Shape& of_x = pattern_.value(x).shape;
    return v.constant && v.dtype == pattern_.value(x).dtype && !v.shape.empty() && !of_x.empty() &&
           v.shape.size() <= of_x.size() && v.shape.back() == of_x.back() &&
           element_count(v.shape) == v.shape.back();
  }

  // The parameter as a list, which the operator wants.
  ValueId as_list(ValueId id) {
    if (pattern_.value(id).shape.size() == 1) return id;
    graph::Value list = pattern_.value(id);
    list.name += "/list";
    while (graph_.find_value(list.name) != graph::kNoValue) list.name += "_";
    list.shape = {list.shape.back()};
    return pattern_.adopt(graph_.add_value(std::move(list)));
  }

  void replace(const Node& add, ValueId x, ValueId scale, ValueId bias, float epsilon) {
    Node fused;
    fused.op = "LayerNormalization";
    fused.opset = 17;
    const ValueId made = add.outputs[0];
    fused.inputs = {x, as_list(scale), as_list(bias)};
    fused.attrs["epsilon"] = epsilon;
    pattern_.replace_producer(made, std::move(fused));
  }

  // What is added to x * rate: the bias, and the product of mean and rate that is taken from it.
  struct Rest {
    ValueId bias;
    ValueId mean, rate;  // in either order
  };
  std::optional<Rest> read_rest(ValueId id) const {
    if (const Node* difference = pattern_.absorbed(id, "Sub")) {
      const Node* moved = pattern_.absorbed(difference->inputs[1], "Mul");
      if (moved) return Rest{difference->inputs[0], moved->inputs[0], moved->inputs[1]};
    }
    const Node* sum = pattern_.absorbed(id, "Add");
    for (size_t i = 0; sum && i < 2; ++i) {
      const Node* moved = pattern_.absorbed(sum->inputs[i], "Mul");
      for (size_t j = 0; moved && j < 2; ++j) {
        const Node* minus = pattern_.absorbed(moved->inputs[j], "Neg");
        if (minus) return Rest{sum->inputs[1 - i], minus->inputs[0], moved->inputs[1 - j]};
      }
    }
    return std::nullopt;
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
        replace(add, x, scale, bias, epsilon);
        return true;
      }
    }
    return false;
  }

  // Reciprocal(Sqrt(ReduceMean(square of x - ReduceMean(x)) + epsilon)); the mean is returned.
  const Node* read_rate(ValueId id, ValueId x, float& epsilon) const {
    const Node* inverse = pattern_.absorbed(id, "Reciprocal");
    const Node* root = inverse ? pattern_.absorbed(inverse->inputs[0], "Sqrt") : nullptr;
    const Node* sum = root ? pattern_.absorbed(root->inputs[0], "Add") : nullptr;
    const auto parts = sum ? pattern_.with_scalar(*sum) : std::nullopt;
    const Node* variance = parts ? mean(parts->other) : nullptr;
    const Node* square = variance ? pattern_.absorbed(variance->inputs[0], "Mul") : nullptr;
    if (!square || square->inputs[0] != square->inputs[1]) return nullptr;
    const Node* d = pattern_.made_by(square->inputs[0], "Sub");
    const Node* centre = d && d->inputs[0] == x ? mean(d->inputs[1]) : nullptr;
    epsilon = parts->scalar;
    return centre && centre->inputs[0] == x ? centre : nullptr;
  }

  bool match_with_rate(const Node& add) {
    for (size_t i = 0; i < 2; ++i) {
      const Node* scaled = pattern_.absorbed(add.inputs[i], "Mul");
      const auto rest = read_rest(add.inputs[1 - i]);
      if (!scaled || !rest) continue;
      for (size_t j = 0; j < 2; ++j) {
        const ValueId x = scaled->inputs[j], rate = scaled->inputs[1 - j], bias = rest->bias;
        const Node* product = pattern_.made_by(rate, "Mul");
        if (!product || !pattern_.fuses(x) || !is_parameter(bias, x)) continue;
        for (size_t k = 0; k < 2; ++k) {
          const ValueId scale = product->inputs[k];
          float epsilon = 0;
          if (!is_parameter(scale, x)) continue;
          const Node* centre = read_rate(product->inputs[1 - k], x, epsilon);
          if (!centre) continue;
          const ValueId m = centre->outputs[0];
          const bool same =
              (rest->mean == m && rest->rate == rate) || (rest->rate == m && rest->mean == rate);
          if (!same || pattern_.value(x).shape != pattern_.value(add.outputs[0]).shape) continue;
          replace(add, x, scale, bias, epsilon);
          return true;
        }
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
