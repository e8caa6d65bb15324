// SPDX-License-Identifier: Apache-2.0
// The gradient of attention: a node of FlashAttentionGrad (ops/attention/flash.h), and that of the
// shift by the definition, because it has rows x columns elements anyway.
#include <cmath>

#include "aclnn/arithmetic.h"
#include "aclnn/attention.h"
#include "tensor/onnx_type.h"

namespace anynpu::aclnn {

namespace {

constexpr const char* kLengths = "actualSeqQLenOptional actualSeqKvLenOptional";
constexpr AttentionCall kCall = {"keyIn", "keyInRope", "pseShiftOptional"};

struct Before {
  Value y, log;  // what attention gave: the result, and logarithms of the sums of powers
};

// Of the call where it has them, else computed again.
Before before(Recipe& r, const AttentionLayout& l) {
  const auto there = [&](const char* name) { return r.given(name) && r.tensor(name).count() > 0; };
  if (!there("softmaxMaxOptional") || !there("softmaxSumOptional") ||
      !there("attentionInOptional")) {
    const auto made = attention_node(r, "FlashAttention", l, kCall, {}, 2, r.dtype("dy"));
    return {made[0], made[1]};
  }
  const auto stat = [&](const char* name) {
    const Value x = r.cast(r.in(name), DType::f32);
    const auto last = static_cast<int64_t>(r.shape(x).size()) - 1;
    const Value one = r.slice(x, last, 0, 1);
    const Shape s = r.shape(one);
    const bool turned = l.counted && s[0] == l.heads && s[0] != r.shape("query")[0];
    return turned ? r.transpose(one, {1, 0, 2}) : one;
  };
  const Value sum = stat("softmaxSumOptional");
  const Value log = r.op("Add", {stat("softmaxMaxOptional"), r.op("Log", {sum})});
  const Value none = r.op("Equal", {sum, r.constant(DType::f32, 0)});
  return {r.in("attentionInOptional"),
          r.op("Where", {none, r.constant(DType::f32, INFINITY), log})};
}

Value product(Recipe& r, Value a, Value b, bool turn_b) {
  return r.op("FusedMatMul", {a, b}, {{"transA", 0}, {"transB", turn_b}});
}

// Any layout as batch, heads, length, size; heads that several of the query share, one for each.
Value by_heads(Recipe& r, Param param, const AttentionLayout& l, int64_t heads) {
  Value x = r.cast(r.in(param), DType::f32);
  const Shape s = r.shape(x);
  if (l.name == "BSND") x = r.transpose(x, {0, 2, 1, 3});
  if (l.name == "BSH" || l.name == "SBH") {
    const Value cut = r.reshape(x, {s[0], s[1], heads, s[2] / heads});
    x = r.transpose(
        cut, l.name == "BSH" ? std::vector<int64_t>{0, 2, 1, 3} : std::vector<int64_t>{1, 2, 0, 3});
  }
  if (heads == l.heads) return x;
  const Shape h = r.shape(x);
  const Value grouped = r.reshape(x, {h[0], h[1], 1, h[2], h[3]});
  return r.reshape(r.expand(grouped, {h[0], h[1], l.heads / heads, h[2], h[3]}),
                   {h[0], l.heads, h[2], h[3]});
}

// The shift was broadcast: its gradient is summed. Probabilities come from the logarithms.
void shift_gradient(Recipe& r, const AttentionLayout& l, const Before& was) {
  const int64_t mode = r.integer("sparseMode");
  if (l.counted || r.given("dropMaskOptional") || mode == 4 || mode > 5 || r.given("queryRope")) {
    refuse(
        "dpseOut is given with layout {}, sparseMode {}{}; expected a dense layout, modes 0 to 3 "
        "or 5, and no "
        "dropout",
        l.name, mode, r.given("dropMaskOptional") ? " and dropout" : "");
  }
  const DType type = DType::f32;
  const Value q = by_heads(r, "query", l, l.heads), k = by_heads(r, "keyIn", l, l.key_heads);
  const Value v = by_heads(r, "value", l, l.key_heads), dy = by_heads(r, "dy", l, l.heads);
  const Value shift = r.cast(attention_shift(r, "pseShiftOptional"), type),
              scale = r.number("scaleValue", type);
  Value scores = product(r, q, k, true);
  const bool first = shift_type(r) == 1;
  scores = first ? r.op("Mul", {r.op("Add", {scores, shift}), scale})
                 : r.op("Add", {r.op("Mul", {scores, scale}), shift});
  Value weights = r.op("Exp", {r.op("Sub", {scores, was.log})});
  const Shape wide = r.shape(scores);
  Value hidden;
  if (mode == 2 || mode == 3) {
    Doubles marks;
    const int64_t by = mode == 2 ? 0 : wide[3] - wide[2];
    for (int64_t i = 0; i < wide[2]; ++i) {
      for (int64_t j = 0; j < wide[3]; ++j) marks.push_back(j > i + by ? 1 : 0);
    }
    hidden = r.constant(DType::boolean, {1, 1, wide[2], wide[3]}, marks);
  } else if (r.given("attenMaskOptional") && r.tensor("attenMaskOptional").count() > 0) {
    Shape s = r.shape("attenMaskOptional");
    while (s.size() < 4) s.insert(s.begin() + (s.size() == 3 ? 1 : 0), 1);
    hidden = r.reshape(r.cast(r.in("attenMaskOptional"), DType::boolean), s);
  }
  if (hidden) weights = r.op("Where", {hidden, r.constant(type, 0), weights});
  const Value dp = product(r, dy, v, true);
  const Value total =
      r.op("ReduceSum", {r.op("Mul", {dp, weights}), r.constant({3})}, {{"keepdims", 1}});
  Value ds = r.op("Mul", {weights, r.op("Sub", {dp, total})});
  if (first) ds = r.op("Mul", {ds, scale});
  const Shape narrow = r.shape("dpseOut");
  std::vector<int64_t> axes;
  for (size_t i = 0; i < narrow.size(); ++i) {
    if (narrow[i] != wide[i]) axes.push_back(static_cast<int64_t>(i));
  }
  r.out("dpseOut",
        axes.empty() ? ds : r.op("ReduceSum", {ds, r.constant(axes)}, {{"keepdims", 1}}));
}

void attention_gradient(Recipe& r) {
  const AttentionLayout l = attention_layout(r, "query", "keyIn");
  const Before was = before(r, l);
  const bool rope = r.given("queryRope");
  const auto made = attention_node(r, "FlashAttentionGrad", l, kCall, {r.in("dy"), was.y, was.log},
                                   rope ? 5 : 3, DType::f32);
  r.out("dqOut", made[0]);
  r.out("dkOut", made[1]);
  r.out("dvOut", made[2]);
  if (rope) {
    r.out("dqRopeOut", made[3]);
    r.out("dkRopeOut", made[4]);
  }
  if (!r.given("dpseOut") || r.tensor("dpseOut").count() == 0) return;
  if (!r.given("pseShiftOptional") || shift_type(r) >= 2) return;
  shift_gradient(r, l, was);
}

const Row kRows[] = {
    {"aclnnFlashAttentionScoreGrad", attention_gradient},
    {"aclnnFlashAttentionScoreGradV2", attention_gradient},
    {"aclnnFlashAttentionUnpaddingScoreGrad", attention_gradient, "", false, 0, kLengths},
    {"aclnnFlashAttentionUnpaddingScoreGradV2", attention_gradient, "", false, 0, kLengths},
    {"aclnnFlashAttentionUnpaddingScoreGradV3", attention_gradient, "", false, 0, kLengths},
    {"aclnnFlashAttentionUnpaddingScoreGradV4", attention_gradient, "", false, 0, kLengths},
};

}  // namespace

std::span<const Row> attention_gradient_rows() { return kRows; }

}  // namespace anynpu::aclnn
