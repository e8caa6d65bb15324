// SPDX-License-Identifier: Apache-2.0
// Rotary positions beyond the two forms of llm.cpp: angles out of a cache, pairs that are brought
// into halves first, gradients.
#include "aclnn/recipe.h"

namespace anynpu::aclnn {

namespace {

constexpr DType kType = DType::f32;

Value mul(Recipe& r, Value a, Value b) { return r.op("Mul", {a, b}); }
int64_t last_axis(Recipe& r, Value x) { return static_cast<int64_t>(r.shape(x).size()) - 1; }

struct Halves {
  Value first, second;
};

Halves halves(Recipe& r, Value x) {
  const int64_t axis = last_axis(r, x), extent = r.extent(x, axis);
  if (extent % 2 != 0) refuse("{} elements turn; expected an even number", extent);
  return {r.slice(x, axis, 0, extent / 2), r.slice(x, axis, extent / 2, extent)};
}

// Even and odd elements of the last axis.
Halves pairs(Recipe& r, Value x) {
  Shape shape = r.shape(x);
  if (shape.empty()) refuse("what turns has no axes; expected at least one");
  if (shape.back() % 2 != 0) refuse("{} elements turn; expected an even number", shape.back());
  const Shape half = [&] {
    Shape s = shape;
    s.back() /= 2;
    return s;
  }();
  shape.back() /= 2;
  shape.push_back(2);
  const Value cut = r.reshape(x, shape);
  const auto axis = static_cast<int64_t>(shape.size()) - 1;
  return {r.reshape(r.slice(cut, axis, 0, 1), half), r.reshape(r.slice(cut, axis, 1, 2), half)};
}

Value joined(Recipe& r, const Halves& h) {
  return r.op("Concat", {h.first, h.second}, {{"axis", last_axis(r, h.first)}});
}

// The elements of both in turn.
Value woven(Recipe& r, const Halves& h) {
  Shape one = r.shape(h.first), whole = one;
  one.push_back(1);
  whole.back() *= 2;
  const Value both = r.op("Concat", {r.reshape(h.first, one), r.reshape(h.second, one)},
                          {{"axis", static_cast<int64_t>(one.size()) - 1}});
  return r.reshape(both, whole);
}

// A quarter turn; `back` the other way, which is its gradient.
Value turned(Recipe& r, Value x, bool by_pairs, bool back) {
  const Halves h = by_pairs ? pairs(r, x) : halves(r, x);
  const Halves made =
      back ? Halves{h.second, r.op("Neg", {h.first})} : Halves{r.op("Neg", {h.second}), h.first};
  return by_pairs ? woven(r, made) : joined(r, made);
}

bool by_pairs(int64_t mode) {
  if (mode != 0 && mode != 1) refuse("mode is {}; expected 0 (halves) or 1 (pairs)", mode);
  return mode == 1;
}

void rotate_both(Recipe& r) {
  const std::string mode = r.text("rotaryMode");
  if (mode != "half" && mode != "interleave" && !mode.empty()) {
    refuse("rotaryMode is '{}'; expected half or interleave", mode);
  }
  for (const char* name : {"queryRef", "keyRef"}) {
    const Value x = r.cast(r.in(name), kType);
    const Value cos = r.cast(r.in("cos"), kType), sin = r.cast(r.in("sin"), kType);
    r.out(name,
          r.op("Add", {mul(r, x, cos), mul(r, turned(r, x, mode == "interleave", false), sin)}));
  }
}

// Pairs become halves, which turn.
void interleave(Recipe& r) {
  const Value x = joined(r, pairs(r, r.cast(r.in("x"), kType)));
  const Value cos = r.cast(r.in("cos"), kType), sin = r.cast(r.in("sin"), kType);
  r.out("out", r.op("Add", {mul(r, x, cos), mul(r, turned(r, x, false, false), sin)}));
}

// The sum over the axes along which `shape` is repeated.
Value summed_to(Recipe& r, Value x, const Shape& shape) {
  const Shape wide = r.shape(x);
  std::vector<int64_t> axes;
  for (size_t i = 0; i < wide.size(); ++i) {
    const size_t skip = wide.size() - shape.size();
    if (i < skip || shape[i - skip] != wide[i]) axes.push_back(static_cast<int64_t>(i));
  }
  if (!axes.empty()) x = r.op("ReduceSum", {x, r.constant(axes)}, {{"keepdims", 1}});
  return r.reshape(x, shape);
}

void gradient(Recipe& r) {
  const bool paired = by_pairs(r.integer("mode"));
  const Value dy = r.cast(r.in("dy"), kType);
  const Value cos = r.cast(r.in("cos"), kType), sin = r.cast(r.in("sin"), kType);
  r.out("dxOut", r.op("Add", {mul(r, dy, cos), turned(r, mul(r, dy, sin), paired, true)}));
  if (!r.given("xOptional")) return;
  const Value x = r.cast(r.in("xOptional"), kType);
  if (r.given("dcosOut")) r.out("dcosOut", summed_to(r, mul(r, dy, x), r.shape("dcosOut")));
  if (r.given("dsinOut"))
    r.out("dsinOut", summed_to(r, mul(r, dy, turned(r, x, paired, false)), r.shape("dsinOut")));
}

// Rows of the cache for every token: cosines and sines of half the elements that turn. With
// sections positions are of time, height and width, and each section of angles has its own.
Halves angles(Recipe& r, int64_t tokens) {
  const Value cache = r.cast(r.in("cosSinCache"), kType);
  const std::vector<int64_t> sections = r.ints("mropeSection");
  int64_t stated = 0;
  for (int64_t section : sections) stated += section;
  const Value positions = r.cast(r.in("positions"), DType::i64);
  // Of one row of positions sections mean nothing; torch_npu leaves the array unset then.
  if (r.rank("positions") == 1) stated = 0;
  const auto rows = [&](Value at) {
    return halves(r, r.op("Gather", {cache, r.reshape(at, {tokens})}, {{"axis", 0}}));
  };
  if (stated == 0) return rows(positions);
  const Shape s = r.shape(positions);
  if (s.size() != 2 || s[0] != static_cast<int64_t>(sections.size()) ||
      stated * 2 != r.shape(cache).back()) {
    refuse(
        "mropeSection is {} for positions of {} and a cache of {}; expected a row of positions for "
        "each, "
        "and half the width of the cache in all",
        sections, to_string(s), to_string(r.shape(cache)));
  }
  std::vector<Value> cos, sin;
  int64_t from = 0;
  for (size_t i = 0; i < sections.size(); ++i) {
    const auto row = static_cast<int64_t>(i);
    const Halves all = rows(r.slice(positions, 0, row, row + 1));
    cos.push_back(r.slice(all.first, 1, from, from + sections[i]));
    sin.push_back(r.slice(all.second, 1, from, from + sections[i]));
    from += sections[i];
  }
  return {r.op("Concat", cos, {{"axis", 1}}), r.op("Concat", sin, {{"axis", 1}})};
}

void rotate_by_cache(Recipe& r) {
  const int64_t size = r.integer("headSize");
  const bool neox = r.flag("isNeoxStyle");
  if (r.rank("queryIn") == 0 || r.rank("keyIn") == 0 || r.rank("cosSinCache") != 2) {
    refuse(
        "queryIn, keyIn and cosSinCache have {}, {} and {} axes; expected tokens first, and 2 of "
        "the cache",
        r.rank("queryIn"), r.rank("keyIn"), r.rank("cosSinCache"));
  }
  const int64_t tokens = r.shape("queryIn")[0];
  const Halves at = angles(r, tokens);
  const int64_t half = r.extent(at.first, 1), turning = 2 * half;
  const Value cos = r.reshape(at.first, {tokens, 1, half}),
              sin = r.reshape(at.second, {tokens, 1, half});
  for (const auto& [name, out] : {std::pair{"queryIn", "queryOut"}, {"keyIn", "keyOut"}}) {
    const Shape shape = r.shape(name);
    if (size < turning || tokens < 1 || size < 1 || element_count(shape) % (tokens * size) != 0) {
      refuse("{} is {} for heads of {} of which {} turn", name, to_string(shape), size, turning);
    }
    const Value x = r.reshape(r.cast(r.in(name), kType),
                              {tokens, element_count(shape) / (tokens * size), size});
    const Value part = r.slice(x, 2, 0, turning);
    const Halves h = neox ? halves(r, part) : pairs(r, part);
    const Halves made = {r.op("Sub", {mul(r, h.first, cos), mul(r, h.second, sin)}),
                         r.op("Add", {mul(r, h.second, cos), mul(r, h.first, sin)})};
    Value y = neox ? joined(r, made) : woven(r, made);
    if (turning < size) y = r.op("Concat", {y, r.slice(x, 2, turning, size)}, {{"axis", 2}});
    r.out(out, r.reshape(y, r.shape(out)));
  }
}

const Row kRows[] = {
    {"aclnnApplyRotaryPosEmbV2", rotate_both},
    {"aclnnInterleaveRope", interleave},
    {"aclnnRotaryPositionEmbeddingGrad", gradient},
    {"aclnnRopeWithSinCosCache", rotate_by_cache},
};

}  // namespace

std::span<const Row> rotary_rows() { return kRows; }

}  // namespace anynpu::aclnn
