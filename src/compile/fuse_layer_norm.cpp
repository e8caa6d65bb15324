// SPDX-License-Identifier: Apache-2.0
// Normalisation over the last axis written out in small operators, as exporters do below opset 17
// and 23: layer normalisation
//   d = x - ReduceMean(x);  y = d / Sqrt(ReduceMean(d * d) + epsilon) * scale + bias
// and as TensorFlow and Keras write it:
//   r = scale / Sqrt(ReduceMean(d * d) + epsilon);  y = x * r + (bias - ReduceMean(x) * r)
// (the scale may be a factor of d, of the quotient or of r);
// and root mean square normalisation, y = x / Sqrt(ReduceMean(x * x) + epsilon) * scale. Scale and
// bias may be left out. A scale and a bias behind a LayerNormalization that has none become its
// own.
#include <algorithm>

#include "compile/match.h"

namespace anynpu::compile {

namespace {

using graph::kNoValue;
using graph::Node;
using graph::ValueId;

Term mean(const Term& x) { return op("ReduceMean", {x}, over_last_axis()); }
Term square(const Term& x) { return either({op("Mul", {x, x}), op("Pow", {x, number(2)})}); }
// The mean square of `d` and epsilon, which the rate is the inverse root of.
Term variance(const Term& d) { return both("Add", mean(square(d)), number("epsilon")); }
Term deviation(const Term& d) {
  return either({op("Sqrt", {variance(d)}), op("Pow", {variance(d), number(0.5)})});
}
Term rate(const Term& d) {
  return either({op("Reciprocal", {deviation(d)}), op("Div", {number(1), deviation(d)}),
                 op("Pow", {variance(d), number(-0.5)})});
}
// `x` times the rate of `d`.
Term normalised(const Term& x, const Term& d) {
  return either({op("Div", {x, deviation(d)}), both("Mul", x, rate(d))});
}

struct Spelling {
  std::string_view op;  // what it becomes
  Term term;
};

// Those with more operators come first.
std::vector<Spelling> spellings() {
  const Term x = any("x"), scale = any("scale", constant()), bias = any("bias", constant());
  const Term centre = mean(x), d = op("Sub", {x, centre});
  const Term layer = normalised(d, d);
  const Term scaled = either({both("Mul", layer, scale), normalised(both("Mul", d, scale), d)});
  const Term factor = named("factor", either({both("Mul", rate(d), scale), rate(d)}));
  const Term minus = both("Mul", op("Neg", {centre}), factor);
  const Term shift =
      either({op("Sub", {bias, both("Mul", centre, factor)}), both("Add", minus, bias)});
  const Term root = normalised(x, x);
  return {{"LayerNormalization", both("Add", scaled, bias)},
          {"LayerNormalization", both("Add", both("Mul", x, factor), shift)},
          {"LayerNormalization", both("Add", both("Mul", x, factor), minus)},
          {"LayerNormalization", op("Sub", {both("Mul", x, factor), both("Mul", centre, factor)})},
          {"LayerNormalization", scaled},
          {"LayerNormalization", layer},
          {"RMSNormalization", both("Mul", root, scale)},
          {"RMSNormalization", root}};
}

class NormFinder {
 public:
  explicit NormFinder(graph::Graph& graph) : graph_(graph), pattern_(graph), names_(graph) {}

  Status run() {
    for (const Spelling& spelling : spellings()) {
      const std::string& last = (*spelling.term).name;
      ANYNPU_TRY(pattern_.sweep([&](const Node& node) {
        const bool may = node.domain.empty() && node.outputs.size() == 1 &&
                         (last.empty() ? node.op == "Div" || node.op == "Mul" : node.op == last);
        return may && replace(node, spelling);
      }));
    }
    return pattern_.sweep([&](const Node& node) {
      const bool may = node.domain.empty() && node.inputs.size() == 2 && node.outputs.size() == 1;
      return may && (node.op == "Mul" || node.op == "Add") && absorb_parameter(node);
    });
  }

