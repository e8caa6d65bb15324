// SPDX-License-Identifier: Apache-2.0
// Mixtures of experts: gates, and tokens on their way to experts and back. Token i has k places
// i * k ... i * k + k - 1; ops/index/route.cpp sorts them by expert.
#include <algorithm>
#include <cmath>

#include "aclnn/quantized.h"

namespace anynpu::aclnn {

namespace {

// The shape of a tensor of rows.
Shape rows_of(Recipe& r, const char* name) {
  const Shape s = r.shape(name);
  if (s.size() != 2) refuse("{} has {} axes; expected rows and columns", name, s.size());
  return s;
}

struct Top {
  Value values, experts;  // experts: int64
};

Top top_k(Recipe& r, Value x, int64_t k) {
  const int64_t count = r.extent(x, -1);
  if (k < 1 || k > count) refuse("k is {}; expected 1 to the {} experts", k, count);
  const auto made = r.ops("TopK", {x, r.constant({k})}, 2, {{"axis", -1}});
  return {made[0], made[1]};
}

Value softmax(Recipe& r, Value x) { return r.op("Softmax", {x}, {{"axis", -1}}); }

// Experts of finished tokens are one behind the last.
Value unless_finished(Recipe& r, Value experts, int64_t count) {
  if (!r.given("finishedOptional") || r.tensor("finishedOptional").count() == 0) return experts;
  Shape s = r.shape("finishedOptional");
  s.push_back(1);
  const Value finished = r.reshape(r.cast(r.in("finishedOptional"), DType::boolean), s);
  return r.op("Where", {finished, r.constant(DType::i64, static_cast<double>(count)), experts});
}

// number 1: a softmax of the chosen ones where `renorm` says so.
void gate_softmax(Recipe& r) {
  const Value x = r.cast(r.in("x"), DType::f32);
  const int64_t experts = r.extent(x, -1), k = r.integer("k");
  const bool later = r.has_parameter("renorm") && r.integer("renorm") == 1;
  const Value shares = later ? x : softmax(r, x);
  Top top = top_k(r, shares, k);
  r.out("yOut", later ? softmax(r, top.values) : top.values);
  r.out("expertIdxOut", unless_finished(r, top.experts, experts));
  if (r.has_parameter("rowIdxOut")) {
    // Place j of token i is j * tokens + i.
    const int64_t tokens = element_count(r.shape(top.experts)) / k;
    Ints places;
    for (int64_t i = 0; i < tokens; ++i) {
      for (int64_t j = 0; j < k; ++j) places.push_back(j * tokens + i);
    }
    r.out("rowIdxOut", r.reshape(r.constant(places), r.shape("rowIdxOut")));
  }
  if (r.has_parameter("outputSoftmaxResultFlag") && r.flag("outputSoftmaxResultFlag") && !later)
    r.out("softmaxResultOutOptional", shares);
}

// Experts of the groups that were not chosen get no score.
Value in_best_groups(Recipe& r, Value scores, int64_t groups, int64_t chosen, int64_t by_two) {
  const Shape s = r.shape(scores);
  if (groups <= 1 || chosen >= groups) return scores;
  if (s.back() % groups != 0 || chosen < 1) {
    refuse("{} experts in {} groups of which {} are chosen; expected a multiple", s.back(), groups,
           chosen);
  }
  Shape cut = s;
  cut.back() = groups;
  cut.push_back(s.back() / groups);
  const Value grouped = r.reshape(scores, cut);
  const auto axis = static_cast<int64_t>(s.size());
  const Value of_group =
      by_two == 1
          ? r.op("ReduceSum",
                 {top_k(r, grouped, std::min<int64_t>(2, cut.back())).values, r.constant({axis})},
                 {{"keepdims", 0}})
          : r.op("ReduceMax", {grouped, r.constant({axis})}, {{"keepdims", 0}});
  const Top best = top_k(r, of_group, chosen);
  const Value none = r.filled(DType::f32, r.shape(of_group), 0);
  const Value marks =
      r.op("ScatterElements", {none, best.experts, r.filled(DType::f32, r.shape(best.experts), 1)},
           {{"axis", -1}});
  Shape wide = r.shape(marks);
  wide.push_back(1);
  const Value in = r.op("Greater", {r.reshape(marks, wide), r.constant(DType::f32, 0)});
  return r.reshape(r.op("Where", {in, grouped, r.constant(DType::f32, -INFINITY)}), s);
}

void gate(Recipe& r) {
  const Value x = r.cast(r.in("x"), DType::f32);
  const int64_t kind = r.integer("normType");
  if (kind != 0 && kind != 1) refuse("normType is {}; expected 0 (softmax) or 1 (sigmoid)", kind);
  const Value shares = kind == 0 ? softmax(r, x) : r.op("Sigmoid", {x});
  Value scores = shares;
  if (r.given("biasOptional"))
    scores = r.op("Add", {scores, r.cast(r.in("biasOptional"), DType::f32)});
  scores = in_best_groups(r, scores, r.integer("groupCount"), r.integer("kGroup"),
                          r.integer("groupSelectMode"));
  const Top top = top_k(r, scores, r.integer("k"));
  Value y = r.op("GatherElements", {shares, top.experts}, {{"axis", -1}});
  if (kind == 1 || r.integer("renorm") == 1) {
    const auto last = static_cast<int64_t>(r.shape(y).size()) - 1;
    const Value sum = r.op("ReduceSum", {y, r.constant({last})}, {{"keepdims", 1}});
    y = r.op("Div", {y, r.op("Add", {sum, r.number("eps", DType::f32)})});
  }
  r.out("yOut", r.op("Mul", {y, r.number("routedScalingFactor", DType::f32)}));
  r.out("expertIdxOut", top.experts);
  if (r.flag("outFlag")) r.out("outOut", shares);
}

Value integers(Recipe& r, Param param) {
  const Value x = r.in(param);
  return r.cast(r.reshape(x, {element_count(r.shape(x))}), DType::i64);
}

struct Sorted {
  Value held, place, counts;
};

Sorted sort_experts(Recipe& r, Value experts, int64_t begin, int64_t end, int64_t capacity = 0) {
  const auto made =
      r.ops("ExpertSort", {experts}, 3, {{"begin", begin}, {"end", end}, {"capacity", capacity}});
  return {made[0], made[1], made[2]};
}

// Rows are given numbers by the caller: row % tokens is the token.
void init_routing(Recipe& r) {
  const Value rows = integers(r, "rowIdx"), experts = integers(r, "expertIdx");
  const int64_t places = element_count(r.shape(experts));
  const int64_t tokens = rows_of(r, "x")[0], k = tokens > 0 ? places / tokens : 0;
  const Sorted s = sort_experts(r, experts, 0, 0);
  const auto picked = [&](Value x) { return r.op("Gather", {x, s.held}, {{"axis", 0}}); };
  const Value sorted_rows = picked(rows);
  r.out("expandedExpertIdxOut", r.reshape(picked(experts), r.shape("expandedExpertIdxOut")));
  const Value places_of = r.op("InvertIndex", {sorted_rows}, {{"count", places}});
  r.out("expandedRowIdxOut", r.reshape(places_of, r.shape("expandedRowIdxOut")));
  const int64_t active = std::min(r.integer("activeNum"), tokens) * k;
  const Value taken = r.slice(sorted_rows, 0, 0, active);
  const Value token = r.op(
      "Mod", {taken, r.constant(DType::i64, static_cast<double>(std::max<int64_t>(tokens, 1)))});
  Value y = r.op("GatherRows", {r.in("x"), token});
  if (r.has_parameter("scale")) {
    const Value scaled = r.op("Mul", {r.cast(y, DType::f32), r.number("scale", DType::f32)});
    y = rounded_to(r, r.op("Add", {scaled, r.number("offset", DType::f32)}),
                   r.dtype("expandedXOut"));
  }
  r.out("expandedXOut", r.reshape(y, r.shape("expandedXOut")));
}

// How many tokens each expert has: one by one, or with all before it.
void write_counts(Recipe& r, const char* name, Value counts, bool added) {
  if (!r.given(name) || r.tensor(name).count() == 0) return;
  if (added) counts = r.op("CumSum", {counts, r.constant(DType::i64, 0)});
  r.out(name, r.reshape(counts, r.shape(name)));
}

struct Quantised {
  Value rows, scales;  // scales: of each row
};

// Rows as integers: with one scale for all, or with the largest of each row.
Quantised quantise(Recipe& r, Value rows, const Sorted& s, int64_t capacity) {
  const int64_t mode = r.integer("quantMode");
  if (mode == -1) return {rows, {}};
  if (mode != 0 && mode != 1) refuse("quantMode is {}; expected -1, 0 or 1", mode);
  const DType type = r.dtype("expandedXOut");
  Value x = r.cast(rows, DType::f32);
  if (mode == 0) {
    if (!r.given("scaleOptional")) refuse("quantMode is 0 without scaleOptional");
    x = r.op("Mul", {x, scale_of(r, "scaleOptional")});
    if (r.given("offsetOptional")) x = r.op("Add", {x, scale_of(r, "offsetOptional")});
    return {rounded_to(r, x, type), {}};
  }
  if (r.given("scaleOptional")) {
    // A row of factors for all experts, or one for each.
    Value smooth = scale_of(r, "scaleOptional");
    const Shape of_scale = r.shape(smooth);
    if (of_scale.size() == 2 && of_scale[0] > 1) {
      const int64_t count = r.extent(rows, 0);
      const auto number = [&](int64_t v) { return r.constant(DType::i64, static_cast<double>(v)); };
      const Value row = r.op("Range", {number(0), number(count), number(1)});
      const Value ends = r.op("CumSum", {s.counts, number(0)});
      const Value expert = capacity > 0 ? r.op("Div", {row, number(capacity)})
                                        : r.op("SearchSorted", {ends, row}, {{"right", 1}});
      smooth = r.op("GatherRows", {smooth, expert});
    }
    x = r.op("Mul", {x, smooth});
  }
  const RowQuantised made = quantise_rows(r, x, type);
  return {made.values, made.scales};
}

// Versions 2: places are numbered by token.
void init_routing_by_place(Recipe& r) {
  const auto integer = [&](const char* plain, const char* optional) {
    return r.integer(r.has_parameter(plain) ? plain : optional);
  };
  const Value experts = integers(r, "expertIdx");
  const int64_t places = element_count(r.shape(experts)), tokens = rows_of(r, "x")[0];
  const int64_t k = std::max<int64_t>(tokens > 0 ? places / tokens : 1, 1);
  const int64_t drop = integer("dropPadMode", "dropPadModeOptional");
  const int64_t count = integer("expertNum", "expertNumOptional");
  const int64_t capacity = drop == 1 ? integer("expertCapacity", "expertCapacityOptional") : 0;
  if (drop == 1 && (capacity < 1 || count < 1)) {
    refuse("dropPadMode is 1 with expertNum {} and expertCapacity {}; expected at least 1", count,
           capacity);
  }
  std::vector<int64_t> range;
  if (r.has_parameter("activeExpertRangeOptional")) range = r.ints("activeExpertRangeOptional");
  const int64_t begin = range.size() == 2 ? range[0] : 0;
  const int64_t end = range.size() == 2 ? range[1] : count;
  const Sorted s = sort_experts(r, experts, begin, end, capacity);
  const int64_t stated = integer("activeNum", "activeNumOptional");
  Value held = s.held;
  if (drop != 1 && stated > 0 && stated < places) held = r.slice(held, 0, 0, stated);
  const Value x = r.in("x");
  const bool quantised = r.has_parameter("quantMode");
  const Value rows = r.op("GatherRows", {x, held}, {{"divisor", k}});
  const Quantised q = quantised ? quantise(r, rows, s, capacity) : Quantised{rows, {}};
  r.out("expandedXOut", r.reshape(q.rows, r.shape("expandedXOut")));
  const bool scatter = r.has_parameter("rowIdxType") && r.integer("rowIdxType") == 1;
  r.out("expandedRowIdxOut", r.reshape(scatter ? s.held : s.place, r.shape("expandedRowIdxOut")));
  if (q.scales) {
    const char* const name =
        r.has_parameter("expandedScaleOut") ? "expandedScaleOut" : "dynamicQuantScaleOutOptional";
    if (r.given(name)) r.out(name, r.reshape(q.scales, r.shape(name)));
  } else if (r.given("expandedScaleOut") && r.given("scaleOptional") &&
             r.integer("quantMode") == -1) {
    // Factors of tokens go with them.
    const Value scale = scale_of(r, "scaleOptional");
    const Value column = r.reshape(scale, {element_count(r.shape(scale)), 1});
    r.out("expandedScaleOut", r.reshape(r.op("GatherRows", {column, held}, {{"divisor", k}}),
                                        r.shape("expandedScaleOut")));
  }
  if (r.has_parameter("expertTokensNumType")) {  // version 3
    const int64_t kind = r.integer("expertTokensNumType");
    if (!r.flag("expertTokensNumFlag")) return;
    if (kind != 0 && kind != 1)
      refuse("expertTokensNumType is {}; expected 0 (sums) or 1 (counts)", kind);
    return write_counts(r, "expertTokensCountOrCumsumOut", s.counts, kind == 0);
  }
  const int64_t flag =
      integer("expertTokensCountOrCumsumFlag", "expertTokensCountOrCumsumFlagOptional");
  if (flag > 0) write_counts(r, "expertTokensCountOrCumsumOutOptional", s.counts, flag == 1);
  if (drop == 1 &&
      integer("expertTokensBeforeCapacityFlag", "expertTokensBeforeCapacityFlagOptional"))
    write_counts(r, "expertTokensBeforeCapacityOutOptional", s.counts, false);
}

// Sums of the rows that a token was sent to.
void sum_back(Recipe& r) {
  const Value rows = r.cast(r.in("gradExpandedX"), DType::f32);
  const Shape s = r.shape(rows);
  if (s.empty()) refuse("gradExpandedX has no axes; expected rows");
  const int64_t width = s.back(), active = r.integer("activeNum");
  Value flat = r.reshape(rows, {element_count(s) / std::max<int64_t>(width, 1), width});
  if (active > 0 && active < r.extent(flat, 0)) flat = r.slice(flat, 0, 0, active);
  r.out("out",
        r.op("SumRows", {flat, integers(r, "expandedRowIdx")}, {{"terms", r.integer("topK")}}));
}

void expert_tokens(Recipe& r) {
  const int64_t count = r.integer("numExperts");
  const Value sorted = integers(r, "sortedExperts");
  const Value counts = sort_experts(r, sorted, 0, count).counts;
  write_counts(r, "out", counts, true);
}

// --- back to tokens

// number 1: indices lie by columns in modes 0 and 1, by rows in 2 and 3.
void finalize_routing(Recipe& r) {
  const auto optional = [&](const char* plain, const char* later) {
    return r.has_parameter(plain) ? plain : later;
  };
  const int64_t mode = r.has_parameter("dropPadMode") ? r.integer("dropPadMode") : 0;
  if (mode < 0 || mode > 3) refuse("dropPadMode is {}; expected 0 to 3", mode);
  const Shape out = rows_of(r, "out");
  const Value rows = r.cast(r.in("expandedX"), DType::f32);
  const Value flat =
      r.reshape(rows, {element_count(r.shape(rows)) / std::max<int64_t>(out[1], 1), out[1]});
  const Value index = integers(r, "expandedRowIdx");
  const int64_t terms = out[0] > 0 ? element_count(r.shape(index)) / out[0] : 1;
  const auto floats = [&](const char* name) -> Value {
    if (!r.given(name)) return {};
    return r.cast(r.in(name), DType::f32);
  };
  const Value scales = floats(optional("scales", "scalesOptional"));
  const char* const expert_name = optional("expandedExpertIdx", "expertIdxOptional");
  const Value bias = floats(optional("bias", "biasOptional"));
  Value experts;
  if (bias && r.given(expert_name)) experts = integers(r, expert_name);
  Value y = r.op("SumRows", {flat, index, scales, experts ? bias : Value{}, experts},
                 {{"terms", std::max<int64_t>(terms, 1)}, {"by_columns", mode < 2}});
  for (const char* name : {optional("x1", "x1Optional"), "x2Optional"}) {
    if (const Value x = floats(name)) y = r.op("Add", {y, x});
  }
  r.out("out", y);
}

// Rows of gradients for what was gathered by `index`, scaled.
Value scattered(Recipe& r, Value grad, Value index, Value scales, int64_t rows, int64_t k) {
  const Value held = r.op("InvertIndex", {index}, {{"count", rows}});
  return r.op("GatherRows", {grad, held, scales}, {{"divisor", k}});
}

// The product of each place's row with the gradient of its token.
Value dots(Recipe& r, Value rows, Value index, Value grad, int64_t k) {
  const Shape g = r.shape(grad);
  const Value sent = r.reshape(r.op("GatherRows", {rows, index}), {g[0], k, g[1]});
  const Value products = r.op("Mul", {sent, r.reshape(grad, {g[0], 1, g[1]})});
  return r.op("ReduceSum", {products, r.constant({2})}, {{"keepdims", 0}});
}

void finalize_gradient(Recipe& r) {
  const Value grad = r.cast(r.in("gradY"), DType::f32), index = integers(r, "expandedRowIdx");
  const int64_t tokens = r.extent(grad, 0), width = r.extent(grad, 1);
  const int64_t k = tokens > 0 ? element_count(r.shape(index)) / tokens : 1;
  Value scales;
  if (r.given("scalesOptional")) {
    const Value given = r.cast(r.in("scalesOptional"), DType::f32);
    scales = r.reshape(given, {element_count(r.shape(given))});
  }
  const Shape out = r.shape("gradExpandedXOut");
  const int64_t rows = element_count(out) / std::max<int64_t>(width, 1);
  r.out("gradExpandedXOut", r.reshape(scattered(r, grad, index, scales, rows, k), out));
  if (!r.given("gradScalesOut") || r.tensor("gradScalesOut").count() == 0) return;
  if (!r.given("expandedXOptional")) refuse("gradScalesOut is given without expandedXOptional");
  const Value x = r.reshape(r.cast(r.in("expandedXOptional"), DType::f32), {rows, width});
  Value sums = dots(r, x, index, grad, k);
  if (r.given("biasOptional") && r.given("expertIdxOptional")) {
    const Value bias = r.cast(r.in("biasOptional"), DType::f32);
    sums = r.op("Add", {sums, dots(r, bias, integers(r, "expertIdxOptional"), grad, k)});
  }
  r.out("gradScalesOut", r.reshape(sums, r.shape("gradScalesOut")));
}

void plain_mode(Recipe& r) {
  if (r.flag("paddedMode")) refuse("paddedMode is true; expected false");
}

void permute(Recipe& r) {
  plain_mode(r);
  const Value experts = integers(r, "indices");
  const int64_t places = element_count(r.shape(experts)), tokens = rows_of(r, "tokens")[0];
  const int64_t k = std::max<int64_t>(tokens > 0 ? places / tokens : 1, 1);
  const int64_t stated = r.integer("numOutTokens");
  const int64_t rows =
      stated > 0 ? std::min(stated, places) : std::max<int64_t>(places + stated, 0);
  const Sorted s = sort_experts(r, experts, 0, 0);
  const Value held = rows < places ? r.slice(s.held, 0, 0, rows) : s.held;
  r.out("permuteTokensOut", r.op("GatherRows", {r.in("tokens"), held}, {{"divisor", k}}));
  r.out("sortedIndicesOut", r.reshape(s.place, r.shape("sortedIndicesOut")));
}

void permute_gradient(Recipe& r) {
  plain_mode(r);
  r.out("out", r.op("SumRows",
                    {r.cast(r.in("permutedOutputGrad"), DType::f32), integers(r, "sortedIndices")},
                    {{"terms", r.integer("numTopk")}}));
}

Value flat_probs(Recipe& r) {
  if (!r.given("probsOptional")) return {};
  const Value probs = r.cast(r.in("probsOptional"), DType::f32);
  return r.reshape(probs, {element_count(r.shape(probs))});
}

void unpermute(Recipe& r) {
  plain_mode(r);
  const Value index = integers(r, "sortedIndices"), probs = flat_probs(r);
  const int64_t tokens = rows_of(r, "out")[0];
  const int64_t k = probs && tokens > 0 ? element_count(r.shape(index)) / tokens : 1;
  r.out("out", r.op("SumRows", {r.cast(r.in("permutedTokens"), DType::f32), index, probs},
                    {{"terms", std::max<int64_t>(k, 1)}}));
}

void unpermute_gradient(Recipe& r) {
  plain_mode(r);
  const Value grad = r.cast(r.in("unpermutedTokensGrad"), DType::f32);
  const Value index = integers(r, "sortedIndices"), probs = flat_probs(r);
  const int64_t tokens = r.extent(grad, 0);
  const int64_t k = tokens > 0 ? element_count(r.shape(index)) / tokens : 1;
  r.out("permutedTokensGradOut",
        scattered(r, grad, index, probs, rows_of(r, "permutedTokensGradOut")[0], k));
  if (!probs || !r.given("probsGradOut")) return;
  const Value rows = r.cast(r.in("permutedTokens"), DType::f32);
  r.out("probsGradOut", r.reshape(dots(r, rows, index, grad, k), r.shape("probsGradOut")));
}

// --- a map of tokens x experts says who goes where; rows lie by expert

// The places of the transposed map, those that are true first: of all experts together, or of each.
Value mapped_places(Recipe& r, const char* name, bool each) {
  const Shape s = rows_of(r, name);
  const Value map = r.transpose(r.cast(r.in(name), DType::boolean), {1, 0});
  Value key = r.op("Where", {map, r.constant(DType::i64, 0), r.constant(DType::i64, 1)});
  if (each) {
    Ints twice;
    for (int64_t e = 0; e < s[1]; ++e) twice.push_back(2 * e);
    key = r.op("Add", {key, r.reshape(r.constant(twice), {s[1], 1})});
  }
  const Value flat = r.reshape(key, {s[0] * s[1]});
  return sort_experts(r, flat, 0, each ? 2 * s[1] : 2).held;
}

// Which element of the transposed map each row belongs to.
Value places_of_rows(Recipe& r, const char* name, int64_t rows, bool padded) {
  const Shape s = rows_of(r, name);
  const Value held = mapped_places(r, name, padded);
  if (!padded) return r.slice(held, 0, 0, rows);
  const int64_t capacity = s[1] > 0 ? rows / s[1] : 0;
  const Value first = r.slice(r.reshape(held, {s[1], s[0]}), 1, 0, capacity);
  return r.reshape(first, {s[1] * capacity});
}

Value token_of_places(Recipe& r, Value places, int64_t tokens) {
  return r.op("Mod",
              {places, r.constant(DType::i64, static_cast<double>(std::max<int64_t>(tokens, 1)))});
}

void permute_by_map(Recipe& r) {
  const Shape map = rows_of(r, "routingMap");
  const bool padded = r.flag("dropAndPad");
  const int64_t rows = rows_of(r, "permuteTokensOut")[0];
  const int64_t stated = r.integer("numOutTokens");
  const int64_t per = padded ? map[1] : map[0];  // each expert, or each token, has as many rows
  if (per < 1 || stated / per * per != rows || rows > map[0] * map[1]) {
    refuse(
        "numOutTokens is {} and permuteTokensOut has {} rows; expected the multiple of {} below "
        "it, at most {}",
        stated, rows, per, map[0] * map[1]);
  }
  const Value places = places_of_rows(r, "routingMap", rows, padded);
  const Value token = token_of_places(r, places, map[0]);
  r.out("permuteTokensOut", r.op("GatherRows", {r.in("tokens"), token}));
  const Value sorted = padded ? token : sort_experts(r, token, 0, 0).held;
  r.out("sortedIndicesOut", r.reshape(sorted, r.shape("sortedIndicesOut")));
  if (!r.given("probsOptional") || !r.given("permuteProbsOutOptional")) return;
  const Value flat = r.reshape(r.transpose(r.in("probsOptional"), {1, 0}), {map[0] * map[1], 1});
  r.out("permuteProbsOutOptional",
        r.reshape(r.op("GatherRows", {flat, places}), r.shape("permuteProbsOutOptional")));
}

void permute_by_map_gradient(Recipe& r) {
  const bool padded = r.flag("dropAndPad");
  const int64_t tokens = r.integer("tokensNum"), experts = r.integer("numExperts");
  const Value grad = r.cast(r.in("permutedTokenOutputGrad"), DType::f32);
  const Value sorted = integers(r, "sortedIndices");
  const int64_t rows = r.extent(grad, 0), width = r.extent(grad, 1);
  if (padded) {
    const Value column = r.expand(r.reshape(sorted, {rows, 1}), {rows, width});
    r.out("tokensGradOut",
          r.op("ScatterElements", {r.filled(DType::f32, {tokens, width}, 0), column, grad},
               {{"axis", 0}, {"reduction", "add"}}));
  } else {
    const int64_t terms = std::max<int64_t>(tokens > 0 ? rows / tokens : 1, 1);
    r.out("tokensGradOut", r.op("SumRows", {grad, sorted}, {{"terms", terms}}));
  }
  if (!r.given("permutedProbsOutputGradOptional") || !r.given("probsGradOutOptional")) return;
  if (!r.given("routingMapOptional"))
    refuse("probsGradOutOptional is given without routingMapOptional");
  const Value places = places_of_rows(r, "routingMapOptional", rows, padded);
  const Value given =
      r.reshape(r.cast(r.in("permutedProbsOutputGradOptional"), DType::f32), {rows});
  const Value flat =
      r.op("ScatterElements", {r.filled(DType::f32, {experts * tokens}, 0), places, given},
           {{"axis", 0}});
  r.out("probsGradOutOptional", r.transpose(r.reshape(flat, {experts, tokens}), {1, 0}));
}

// Which element of the transposed map each row stands for; padded rows lie by expert, as many for
// each.
Value places_in_map(Recipe& r, int64_t rows, bool padded, Value token) {
  const Shape map = rows_of(r, "routingMapOptional");
  if (rows_of(r, "probsOptional") != map) {
    refuse("routingMapOptional is {} and probsOptional {}; expected the same", to_string(map),
           to_string(r.shape("probsOptional")));
  }
  if (!padded) return places_of_rows(r, "routingMapOptional", rows, false);
  const auto number = [&](int64_t v) { return r.constant(DType::i64, static_cast<double>(v)); };
  const Value row = r.op("Range", {number(0), number(rows), number(1)});
  const int64_t each = std::max<int64_t>(map[1] > 0 ? rows / map[1] : 1, 1);
  const Value expert = r.op("FloorDivide", {row, number(each)});
  return r.op("Add", {r.op("Mul", {expert, number(map[0])}), token});
}

// The share that each row's token has of the row's expert.
Value shares_in_map(Recipe& r, Value places) {
  const Value probs = r.cast(r.in("probsOptional"), DType::f32);
  const Value turned = r.transpose(probs, {1, 0});
  return r.op("GatherRows", {r.reshape(turned, {element_count(r.shape(probs)), 1}), places});
}

// Rows back to their tokens, each scaled by its token's share of the row's expert. What the
// gradient needs is kept: the place of each row in the sorted order, its token, its share.
void unpermute_by_map(Recipe& r) {
  const bool padded = r.flag("paddedMode");
  const Shape out = rows_of(r, "unpermutedTokens"), given = rows_of(r, "permutedTokens");
  const int64_t count = given[0], tokens = out[0];
  const Value sorted = integers(r, "sortedIndices");
  if (given[1] != out[1] || (padded && r.extent(sorted, 0) != count)) {
    refuse(
        "permutedTokens is {}, sortedIndices has {} entries and unpermutedTokens is {}; expected "
        "the same width, "
        "and with paddedMode an entry for each row",
        to_string(given), r.extent(sorted, 0), to_string(out));
  }
  if (r.given("probsOptional") &&
      (!r.given("routingMapOptional") || rows_of(r, "routingMapOptional")[0] != tokens)) {
    refuse("probsOptional is given without a routingMapOptional of {} tokens", tokens);
  }
  const int64_t terms = std::max<int64_t>(tokens > 0 ? r.extent(sorted, 0) / tokens : 1, 1);
  const Value from = padded ? sorted : r.op("InvertIndex", {sorted}, {{"count", count}});
  const Value token =
      padded ? sorted
             : r.op("FloorDivide", {from, r.constant(DType::i64, static_cast<double>(terms))});
  const auto keep = [&](const char* name, Value value) {
    if (r.given(name) && r.tensor(name).count() > 0) r.out(name, r.reshape(value, r.shape(name)));
  };
  Value rows = r.cast(r.in("permutedTokens"), DType::f32);
  if (r.given("probsOptional")) {
    const Value share = shares_in_map(r, places_in_map(r, count, padded, token));
    rows = r.op("Mul", {rows, share});
    keep("permuteProbs", share);
  }
  if (padded) {
    const Value column = r.expand(r.reshape(sorted, {count, 1}), {count, out[1]});
    r.out("unpermutedTokens", r.op("ScatterElements", {r.filled(DType::f32, out, 0), column, rows},
                                   {{"axis", 0}, {"reduction", "add"}}));
  } else {
    r.out("unpermutedTokens", r.op("SumRows", {rows, sorted}, {{"terms", terms}}));
  }
  keep("outIndex", from);
  keep("permuteTokenId", token);
}

void unpermute_by_map_gradient(Recipe& r) {
  const Shape out = rows_of(r, "permutedTokensGradOut");
  const Value token = integers(r, "permuteTokenId");
  if (r.extent(token, 0) != out[0]) {
    refuse("permuteTokenId has {} entries for {} rows; expected one each", r.extent(token, 0),
           out[0]);
  }
  const Value of_rows =
      r.op("GatherRows", {r.cast(r.in("unpermutedTokensGrad"), DType::f32), token});
  if (!r.given("probsOptional")) return r.out("permutedTokensGradOut", of_rows);
  const Value places = places_in_map(r, out[0], r.flag("paddedMode"), token);
  r.out("permutedTokensGradOut", r.op("Mul", {of_rows, shares_in_map(r, places)}));
  if (!r.given("probsGradOutOptional")) return;
  const Value products = r.op("Mul", {of_rows, r.cast(r.in("permutedTokensOptional"), DType::f32)});
  const Value sums = r.op("ReduceSum", {products, r.constant({1})}, {{"keepdims", 0}});
  const Shape map = rows_of(r, "routingMapOptional");
  const Value flat =
      r.op("ScatterElements", {r.filled(DType::f32, {map[0] * map[1]}, 0), places, sums},
           {{"axis", 0}, {"reduction", "add"}});
  r.out("probsGradOutOptional", r.transpose(r.reshape(flat, {map[1], map[0]}), {1, 0}));
}

const Row kRows[] = {
    {"aclnnMoeGatingTopKSoftmax", gate_softmax},
    {"aclnnMoeGatingTopKSoftmaxV2", gate_softmax},
    {"aclnnMoeGatingTopK", gate},
    {"aclnnMoeInitRouting", init_routing},
    {"aclnnMoeInitRoutingQuant", init_routing},
    {"aclnnMoeInitRoutingV2", init_routing_by_place},
    {"aclnnMoeInitRoutingQuantV2", init_routing_by_place},
    {"aclnnMoeInitRoutingV3", init_routing_by_place},
    {"aclnnMoeInitRoutingV2Grad", sum_back},
    {"aclnnMoeComputeExpertTokens", expert_tokens},
    {"aclnnMoeFinalizeRouting", finalize_routing},
    {"aclnnMoeFinalizeRoutingV2", finalize_routing},
    {"aclnnMoeFinalizeRoutingV2Grad", finalize_gradient},
    {"aclnnMoeTokenPermute", permute},
    {"aclnnMoeTokenPermuteGrad", permute_gradient},
    {"aclnnMoeTokenPermuteWithRoutingMap", permute_by_map},
    {"aclnnMoeTokenPermuteWithRoutingMapGrad", permute_by_map_gradient},
    {"aclnnMoeTokenUnpermute", unpermute},
    {"aclnnMoeTokenUnpermuteGrad", unpermute_gradient},
    {"aclnnMoeTokenUnpermuteWithRoutingMap", unpermute_by_map},
    {"aclnnMoeTokenUnpermuteWithRoutingMapGrad", unpermute_by_map_gradient},
};

}  // namespace

std::span<const Row> moe_rows() { return kRows; }

}  // namespace anynpu::aclnn
