// SPDX-License-Identifier: Apache-2.0
// Gelu written out in small operators, as exporters do below opset 20: a product of x, 1/2 and
//   1 + Erf(x / sqrt 2)   or   1 + Tanh(sqrt(2 / pi) * (x + 0.044715 x^3))
#include <cmath>

#include "compile/pattern.h"

namespace anynpu::compile {

namespace {

using graph::kNoValue;
using graph::Node;
using graph::ValueId;

class GeluFinder {
 public:
  explicit GeluFinder(graph::Graph& graph) : pattern_(graph) {}

  Status run() {
    return pattern_.sweep([&](const Node& node) {
      return node.op == "Mul" && node.domain.empty() && node.outputs.size() == 1 && match(node);
    });
  }

 private:
  DType type(ValueId id) const { return pattern_.value(id).dtype; }

  // The factors of nested products that nobody else reads; scalars are multiplied together.
  bool factors(const Node& node, int depth, std::vector<ValueId>& list, float& scale) const {
    if (node.inputs.size() != 2) return false;
    for (ValueId id : node.inputs) {
      if (const auto constant = pattern_.scalar(id)) {
        scale *= *constant;
        continue;
      }
      const Node* inner = depth > 0 ? pattern_.absorbed(id, "Mul") : nullptr;
      if (!inner) {
        list.push_back(id);
      } else if (!factors(*inner, depth - 1, list, scale)) {
        return false;
      }
    }
    return true;
  }

  // x^3, as Pow or as products.
  bool is_cube(ValueId id, ValueId x) const {
    if (const Node* pow = pattern_.absorbed(id, "Pow")) {
      return pow->inputs[0] == x && pattern_.scalar(pow->inputs[1]) == 3.0f;
    }
    std::vector<ValueId> list;
    float scale = 1;
    const Node* mul = pattern_.absorbed(id, "Mul");
    return mul && factors(*mul, 2, list, scale) && scale == 1 &&
           list == std::vector<ValueId>{x, x, x};
  }

  // sqrt(2 / pi) * (x + 0.044715 x^3); x is returned.
  ValueId tanh_argument(ValueId id) const {
    const Node* mul = pattern_.absorbed(id, "Mul");
    const auto outer = mul ? pattern_.scaled(*mul) : std::nullopt;
    if (!outer || !about(outer->scalar, 0.7978845608028654, type(id))) return kNoValue;
    const Node* add = pattern_.absorbed(outer->other, "Add");
    for (size_t i = 0; add && i < 2; ++i) {
      const Node* term = pattern_.absorbed(add->inputs[i], "Mul");
      const auto inner = term ? pattern_.scaled(*term) : std::nullopt;
      const ValueId x = add->inputs[1 - i];
      if (inner && about(inner->scalar, 0.044715, type(id)) && is_cube(inner->other, x)) return x;
    }
    return kNoValue;
  }

  // x / sqrt 2; x is returned.
  ValueId erf_argument(ValueId id) const {
    const Node* node = pattern_.absorbed(id, "Div");
    if (!node) node = pattern_.absorbed(id, "Mul");
    const auto scaled = node ? pattern_.scaled(*node) : std::nullopt;
    return scaled && about(scaled->scalar, std::sqrt(0.5), type(id)) ? scaled->other : kNoValue;
  }

  bool match(const Node& product) {
    std::vector<ValueId> list;
    float scale = 1;
    if (!factors(product, 2, list, scale) || list.size() != 2 || scale != 0.5f) return false;
    for (size_t i = 0; i < 2; ++i) {
      const Node* sum = pattern_.absorbed(list[i], "Add");
      const auto parts = sum ? pattern_.with_scalar(*sum) : std::nullopt;
      if (!parts || parts->scalar != 1) continue;
      const ValueId x = list[1 - i];
      const Node* erf = pattern_.absorbed(parts->other, "Erf");
      const Node* tanh = pattern_.absorbed(parts->other, "Tanh");
      if ((!erf || erf_argument(erf->inputs[0]) != x) &&
          (!tanh || tanh_argument(tanh->inputs[0]) != x)) {
        continue;
      }
      if (!pattern_.fuses(x) ||
          pattern_.value(x).shape != pattern_.value(product.outputs[0]).shape) {
        continue;
      }
      Node fused;
      fused.op = "Gelu";
      fused.opset = 20;
      fused.inputs = {x};
      if (!erf) fused.attrs["approximate"] = std::string("tanh");
      pattern_.replace_producer(product.outputs[0], std::move(fused));
      return true;
    }
    return false;
  }

  Pattern pattern_;
};

}  // namespace

Status fuse_gelu(graph::Graph& graph) { return GeluFinder(graph).run(); }

}  // namespace anynpu::compile
