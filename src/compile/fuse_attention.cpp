// SPDX-License-Identifier: Apache-2.0
// Multi-head attention, matched from the Softmax outwards:
//   softmax(scale * Qt * Kt + mask) * Vt, transposed and joined
// where Qt, Kt and Vt are linear layers' results (batch x length x heads * size) that were split
// into heads and transposed. FusedAttention takes the three as they were before that. Casts between
// float types on the way, as mixed precision puts them around the Softmax, are dropped: the node
// always computes in float32, so the roundings of the casts disappear.
#include <cmath>

#include "compile/pattern.h"

namespace anynpu::compile {

namespace {

using graph::kNoValue;
using graph::Node;
using graph::ValueId;
using Ints = std::vector<int64_t>;

class AttentionFinder {
 public:
  explicit AttentionFinder(graph::Graph& graph) : pattern_(graph) {}

  Status run() {
    return pattern_.sweep([&](const Node& node) {
      return node.op == "Softmax" && node.domain.empty() && match(node);
    });
  }

 private:
  const Shape& shape(ValueId id) const { return pattern_.value(id).shape; }

  // The input of a cast between float types with no other reader; else `id`.
  ValueId uncast(ValueId id) const {
    const Node* cast = pattern_.absorbed(id, "Cast");
    return cast && pattern_.fuses(id) && pattern_.fuses(cast->inputs[0]) ? cast->inputs[0] : id;
  }
  const Node* absorbed(ValueId id, std::string_view op) const {
    return pattern_.absorbed(uncast(id), op);
  }
  // The one node that reads `id` or the cast of it, which `id` becomes.
  const Node* next(ValueId& id, std::string_view op) const {
    const Node* cast = pattern_.next(id, "Cast");
    if (cast && pattern_.fuses(id) && pattern_.fuses(cast->outputs[0])) id = cast->outputs[0];
    return pattern_.next(id, op);
  }

  const Node* transpose(ValueId id, const Ints& perm) const {
    const Node* node = absorbed(id, "Transpose");
    return node && node->ints_attr("perm") == perm ? node : nullptr;
  }

  // The batch x length x width tensor that was reshaped to heads.
  ValueId before_split(ValueId id) const {
    const Node* node = absorbed(id, "Reshape");
    if (!node) return kNoValue;
    const Shape &from = shape(node->inputs[0]), &to = shape(id);
    const bool splits = from.size() == 3 && to.size() == 4 && from[0] == to[0] &&
                        from[1] == to[1] && from[2] == to[2] * to[3];
    return splits ? node->inputs[0] : kNoValue;
  }

  // Factors of `id` by scalars on the way are multiplied into `scale`.
  ValueId unscaled(ValueId id, float& scale) const {
    for (const char* op : {"Mul", "Div"}) {
      const Node* node = absorbed(id, op);
      const auto parts = node ? pattern_.scaled(*node) : std::nullopt;
      if (!parts) continue;
      scale *= parts->scalar;
      return parts->other;
    }
    return id;
  }

  ValueId rows_of(ValueId id) const {  // V: heads in front of the length
    const Node* node = transpose(id, {0, 2, 1, 3});
    return node ? before_split(node->inputs[0]) : kNoValue;
  }

  ValueId rows_of(ValueId id, float& scale) const {  // Q: also scaled before its axes are turned
    const Node* node = transpose(id, {0, 2, 1, 3});
    return node ? before_split(unscaled(node->inputs[0], scale)) : kNoValue;
  }

  ValueId columns_of(ValueId id, float& scale) const {  // K: transposed once or twice
    if (const Node* node = transpose(id, {0, 2, 3, 1}))
      return before_split(unscaled(node->inputs[0], scale));
    const Node* node = transpose(id, {0, 1, 3, 2});
    return node ? rows_of(unscaled(node->inputs[0], scale), scale) : kNoValue;
  }

  // What is added to the scores, when it broadcasts to them. Softmax takes no notice of a number
  // that is the same for all of them: then there is no mask. A large one would round them away.
  bool read_mask(const Node& add, ValueId& scores, ValueId& mask) const {
    for (size_t i = 0; i < 2; ++i) {
      const ValueId other = add.inputs[1 - i];
      const ValueId product = add.inputs[i];
      if (shape(product) != shape(add.outputs[0]) || !pattern_.fuses(other)) continue;
      const auto shift = pattern_.scalar(other);
      const bool same = shift && std::fabs(*shift) <= 1024;
      if (!same && (shape(other).empty() || shape(other).back() != shape(product).back())) continue;
      float scale = 1;
      if (!absorbed(unscaled(product, scale), "MatMul")) continue;
      scores = product;
      mask = same ? kNoValue : other;
      return true;
    }
    return false;
  }

  bool match(const Node& softmax) {
    const ValueId in = softmax.inputs[0];
    ValueId weights = softmax.outputs[0];
    const auto rank = static_cast<int64_t>(shape(in).size());
    const int64_t axis = softmax.int_attr("axis", softmax.opset < 13 ? 1 : -1);
    if (rank != 4 || (axis != 3 && axis != -1) || !pattern_.fuses(in)) return false;
    ValueId scores = in, mask = kNoValue;
    if (const Node* add = absorbed(in, "Add")) {
      if (!read_mask(*add, scores, mask)) return false;
    }
    float scale = 1;
    scores = unscaled(scores, scale);
    const Node* product = absorbed(scores, "MatMul");
    const Node* context = next(weights, "MatMul");
    if (!product || !context || context->inputs[0] != weights) return false;
    ValueId heads = context->outputs[0];
    const Node* back = next(heads, "Transpose");
    if (!back || back->ints_attr("perm") != Ints{0, 2, 1, 3}) return false;
    ValueId rows = back->outputs[0];
    const Node* join = next(rows, "Reshape");
    if (!join || join->inputs[0] != rows) return false;
    const ValueId q = rows_of(unscaled(product->inputs[0], scale), scale);
    const ValueId k = columns_of(unscaled(product->inputs[1], scale), scale);
    const ValueId v = rows_of(context->inputs[1]);
    if (q == kNoValue || k == kNoValue || v == kNoValue) return false;
    const Shape &split = shape(rows), &y = shape(join->outputs[0]);
    if (y.size() != 3 || y[0] != split[0] || y[1] != split[1]) return false;
    // Batches and heads of one that the products broadcast (keys that all heads share) stay.
    for (ValueId id : {product->inputs[0], product->inputs[1], context->inputs[1]}) {
      if (shape(id)[0] != split[0] || shape(id)[1] != split[2]) return false;
    }
    if (mask != kNoValue && shape(mask).size() > 4) return false;
    const DType type = pattern_.value(q).dtype;
    for (ValueId id : {k, v, join->outputs[0]}) {
      if (pattern_.value(id).dtype != type) return false;
    }
    Node fused;
    fused.op = "FusedAttention";
    fused.domain = "anynpu";
    fused.opset = 1;
    fused.inputs = {q, k, v};
    if (mask != kNoValue) fused.inputs.push_back(mask);
    fused.attrs["heads"] = split[2];
    fused.attrs["scale"] = scale;
    pattern_.replace_producer(join->outputs[0], std::move(fused));
    return true;
  }

  Pattern pattern_;
};

}  // namespace

Status fuse_attention(graph::Graph& graph) { return AttentionFinder(graph).run(); }

}  // namespace anynpu::compile