 private:
  bool is_ones(ValueId id) const {
    const auto elements = constant_elements<float>(graph_, id);
    return !elements.empty() && std::all_of(elements.begin(), elements.end(),
                                            [](float element) { return element == 1; });
  }

  // A product with a scale, or a sum with a bias, behind a normalisation without.
  bool absorb_parameter(const Node& node) {
    for (size_t i = 0; i < 2; ++i) {
      const Node* norm = pattern_.absorbed(node.inputs[i], "LayerNormalization");
      const ValueId parameter = node.inputs[1 - i], y = node.outputs[0];
      if (!norm || norm->inputs.size() != 2 || !pattern_.value(parameter).constant) continue;
      const ValueId x = norm->inputs[0];
      const auto rank = static_cast<int64_t>(pattern_.value(x).shape.size());
      const int64_t axis = norm->int_attr("axis", -1);
      if ((axis != -1 && axis != rank - 1) || pattern_.value(x).shape != pattern_.value(y).shape ||
          !is_parameter(parameter, x) || (node.op == "Mul" && !is_ones(norm->inputs[1])))
        continue;
      Node fused = *norm;
      if (node.op == "Mul") {
        fused.inputs[1] = as_list(parameter);
      } else {
        fused.inputs.push_back(as_list(parameter));
      }
      pattern_.replace_producer(y, std::move(fused));
      return true;
    }
    return false;
  }

  // A constant of as many elements as the last axis of `x`, whose other axes have an extent of 1.
  bool is_parameter(ValueId id, ValueId x) const {
    const graph::Value& v = pattern_.value(id);
    const Shape& of_x = pattern_.value(x).shape;
    return v.dtype == pattern_.value(x).dtype && !v.shape.empty() &&
           v.shape.size() <= of_x.size() && v.shape.back() == of_x.back() &&
           element_count(v.shape) == v.shape.back();
  }

  // The parameter as a list, which the operator wants.
  ValueId as_list(ValueId id) {
    if (pattern_.value(id).shape.size() == 1) return id;
    graph::Value list = pattern_.value(id);
    list.name = names_.take(list.name + "/list");
    list.shape = {list.shape.back()};
    return pattern_.adopt(graph_.add_value(std::move(list)));
  }

  // Ones as the scale of a normalisation without.
  ValueId ones(ValueId x, const std::string& name) {
    const int64_t width = pattern_.value(x).shape.back();
    return pattern_.adopt(add_constant(graph_, name + "/scale", {width},
                                       std::vector<float>(static_cast<size_t>(width), 1.0f),
                                       &names_));
  }

  bool replace(const Node& node, const Spelling& spelling) {
    const ValueId y = node.outputs[0];
    const auto match = find(pattern_, spelling.term, y);
    if (!match) return false;
    const ValueId x = match->value("x"), scale = match->value("scale"), bias = match->value("bias");
    const Shape& shape = pattern_.value(x).shape;
    if (!pattern_.fuses(x) || shape.empty() || !is_static(shape) ||
        shape != pattern_.value(y).shape || match->number("epsilon") < 0)
      return false;
    for (ValueId id : {scale, bias}) {
      if (id != kNoValue && !is_parameter(id, x)) return false;
    }
    if (scale == kNoValue && !pattern_.is_f32(x)) return false;
    Node fused;
    fused.op = spelling.op;
    fused.opset = fused.op == "LayerNormalization" ? 17 : 23;
    fused.inputs = {x, scale == kNoValue ? ones(x, node.name) : as_list(scale)};
    if (bias != kNoValue) fused.inputs.push_back(as_list(bias));
    fused.attrs["axis"] = int64_t{-1};
    fused.attrs["epsilon"] = match->number("epsilon");
    pattern_.replace_producer(y, std::move(fused));
    return true;
  }

  graph::Graph& graph_;
  Pattern pattern_;
  NewNames names_;
};

}  // namespace

Status fuse_layer_norm(graph::Graph& graph) { return NormFinder(graph).run(); }

}  // namespace anynpu::compile
