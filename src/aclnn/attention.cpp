// SPDX-License-Identifier: Apache-2.0
// Attention and its gradient by the definition: scores, mask, softmax, dropout, sum of values.
// Everything is computed in float32 at least, in the order batch, heads, rows, columns.
#include <cmath>
#include <numeric>

#include "aclnn/arithmetic.h"

namespace anynpu::aclnn {

namespace {

// How the tensors lie, and how many heads there are.
struct Layout {
  std::string name;
  int64_t heads = 1, key_heads = 1, size = 1;  // size: of a head of query and key
};

Value product(Recipe& r, Value a, Value b, bool turn_a, bool turn_b) {
  return r.op("FusedMatMul", {a, b}, {{"transA", turn_a}, {"transB", turn_b}});
}

// Any layout as batch, heads, length, size.
Value by_heads(Recipe& r, Value x, const std::string& layout, int64_t heads) {
  const Shape s = r.shape(x);
  if (layout == "BNSD") return x;
  if (layout == "BSND") return r.transpose(x, {0, 2, 1, 3});
  if (layout == "BSH") {
    return r.transpose(r.reshape(x, {s[0], s[1], heads, s[2] / heads}), {0, 2, 1, 3});
  }
  return r.transpose(r.reshape(x, {s[0], s[1], heads, s[2] / heads}), {1, 2, 0, 3});  // SBH
}

// The way back.
Value from_heads(Recipe& r, Value x, const std::string& layout, const Shape& shape) {
  if (layout == "BNSD") return x;
  if (layout == "SBH") return r.reshape(r.transpose(x, {2, 0, 1, 3}), shape);
  return r.reshape(r.transpose(x, {0, 2, 1, 3}), shape);
}

Layout layout_of(Recipe& r, Param query, Param key) {
  Layout l;
  l.name = r.text("inputLayout");
  l.heads = r.integer("headNum");
  const bool wide = l.name == "BSH" || l.name == "SBH";
  if (!wide && l.name != "BNSD" && l.name != "BSND") {
    refuse("inputLayout is '{}'; expected BNSD, BSND, BSH or SBH", l.name);
  }
  const size_t rank = wide ? 3 : 4;
  if (r.rank(query) != rank || r.rank(key) != rank) {
    refuse("query and key have {} and {} axes; layout {} has {}", r.rank(query), r.rank(key),
           l.name, rank);
  }
  const Shape q = r.shape(query), k = r.shape(key);
  if (l.heads < 1 || (wide && q[2] % l.heads != 0)) {
    refuse("headNum is {} for a query of {}", l.heads, to_string(q));
  }
  l.size = wide ? q[2] / l.heads : q[3];
  l.key_heads = wide ? k[2] / std::max<int64_t>(l.size, 1) : k[l.name == "BNSD" ? 1 : 2];
  if (l.key_heads < 1 || l.heads % l.key_heads != 0) {
    refuse("the query has {} heads and the key {}; expected a multiple", l.heads, l.key_heads);
  }
  return l;
}

// Heads of keys and values that several heads of the query share, one for each of these.
Value spread(Recipe& r, Value x, const Layout& l) {
  if (l.heads == l.key_heads) return x;
  const Shape s = r.shape(x);
  const Value grouped = r.reshape(x, {s[0], s[1], 1, s[2], s[3]});
  return r.reshape(r.expand(grouped, {s[0], s[1], l.heads / l.key_heads, s[2], s[3]}),
                   {s[0], l.heads, s[2], s[3]});
}

// The sum over heads that share one.
Value gather(Recipe& r, Value x, const Layout& l) {
  if (l.heads == l.key_heads) return x;
  const Shape s = r.shape(x);
  const Value grouped = r.reshape(x, {s[0], l.key_heads, l.heads / l.key_heads, s[2], s[3]});
  return r.op("ReduceSum", {grouped, r.constant({2})}, {{"keepdims", 0}});
}

Value numbers(Recipe& r, int64_t count, const Shape& shape) {
  const auto scalar = [&](double value) { return r.constant(DType::i64, value); };
  return r.reshape(r.op("Range", {scalar(0), scalar(static_cast<double>(count)), scalar(1)}), shape);
}

// Truth where an element is masked out; empty when none is. Modes 2 and 3 let a row see the columns
// up to its own, counted from the start or from the end; mode 4 a band around its own.
Value mask_of(Recipe& r, int64_t rows, int64_t columns) {
  const int64_t mode = r.integer("sparseMode");
  if (mode == 0 || mode == 1) {
    if (!r.given("attenMaskOptional")) return {};
    Value mask = r.cast(r.in("attenMaskOptional"), DType::boolean);
    return mask;
  }
  if (mode < 2 || mode > 4) {
    refuse("sparseMode is {}; expected 0 to 4", mode);
  }
  const Value row = numbers(r, rows, {rows, 1}), column = numbers(r, columns, {1, columns});
  const auto shifted = [&](int64_t by) {
    return r.op("Add", {row, r.constant(DType::i64, static_cast<double>(by))});
  };
  const int64_t shift = mode == 2 ? 0 : columns - rows;
  if (mode != 4) return r.op("Greater", {column, shifted(shift)});
  constexpr int64_t kMost = int64_t{1} << 31;
  const int64_t before = std::min(r.integer("preTokens"), kMost),
                after = std::min(r.integer("nextTokens"), kMost);
  return r.op("Or", {r.op("Greater", {column, shifted(shift + after)}),
                     r.op("Less", {column, shifted(shift - before)})});
}

struct Weights {
  Value q, k, v;      // batch, heads, length, size
  Value most, sum;    // of the rows
  Value normal;       // probabilities
  Value kept;         // truth where dropout keeps an element; empty without
};

Weights weights_of(Recipe& r, const Layout& l, Param key, Param shift) {
  const DType type = computed_in(r.dtype("query"));
  Weights w;
  w.q = by_heads(r, r.cast(r.in("query"), type), l.name, l.heads);
  w.k = spread(r, by_heads(r, r.cast(r.in(key), type), l.name, l.key_heads), l);
  w.v = spread(r, by_heads(r, r.cast(r.in("value"), type), l.name, l.key_heads), l);
  Value scores = product(r, w.q, w.k, false, true);
  if (r.given(shift)) scores = r.op("Add", {scores, r.cast(r.in(shift), type)});
  scores = r.op("Mul", {scores, r.number("scaleValue", type)});
  const Shape shape = r.shape(scores);
  if (const Value mask = mask_of(r, shape[2], shape[3])) {
    scores = r.op("Where", {mask, r.constant(type, -INFINITY), scores});
  }
  const Value last = r.constant({3});
  const Value lowest = r.constant(type, -3.0e38);
  w.most = r.op("Max", {r.op("ReduceMax", {scores, last}, {{"keepdims", 1}}), lowest});
  const Value powers = r.op("Exp", {r.op("Sub", {scores, w.most})});
  w.sum = r.op("ReduceSum", {powers, last}, {{"keepdims", 1}});
  // A row that sees nothing has no weights.
  const Value zero = r.constant(type, 0), one = r.constant(type, 1);
  const Value safe = r.op("Where", {r.op("Equal", {w.sum, zero}), one, w.sum});
  w.normal = r.op("Div", {powers, safe});
  if (r.given("dropMaskOptional") && !r.equals("keepProb", 1)) {
    const int64_t count = element_count(shape);
    const Value bits =
        r.reshape(r.in("dropMaskOptional"), {r.tensor("dropMaskOptional").count()});
    w.kept = r.reshape(r.op("UnpackBits", {bits}, {{"count", count}}), shape);
  }
  return w;
}

// x where dropout keeps it, grown by what it drops.
Value dropped(Recipe& r, const Weights& w, Value x) {
  if (!w.kept) return x;
  const DType type = r.dtype(x);
  const Value grown = r.op("Div", {x, r.number("keepProb", type)});
  return r.op("Where", {w.kept, grown, r.constant(type, 0)});
}

void attention(Recipe& r) {
  const Layout l = layout_of(r, "query", "key");
  const Weights w = weights_of(r, l, "key", "realShiftOptional");
  const Value y = product(r, dropped(r, w, w.normal), w.v, false, false);
  r.out("attentionOutOut", from_heads(r, y, l.name, r.shape("attentionOutOut")));
  for (const auto& [name, value] : {std::pair{"softmaxMaxOut", w.most}, {"softmaxSumOut", w.sum}}) {
    if (r.given(name) && r.tensor(name).count() > 0) {
      r.out(name, r.expand(value, r.shape(name)));
    }
  }
}

void attention_gradient(Recipe& r) {
  const Layout l = layout_of(r, "query", "keyIn");
  const DType type = computed_in(r.dtype("query"));
  const Weights w = weights_of(r, l, "keyIn", "pseShiftOptional");
  const Value dy = by_heads(r, r.cast(r.in("dy"), type), l.name, l.heads);
  const Value dv = product(r, dropped(r, w, w.normal), dy, true, false);
  const Value dp = dropped(r, w, product(r, dy, w.v, false, true));
  const Value total =
      r.op("ReduceSum", {r.op("Mul", {dp, w.normal}), r.constant({3})}, {{"keepdims", 1}});
  const Value inner = r.op("Mul", {w.normal, r.op("Sub", {dp, total})});
  const Value ds = r.op("Mul", {inner, r.number("scaleValue", type)});
  const auto write = [&](Param out, Value x) {
    r.out(out, from_heads(r, x, l.name, r.shape(out)));
  };
  write("dqOut", product(r, ds, w.k, false, false));
  write("dkOut", gather(r, product(r, ds, w.q, true, false), l));
  write("dvOut", gather(r, dv, l));
  if (!r.given("dpseOut") || r.tensor("dpseOut").count() == 0) return;
  if (!r.given("pseShiftOptional")) return;
  // The shift was broadcast: its gradient is summed.
  const Shape wide = r.shape(ds), narrow = r.shape("dpseOut");
  std::vector<int64_t> axes;
  for (size_t i = 0; i < narrow.size(); ++i) {
    if (narrow[i] != wide[i]) axes.push_back(static_cast<int64_t>(i));
  }
  r.out("dpseOut", axes.empty() ? ds : r.op("ReduceSum", {ds, r.constant(axes)}, {{"keepdims", 1}}));
}

const Row kRows[] = {
    {"aclnnFlashAttentionScore", attention},
    {"aclnnFlashAttentionScoreGrad", attention_gradient},
};

}  // namespace

std::span<const Row> attention_rows() { return kRows; }

}  // namespace anynpu::aclnn
