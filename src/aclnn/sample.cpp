// SPDX-License-Identifier: Apache-2.0
// Choosing the next token: of the k most likely ones, of those that together have a share of p.
#include <cmath>

#include "aclnn/recipe.h"

namespace anynpu::aclnn {

namespace {

struct Order {
  Value values, places;  // rows from the smallest to the largest
};

Order sorted(Recipe& r, Value x) {
  const auto made = r.ops("TopK", {x, r.constant({r.extent(x, 1)})}, 2,
                          {{"axis", 1}, {"largest", 0}, {"sorted", 1}});
  return {made[0], made[1]};
}

Value column(Recipe& r, Param param, int64_t rows, DType type) {
  const Value x = r.cast(r.in(param), type);
  const int64_t count = element_count(r.shape(x));
  if (count != 1 && count != rows) refuse("{} numbers for {} rows; expected one each", count, rows);
  return r.expand(r.reshape(x, {count, 1}), {rows, 1});
}

Value where(Recipe& r, Value mask, double value, Value x) {
  return r.op("Where", {mask, r.constant(r.dtype(x), value), x});
}

// Those smaller than the k-th largest go. A k outside of 1 to `most` keeps all.
Value largest_k(Recipe& r, const Order& order, Value k, int64_t most) {
  const int64_t count = r.extent(order.values, 1);
  const auto number = [&](int64_t v) { return r.constant(DType::i64, static_cast<double>(v)); };
  const Value outside =
      r.op("Or", {r.op("Less", {k, number(1)}), r.op("Greater", {k, number(most)})});
  const Value kept = r.op("Where", {outside, number(count), k});
  const Value at = r.op("Max", {r.op("Sub", {number(count), kept}), number(0)});
  const Value least = r.op("GatherElements", {order.values, at}, {{"axis", 1}});
  return where(r, r.op("Less", {order.values, least}), -INFINITY, order.values);
}

// Those go that together, from the smallest one on, have at most 1 - p. The largest one stays.
Value share_of_p(Recipe& r, Value values, Value p) {
  const Shape s = r.shape(values);
  const Value shares = r.op("Softmax", {values}, {{"axis", 1}});
  const Value sums = r.op("CumSum", {shares, r.constant(DType::i64, 1)});
  const Value limit = r.op("Sub", {r.constant(DType::f32, 1), p});
  const Value low = r.op("LessOrEqual", {sums, limit});
  check_items(s[1]);
  Doubles marks(static_cast<size_t>(s[1]), 1);
  if (!marks.empty()) marks.back() = 0;
  const Value others = r.constant(DType::boolean, {1, s[1]}, marks);
  return where(r, r.op("And", {low, others}), -INFINITY, values);
}

Value in_place(Recipe& r, const Order& order, Value values) {
  return r.op("ScatterElements", {values, order.places, values}, {{"axis", 1}});
}

void check_rows(Recipe& r) {
  if (r.rank("logits") != 2)
    refuse("logits have {} axes; expected rows and tokens", r.rank("logits"));
}

void apply(Recipe& r) {
  check_rows(r);
  const Value logits = r.cast(r.in("logits"), DType::f32);
  const int64_t rows = r.extent(logits, 0), count = r.extent(logits, 1);
  const Order order = sorted(r, logits);
  Value y = order.values;
  if (r.given("k")) y = largest_k(r, order, column(r, "k", rows, DType::i64), count);
  if (r.given("p")) y = share_of_p(r, y, column(r, "p", rows, DType::f32));
  r.out("out", in_place(r, order, y));
}

void sample(Recipe& r) {
  check_rows(r);
  const Value logits = r.cast(r.in("logits"), DType::f32);
  const int64_t rows = r.extent(logits, 0);
  const int64_t most = std::min<int64_t>(r.extent(logits, 1), 1024);
  const Order order = sorted(r, logits);
  Value y = largest_k(r, order, column(r, "topK", rows, DType::i64), most);
  y = in_place(r, order, share_of_p(r, y, column(r, "topP", rows, DType::f32)));
  Value shares = r.op("Softmax", {y}, {{"axis", 1}});
  if (r.given("q") && r.tensor("q").count() > 0) {
    const Value q = r.cast(r.in("q"), DType::f32);
    shares = r.op("Div", {shares, r.op("Add", {q, r.number("eps", DType::f32)})});
  }
  const Value token = r.op("ArgMax", {shares}, {{"axis", 1}, {"keepdims", 0}});
  r.out("logitsSelectIdx", r.reshape(token, r.shape("logitsSelectIdx")));
  if (r.flag("isNeedLogits")) r.out("logitsTopKPSelect", y);
}

// The second version: the token among the sorted ones, whose shares `q` divides in that order.
// `minPs` drops tokens by their share of the largest. With isNeedSampleResult the caller draws: it
// gets the shares and the places of the sorted tokens.
void sample_sorted(Recipe& r) {
  check_rows(r);
  const Value logits = r.cast(r.in("logits"), DType::f32);
  const int64_t rows = r.extent(logits, 0), count = r.extent(logits, 1);
  const int64_t stated = r.integer("ksMax");
  if (stated < 1) refuse("ksMax is {}; expected at least 1", stated);
  const int64_t most =
      std::min({count, int64_t{1024}, (std::min<int64_t>(stated, 1024) + 7) / 8 * 8});
  const bool raw = r.flag("inputIsLogits");
  const auto f32 = [&](double v) { return r.constant(DType::f32, v); };
  const auto number = [&](int64_t v) { return r.constant(DType::i64, static_cast<double>(v)); };
  const auto both = [&](Value a, Value b) { return r.op("And", {a, b}); };
  const auto found = r.ops("TopK", {logits, r.constant(Ints{count})}, 2,
                           {{"axis", 1}, {"largest", 1}, {"sorted", 1}});
  const Value rank = r.reshape(r.op("Range", {number(0), number(count), number(1)}), {1, count});
  const Value first = r.op("Equal", {rank, number(0)});

  const Value k = column(r, "topK", rows, DType::i64);
  const Value skipped =
      r.op("Or", {r.op("Less", {k, number(1)}), r.op("Greater", {k, number(most)})});
  Value kept = r.op("Or", {skipped, r.op("Less", {rank, k})});
  Value shares = found[0];
  if (raw) shares = r.op("Softmax", {r.op("Where", {kept, shares, f32(-INFINITY)})}, {{"axis", 1}});
  shares = r.op("Where", {kept, shares, f32(0)});
  const Value p = column(r, "topP", rows, DType::f32);
  const Value before = r.op("CumSum", {shares, number(1)}, {{"exclusive", 1}});
  const Value in_p = r.op("Or", {r.op("GreaterOrEqual", {p, f32(1)}), r.op("Less", {before, p})});
  kept = both(kept, r.op("Or", {first, in_p}));
  if (r.given("minPs") && r.tensor("minPs").count() > 0) {
    const Value least = column(r, "minPs", rows, DType::f32);
    const Value limit = r.op("Mul", {r.slice(shares, 1, 0, 1), least});
    kept = both(kept, r.op("Or", {first, both(r.op("Less", {least, f32(1)}),
                                              r.op("GreaterOrEqual", {shares, limit}))}));
  }
  shares = r.op("Where", {kept, shares, f32(0)});

  Value scores = shares;
  // Integers are the seeds of a caller that draws.
  if (r.given("q") && r.tensor("q").count() > 0 && is_floating(r.dtype("q"))) {
    scores = r.op(
        "Div", {shares, r.op("Add", {r.cast(r.in("q"), DType::f32), r.number("eps", DType::f32)})});
    scores = r.op("Where", {kept, scores, f32(-1)});
  }
  const Value best = r.op("ArgMax", {scores}, {{"axis", 1}, {"keepdims", 1}});
  const Value token = r.op("GatherElements", {found[1], best}, {{"axis", 1}});
  r.out("logitsSelectIdx", r.reshape(token, r.shape("logitsSelectIdx")));
  if (r.flag("isNeedLogits")) {
    const Value left = r.op("Where", {kept, found[0], f32(raw ? -INFINITY : 0)});
    r.out("logitsTopKPSelect", r.op("ScatterElements", {logits, found[1], left}, {{"axis", 1}}));
  }
  if (!r.flag("isNeedSampleResult")) return;
  r.out("logitsIdx", found[1]);
  r.out("logitsSortMasked", shares);
}

const Row kRows[] = {
    {"aclnnApplyTopKTopP", apply},
    {"aclnnTopKTopPSample", sample},
    {"aclnnTopKTopPSampleV2", sample_sorted},
};

}  // namespace

std::span<const Row> sample_rows() { return kRows; }

}  // namespace anynpu::aclnn
