// SPDX-License-Identifier: Apache-2.0
// Gelu written out in small operators, as exporters do below opset 20: a product of x, 1/2 and
//   1 + Erf(x / sqrt 2)   or   1 + Tanh(sqrt(2 / pi) * (x + 0.044715 x^3))
// (also as x * (1 + 0.044715 x^2) in the Tanh)
// or, as TensorFlow has it, Erfc(-x / sqrt 2).
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

  // The factors of nested products with no other reader; scalars are multiplied together.
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

  // sqrt(2 / pi) * x * (1 + 0.044715 x^2); x is returned.
  ValueId factored_argument(ValueId id) const {
    std::vector<ValueId> list;
    float scale = 1;
    const Node* mul = pattern_.absorbed(id, "Mul");
    if (!mul || !factors(*mul, 1, list, scale) || list.size() != 2 ||
        !about(scale, 0.7978845608028654, type(id)))
      return kNoValue;
    for (size_t i = 0; i < 2; ++i) {
      const ValueId x = list[1 - i];
      const Node* sum = pattern_.absorbed(list[i], "Add");
      const auto parts = sum ? pattern_.with_scalar(*sum) : std::nullopt;
      const Node* square = parts ? pattern_.absorbed(parts->other, "Mul") : nullptr;
      std::vector<ValueId> squared;
      float rate = 1;
      if (square && parts->scalar == 1 && factors(*square, 1, squared, rate) &&
          about(rate, 0.044715, type(id)) && squared == std::vector<ValueId>{x, x})
        return x;
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

  // Whether `id` is Erfc(-x / sqrt 2).
  bool is_erfc_of(ValueId id, ValueId x) const {
    const Node* erfc = pattern_.absorbed(id);
    if (!erfc || erfc->op != "Erfc" || erfc->domain != "anynpu") return false;
    const Node* node = pattern_.absorbed(erfc->inputs[0], "Div");
    if (!node) node = pattern_.absorbed(erfc->inputs[0], "Mul");
    const auto scaled = node ? pattern_.scaled(*node) : std::nullopt;
    if (!scaled) return false;
    const Node* minus = pattern_.absorbed(scaled->other, "Neg");
    const ValueId argument = minus ? minus->inputs[0] : scaled->other;
    const float factor = minus ? scaled->scalar : -scaled->scalar;
    return argument == x && about(factor, std::sqrt(0.5), type(x));
  }

  bool replace(const Node& product, ValueId x, bool exact) {
    if (!pattern_.fuses(x) || pattern_.value(x).shape != pattern_.value(product.outputs[0]).shape)
      return false;
    Node fused;
    fused.op = "Gelu";
    fused.opset = 20;
    fused.inputs = {x};
    if (!exact) fused.attrs["approximate"] = std::string("tanh");
    pattern_.replace_producer(product.outputs[0], std::move(fused));
    return true;
  }

  bool match(const Node& product) {
    std::vector<ValueId> list;
    float scale = 1;
    if (!factors(product, 2, list, scale) || list.size() != 2 || scale != 0.5f) return false;
    for (size_t i = 0; i < 2; ++i) {
      if (is_erfc_of(list[i], list[1 - i]) && replace(product, list[1 - i], true)) return true;
      const Node* sum = pattern_.absorbed(list[i], "Add");
      const auto parts = sum ? pattern_.with_scalar(*sum) : std::nullopt;
      if (!parts || parts->scalar != 1) continue;
      const ValueId x = list[1 - i];
      const Node* erf = pattern_.absorbed(parts->other, "Erf");
      const Node* tanh = pattern_.absorbed(parts->other, "Tanh");
      if ((!erf || erf_argument(erf->inputs[0]) != x) &&
          (!tanh ||
           (tanh_argument(tanh->inputs[0]) != x && factored_argument(tanh->inputs[0]) != x))) {
        continue;
      }
      if (replace(product, x, erf != nullptr)) return true;
    }
    return false;
  }

  Pattern pattern_;
};

}  // namespace

Status fuse_gelu(graph::Graph& graph) { return GeluFinder(graph).run(); }

}  // namespace anynpu::compile
