// SPDX-License-Identifier: Apache-2.0
// Removes Transposes. One before an element-wise operator or a Concat is moved after it, until it
// meets another; two in a row become one; one that keeps the order is removed, and one that only
// moves axes of extent 1 becomes a Reshape. Results are bitwise equal. Needs shapes.
#include <algorithm>
#include <numeric>

#include "compile/pattern.h"
#include "ops/registry.h"

namespace anynpu::compile {

namespace {

using graph::kNoValue;
using graph::Node;
using graph::ValueId;
using ops::TransposeRule;
using Ints = std::vector<int64_t>;

bool is_identity(const Ints& perm) {
  for (size_t i = 0; i < perm.size(); ++i) {
    if (perm[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

Ints inverse(const Ints& perm) {
  Ints back(perm.size());
  for (size_t i = 0; i < perm.size(); ++i)
    back[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  return back;
}

// Extent i of the result is extent perm[i] of `shape`.
Shape permuted(const Shape& shape, const Ints& perm) {
  Shape out(shape.size());
  for (size_t i = 0; i < perm.size(); ++i) out[i] = shape[static_cast<size_t>(perm[i])];
  return out;
}

// The elements of a constant in the order of its permuted axes.
std::shared_ptr<const graph::Constant> permuted(const graph::Constant& constant, const Shape& shape,
                                                const Ints& perm, size_t element) {
  const Shape target = permuted(shape, perm);
  const std::vector<int64_t> steps = strides_of(shape);
  auto owner = std::make_shared<std::vector<std::byte>>(constant.bytes.size());
  Shape at(shape.size(), 0);
  const int64_t count = element_count(shape);
  for (int64_t i = 0; i < count; ++i) {
    int64_t from = 0;
    for (size_t d = 0; d < at.size(); ++d) from += at[d] * steps[static_cast<size_t>(perm[d])];
    std::copy_n(constant.bytes.data() + static_cast<size_t>(from) * element, element,
                owner->data() + static_cast<size_t>(i) * element);
    for (size_t d = at.size(); d-- > 0;) {
      if (++at[d] < target[d]) break;
      at[d] = 0;
    }
  }
  const std::span<const std::byte> bytes = *owner;
  return std::make_shared<const graph::Constant>(graph::Constant{std::move(owner), bytes});
}

constexpr int64_t kMostMoved = 1 << 16;  // elements of a constant that is permuted

class TransposeFinder {
 public:
  explicit TransposeFinder(graph::Graph& graph) : graph_(graph), pattern_(graph), names_(graph) {}

  Status run() {
    ANYNPU_TRY(pattern_.sweep([&](const Node& node) {
      if (!node.domain.empty() || node.outputs.size() != 1) return false;
      if (node.op == "Transpose") return join(node) || simplify(node);
      return move_behind(node);
    }));
    ANYNPU_TRY(remove_identities(graph_));
    return remove_dead(graph_);
  }

 private:
  const Shape& shape(ValueId id) const { return pattern_.value(id).shape; }

  Ints perm_of(const Node& node) const {
    const size_t rank = shape(node.inputs[0]).size();
    Ints perm = node.ints_attr("perm");
    if (perm.empty()) {
      perm.resize(rank);
      std::iota(perm.rbegin(), perm.rend(), int64_t{0});
    }
    return perm.size() == rank ? perm : Ints{};
  }

  // A MatMul can read its operand with the last two axes swapped (fuse_matmul.cpp).
  bool goes_into_product(const Node& node, Ints perm) const {
    if (perm.size() < 2 || !pattern_.next(node.outputs[0], "MatMul")) return false;
    std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
    return is_identity(perm);
  }

  // Two Transposes in a row are one.
  bool join(const Node& node) {
    const Node* first = pattern_.made_by(node.inputs[0], "Transpose");
    if (!first) return false;
    const Ints one = perm_of(*first), two = perm_of(node);
    if (one.empty() || one.size() != two.size() || goes_into_product(node, two)) return false;
    Node both = node;
    both.inputs = first->inputs;
    both.attrs["perm"] = permuted(one, two);
    pattern_.replace_producer(node.outputs[0], std::move(both));
    return true;
  }

  // One that moves nothing, or only axes of extent 1.
  bool simplify(const Node& node) {
    const Ints perm = perm_of(node);
    if (perm.empty()) return false;
    Node simple = node;
    simple.attrs.clear();
    if (is_identity(perm)) {
      simple.op = "Identity";
    } else {
      int64_t last = -1;
      for (int64_t axis : perm) {
        if (shape(node.inputs[0])[static_cast<size_t>(axis)] == 1) continue;
        if (axis < last) return false;
        last = axis;
      }
      const Shape to = shape(node.outputs[0]);
      if (element_count(to) == 0) return false;  // a Reshape reads 0 as the extent of its input
      simple.op = "Reshape";
      simple.inputs.push_back(pattern_.adopt(add_constant(
          graph_, node.name + "/shape", {static_cast<int64_t>(to.size())}, Ints(to), &names_)));
    }
    simple.opset = 13;
    pattern_.replace_producer(node.outputs[0], std::move(simple));
    return true;
  }

  // The operator reads the inputs of the Transposes instead, and its result is transposed.
  bool move_behind(const Node& node) {
    const Node* first = nullptr;
    for (ValueId id : node.inputs) {
      if (!first) first = pattern_.absorbed(id, "Transpose");
    }
    if (!first) return false;
    const TransposeRule rule = ops::traits_of(node).transposes;
    if (rule == TransposeRule::barrier) return false;
    const bool joins = rule == TransposeRule::axis;
    const Ints perm = perm_of(*first);
    const ValueId y = node.outputs[0];
    if (perm.empty() || shape(y).size() != perm.size() ||
        element_count(shape(y)) < element_count(shape(first->inputs[0])) ||
        (!joins && element_count(shape(y)) != element_count(shape(first->inputs[0])))) {
      return false;
    }
    Node inner = node;
    std::vector<size_t> constants;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueId id = node.inputs[i];
      const Node* made = pattern_.absorbed(id, "Transpose");
      if (made && perm_of(*made) == perm) {
        inner.inputs[i] = made->inputs[0];
      } else if (i > 0 && rule == TransposeRule::elementwise) {
        continue;  // bounds of a Clip
      } else if (!joins && can_permute(id, perm.size())) {
        constants.push_back(i);
      } else {
        return false;
      }
    }
    for (size_t i : constants) inner.inputs[i] = permuted_constant(node.inputs[i], inverse(perm));
    if (joins) {
      const int64_t axis = node.int_attr("axis", 0), rank = static_cast<int64_t>(perm.size());
      const int64_t positive = axis < 0 ? axis + rank : axis;
      if (positive < 0 || positive >= rank) return false;
      inner.attrs["axis"] = perm[static_cast<size_t>(positive)];
    }
    graph::Value value = pattern_.value(y);
    value.name = names_.take(value.name + "/before_transpose");
    value.shape = permuted(shape(y), inverse(perm));
    const ValueId before = pattern_.adopt(graph_.add_value(std::move(value)));
    inner.outputs = {before};
    Node behind = *first;
    behind.inputs = {before};
    behind.outputs = {y};
    pattern_.swap_over(first->outputs[0], std::move(inner), y, std::move(behind));
    return true;
  }

  // A scalar, or a small enough constant, of no more axes than the other operand.
  bool can_permute(ValueId id, size_t rank) const {
    if (id == kNoValue) return false;
    const graph::Value& value = pattern_.value(id);
    return value.constant && value.shape.size() <= rank && bits_of(value.dtype) % 8 == 0 &&
           bits_of(value.dtype) > 0 && element_count(value.shape) <= kMostMoved;
  }

  ValueId permuted_constant(ValueId id, const Ints& perm) {
    graph::Value value = pattern_.value(id);
    if (element_count(value.shape) == 1) return id;
    value.shape.insert(value.shape.begin(), perm.size() - value.shape.size(), 1);
    value.constant = permuted(*value.constant, value.shape, perm, size_of(value.dtype));
    value.shape = permuted(value.shape, perm);
    value.name = names_.take(value.name + "/transposed");
    return pattern_.adopt(graph_.add_value(std::move(value)));
  }

  graph::Graph& graph_;
  Pattern pattern_;
  NewNames names_;
};

}  // namespace

Status remove_transposes(graph::Graph& graph) { return TransposeFinder(graph).run(); }

}  // namespace anynpu::compile
