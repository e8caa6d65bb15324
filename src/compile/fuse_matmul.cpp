// SPDX-License-Identifier: Apache-2.0
// Fuses the neighbours of a MatMul into it: a Transpose of the last two axes before it, and a
// scalar factor, the Add of a row, the Add of a tensor and an activation after it.
#include "compile/pattern.h"

namespace anynpu::compile {

namespace {

using graph::kNoValue;
using graph::Node;
using graph::ValueId;

bool is_matmul(const Node& node) {
  return (node.op == "MatMul" && node.domain.empty()) ||
         (node.op == "FusedMatMul" && node.domain == "anynpu");
}

// The name that FusedMatMul and FusedGemm have for it; empty when it is none of these.
std::string activation_of(const Node& node) {
  if (node.op == "Tanh") return "Tanh";
  if (node.op == "Relu") return "Relu";
  if (node.op != "Gelu") return {};
  return node.string_attr("approximate", "none") == "tanh" ? "GeluTanh" : "Gelu";
}

class MatMulFinder {
 public:
  explicit MatMulFinder(graph::Graph& graph) : graph_(graph), pattern_(graph) {}

  Status run() {
    return pattern_.sweep([&](const Node& node) {
      if (node.outputs.size() != 1 || !pattern_.fuses(node.outputs[0])) return false;
      if (node.op == "Gemm" && node.domain.empty()) return add_activation(node);
      if (!is_matmul(node) || shape(node.inputs[0]).size() < 2 || shape(node.inputs[1]).size() < 2)
        return false;
      return take_transpose(node) || add_scale(node) || add_row(node) || add_tensor(node) ||
             add_activation(node);
    });
  }

 private:
  const Shape& shape(ValueId id) const { return pattern_.value(id).shape; }
  DType type(ValueId id) const { return pattern_.value(id).dtype; }
  static Node fused(const Node& node) {
    Node copy = node;
    copy.op = node.op == "Gemm" ? "FusedGemm" : "FusedMatMul";
    copy.domain = "anynpu";
    copy.opset = 1;
    return copy;
  }
  static bool has_activation(const Node& node) {
    return !node.string_attr("activation", "").empty();
  }
  static bool has(const Node& node, size_t input) {
    return node.inputs.size() > input && node.inputs[input] != kNoValue;
  }

  // `user` and the node become one in the user's place.
  bool absorb(Node node, ValueId output) {
    pattern_.absorb(output, std::move(node));
    return true;
  }

  bool take_transpose(const Node& node) {
    for (size_t i = 0; i < 2; ++i) {
      const Node* transpose = pattern_.absorbed(node.inputs[i], "Transpose");
      if (!transpose) continue;
      std::vector<int64_t> perm = transpose->ints_attr("perm");
      const auto rank = static_cast<int64_t>(perm.size());
      if (rank < 2) continue;
      std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
      bool swaps = true;
      for (int64_t axis = 0; axis < rank; ++axis)
        swaps = swaps && perm[static_cast<size_t>(axis)] == axis;
      if (!swaps) continue;
      Node copy = fused(node);
      const char* attr = i == 0 ? "transA" : "transB";
      copy.attrs[attr] = 1 - node.int_attr(attr, 0);
      copy.inputs[i] = transpose->inputs[0];
      pattern_.replace_producer(node.outputs[0], std::move(copy));
      return true;
    }
    return false;
  }

  bool add_scale(const Node& node) {
    if (has(node, 2) || has(node, 3) || has_activation(node)) return false;
    if (!pattern_.is_f32(node.outputs[0])) return false;  // weights would be rounded again
    for (const char* op : {"Mul", "Div"}) {
      const Node* next = pattern_.next(node.outputs[0], op);
      const auto parts = next ? pattern_.scaled(*next) : std::nullopt;
      if (!parts || parts->other != node.outputs[0]) continue;
      Node copy = fused(node);
      copy.attrs["alpha"] = node.float_attr("alpha", 1.0f) * parts->scalar;
      return absorb(std::move(copy), next->outputs[0]);
    }
    return false;
  }

  bool add_row(const Node& node) {
    const Node* add = pattern_.next(node.outputs[0], "Add");
    if (!add || has(node, 2) || has_activation(node)) return false;
    const ValueId row = add->inputs[add->inputs[0] == node.outputs[0] ? 1 : 0];
    if (!pattern_.value(row).constant || type(row) != type(node.outputs[0]) ||
        shape(row).size() != 1 || shape(row)[0] != shape(node.outputs[0]).back()) {
      return false;
    }
    Node copy = fused(node);
    copy.inputs.resize(std::max<size_t>(3, copy.inputs.size()), kNoValue);
    copy.inputs[2] = row;
    return absorb(std::move(copy), add->outputs[0]);
  }

  bool add_tensor(const Node& node) {
    const Node* add = pattern_.next(node.outputs[0], "Add");
    if (!add || has(node, 3) || has_activation(node)) return false;
    const ValueId other = add->inputs[add->inputs[0] == node.outputs[0] ? 1 : 0];
    if (other == node.outputs[0] || pattern_.value(other).constant ||
        type(other) != type(node.outputs[0]) || shape(other) != shape(node.outputs[0])) {
      return false;
    }
    Node copy = fused(node);
    copy.inputs.resize(4, kNoValue);
    copy.inputs[3] = other;
    return absorb(std::move(copy), add->outputs[0]);
  }

  bool add_activation(const Node& node) {
    if (has_activation(node)) return false;
    const int user = pattern_.only_user(node.outputs[0]);
    if (user < 0) return false;
    const Node& next = graph_.nodes[static_cast<size_t>(user)];
    const std::string activation = next.domain.empty() ? activation_of(next) : std::string();
    if (activation.empty()) return false;
    Node copy = fused(node);
    copy.attrs["activation"] = activation;
    return absorb(std::move(copy), next.outputs[0]);
  }

  graph::Graph& graph_;
  Pattern pattern_;
};

}  // namespace

Status fuse_matmul(graph::Graph& graph) { return MatMulFinder(graph).run(); }

}  // namespace anynpu::compile
