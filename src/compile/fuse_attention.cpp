// SPDX-License-Identifier: Apache-2.0
// Multi-head attention, matched from the Softmax outwards:
//   softmax(scale * Qt * Kt + mask) * Vt, transposed and joined
// where Qt, Kt and Vt are linear layers' results (batch x length x heads * size) that were split
// into heads and transposed. FusedAttention takes the three as they were before that. Casts between
// float types on the way, as mixed precision puts them around the Softmax, are dropped: the node
// always computes in float32, so the roundings of the casts disappear.
// Where the three come to the products in another way (turned by positions, from a cache, shared by
// groups of heads), the core alone becomes ONNX's Attention, over tensors with axes for heads and
// lengths.
#include <algorithm>
#include <cmath>
#include <limits>

#include "compile/pattern.h"

namespace anynpu::compile {

namespace {

using graph::kNoValue;
using graph::Node;
using graph::ValueId;
using Ints = std::vector<int64_t>;

class AttentionFinder {
 public:
  explicit AttentionFinder(graph::Graph& graph) : graph_(graph), pattern_(graph), names_(graph) {}

  Status run() {
    ANYNPU_TRY(pattern_.sweep([&](const Node& node) {
      return node.op == "Sub" && node.domain.empty() && add_mask(node);
    }));
    return pattern_.sweep([&](const Node& node) {
      return node.op == "Softmax" && node.domain.empty() && (match(node) || match_core(node));
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

  // Scores that are hidden as GPT-2 does it, scores * b - 1e10 * (1 - b) with a constant b of zeros
  // and ones, in front of a Softmax: the mask alone is added. Where b is zero both are so far below
  // the others that nothing is left of them, if a row has others.
  bool add_mask(const Node& sub) {
    const graph::Value& hidden = pattern_.value(sub.inputs[1]);
    const Node* product = pattern_.absorbed(sub.inputs[0], "Mul");
    if (!product || !hidden.constant || hidden.dtype != DType::f32 || hidden.shape.empty() ||
        element_count(hidden.shape) > kMostMask || !pattern_.next(sub.outputs[0], "Softmax"))
      return false;
    const Shape extents = hidden.shape;
    const std::string name = hidden.name;
    for (size_t i = 0; i < 2; ++i) {
      const ValueId scores = product->inputs[i], seen = product->inputs[1 - i];
      if (pattern_.value(seen).shape != extents || !pattern_.value(seen).constant ||
          shape(scores) != shape(sub.outputs[0]) || extents.back() != shape(scores).back())
        continue;
      const auto ones = constant_elements<float>(graph_, seen);
      auto mask = constant_elements<float>(graph_, sub.inputs[1]);
      if (ones.size() != mask.size() || !hides_some(ones, mask, extents.back())) continue;
      for (float& element : mask) element = -element;
      Node sum = sub;
      sum.op = "Add";
      sum.inputs = {scores, pattern_.adopt(add_constant(graph_, name + "/added", extents,
                                                        std::move(mask), &names_))};
      pattern_.replace_producer(sub.outputs[0], std::move(sum));
      return true;
    }
    return false;
  }

  // Ones where nothing is taken away and zeros where very much is; each row of `width` has a one.
  static bool hides_some(const std::vector<float>& ones, const std::vector<float>& taken,
                         int64_t width) {
    constexpr float kVeryMuch = 1e4f;
    bool row_has_one = false;
    for (size_t i = 0; i < ones.size(); ++i) {
      const bool one = ones[i] == 1 && taken[i] == 0;
      if (!one && (ones[i] != 0 || !(taken[i] >= kVeryMuch))) return false;
      row_has_one = row_has_one || one;
      if ((static_cast<int64_t>(i) + 1) % width != 0) continue;
      if (!row_has_one) return false;
      row_has_one = false;
    }
    return !ones.empty();
  }

  // --- the core alone

  // What a Where of constant truths and a very small number does to the scores, as a mask to add;
  // kNoValue where a row would see nothing.
  ValueId added_mask(const Node& where) {
    const auto least = pattern_.scalar(where.inputs[2]);
    const graph::Value& truths = pattern_.value(where.inputs[0]);
    if (!least || *least > -1e4f || !truths.constant || truths.dtype != DType::boolean ||
        truths.shape.empty() || truths.shape.back() != shape(where.outputs[0]).back() ||
        element_count(truths.shape) > kMostMask || !pattern_.is_f32(where.outputs[0]))
      return kNoValue;
    const auto row = static_cast<size_t>(truths.shape.back());
    const Shape extents = truths.shape;
    const std::string name = truths.name;
    std::vector<float> mask;
    for (const std::byte seen : truths.constant->bytes)
      mask.push_back(seen == std::byte{0} ? std::numeric_limits<float>::lowest() : 0.0f);
    for (size_t at = 0; at < mask.size(); at += row) {
      const auto begin = mask.begin() + static_cast<std::ptrdiff_t>(at);
      if (std::find(begin, begin + static_cast<std::ptrdiff_t>(row), 0.0f) ==
          begin + static_cast<std::ptrdiff_t>(row))
        return kNoValue;
    }
    return pattern_.adopt(add_constant(graph_, name + "/added", extents, std::move(mask), &names_));
  }

  // A Where of truths that the run computes and a number so low that scores vanish beside it: the
  // same with zeros in place of the scores is a mask to add.
  bool hides_in_the_run(const Node& where, ValueId scores) const {
    constexpr float kVeryLow = -1e30f;
    const auto least = pattern_.scalar(where.inputs[2]);
    const Shape &truths = shape(where.inputs[0]), &all = shape(scores);
    return least && std::isfinite(*least) && *least <= kVeryLow &&
           pattern_.is_f32(where.outputs[0]) && !pattern_.value(where.inputs[0]).constant &&
           !truths.empty() && truths.size() <= all.size() && truths.back() == all.back() &&
           pattern_.value(where.inputs[2]).shape.size() <= truths.size();
  }
  // After the scores in `hidden` are read no more.
  void keep_mask_alone(ValueId hidden) {
    Node mask = *pattern_.maker(hidden);
    mask.inputs[1] = pattern_.adopt(
        add_constant(graph_, mask.name + "/zero", {}, std::vector<float>{0}, &names_));
    const Shape extents = shape(mask.inputs[0]);
    pattern_.replace_producer(hidden, std::move(mask));
    graph_.values[static_cast<size_t>(hidden)].shape = extents;
  }

  // Keys or values of groups before they were repeated for the heads of each group:
  // Reshape(Expand(Unsqueeze)). `times` heads share one.
  ValueId before_repeat(ValueId id, int64_t& times) const {
    const Node* join = pattern_.absorbed(id, "Reshape");
    const Node* repeat = join ? pattern_.absorbed(join->inputs[0], "Expand") : nullptr;
    const Node* split = repeat ? pattern_.absorbed(repeat->inputs[0], "Unsqueeze") : nullptr;
    if (!split) return kNoValue;
    const Shape &from = shape(split->inputs[0]), &wide = shape(repeat->outputs[0]), &to = shape(id);
    if (from.size() != 4 || wide.size() != 5 || to.size() != 4) return kNoValue;
    times = wide[2];
    const Shape one = {from[0], from[1], 1, from[2], from[3]};
    const Shape many = {from[0], from[1], times, from[2], from[3]};
    const Shape joined = {from[0], from[1] * times, from[2], from[3]};
    const bool repeats = shape(repeat->inputs[0]) == one && wide == many && to == joined;
    return repeats ? split->inputs[0] : kNoValue;
  }

  // The keys with their length before their size: what was transposed for the product, or a
  // Transpose that leaves out the turn of the last two axes.
  ValueId keys_of(ValueId id, float& scale) {
    const Node* node = pattern_.absorbed(id, "Transpose");
    Ints perm = node ? node->ints_attr("perm") : Ints();
    if (perm.size() < 3) return kNoValue;
    std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
    const ValueId x = node->inputs[0];
    if (std::is_sorted(perm.begin(), perm.end())) return unscaled(x, scale);
    Node turned = *node;
    turned.attrs["perm"] = perm;
    pattern_.replace_producer(id, std::move(turned));
    Shape& extents = graph_.values[static_cast<size_t>(id)].shape;
    std::swap(extents[extents.size() - 1], extents[extents.size() - 2]);
    return id;
  }

  bool match_core(const Node& softmax) {
    const ValueId in = softmax.inputs[0], weights = softmax.outputs[0];
    const Shape scores_shape = shape(in);
    const auto rank = static_cast<int64_t>(scores_shape.size());
    const int64_t axis = softmax.int_attr("axis", softmax.opset < 13 ? 1 : -1);
    if ((rank != 3 && rank != 4) || (axis != rank - 1 && axis != -1) || !pattern_.fuses(in))
      return false;
    ValueId scores = in, mask = kNoValue;
    const Node* where = pattern_.absorbed(in, "Where");
    if (const Node* add = pattern_.absorbed(in, "Add")) {
      if (!read_mask(*add, scores, mask)) return false;
    } else if (where) {
      scores = where->inputs[1];
    }
    float scale = 1;
    const Node* product = pattern_.absorbed(unscaled(scores, scale), "MatMul");
    const Node* context = pattern_.next(weights, "MatMul");
    if (!product || !context || context->inputs[0] != weights || shape(scores) != scores_shape)
      return false;
    const ValueId y = context->outputs[0], v = context->inputs[1];
    const ValueId q = unscaled(product->inputs[0], scale);
    const ValueId turned = unscaled(product->inputs[1], scale);
    const DType type = pattern_.value(y).dtype;
    for (ValueId id : {q, turned, v, scores}) {
      if (pattern_.value(id).dtype != type || static_cast<int64_t>(shape(id).size()) != rank)
        return false;
    }
    // Batches that the products broadcast stay; a mask of three axes would begin with heads.
    for (ValueId id : {q, turned, v}) {
      for (size_t i = 0; i + 2 < scores_shape.size(); ++i) {
        if (shape(id)[i] != scores_shape[i]) return false;
      }
    }
    if (!pattern_.absorbed(turned, "Transpose")) return false;
    const bool in_the_run = where && hides_in_the_run(*where, scores);
    if (where && mask == kNoValue && !in_the_run) {
      mask = added_mask(*where);
      if (mask == kNoValue) return false;
    }
    const Shape of_mask = in_the_run         ? shape(where->inputs[0])
                          : mask != kNoValue ? shape(mask)
                                             : Shape();
    if (static_cast<int64_t>(of_mask.size()) > rank ||
        (rank == 3 && of_mask.size() == 3 && of_mask[0] != 1))
      return false;
    ValueId k = keys_of(turned, scale), values = v;
    if (k == kNoValue) return false;
    int64_t times = 1, value_times = 1;
    const ValueId few = before_repeat(k, times), few_values = before_repeat(v, value_times);
    if (few != kNoValue && few_values != kNoValue && times == value_times)
      k = few, values = few_values;
    Node fused;
    fused.op = "Attention";
    fused.opset = 23;
    fused.inputs = {q, k, values};
    if (in_the_run) mask = in;
    if (mask != kNoValue) fused.inputs.push_back(mask);
    fused.attrs["scale"] = scale;
    if (rank == 3) fused.attrs["q_num_heads"] = fused.attrs["kv_num_heads"] = int64_t{1};
    pattern_.replace_producer(y, std::move(fused));
    if (in_the_run) keep_mask_alone(in);
    return true;
  }

  static constexpr int64_t kMostMask = 1 << 22;  // elements

  graph::Graph& graph_;
  Pattern pattern_;
  NewNames names_;
};

}  // namespace

Status fuse_attention(graph::Graph& graph) { return AttentionFinder(graph).run(); }

}  // namespace anynpu::compile
