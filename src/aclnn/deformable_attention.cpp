// SPDX-License-Identifier: Apache-2.0
// Attention that reads a few points of maps of several sizes, by bilinear sampling (Deformable
// DETR), and its gradient; the gradient of the distance between two clouds of points.
#include <algorithm>

#include "aclnn/recipe.h"

namespace anynpu::aclnn {

namespace {

constexpr DType kSampled = DType::f32;

Value times(Recipe& r, Value a, Value b) { return r.op("Mul", {a, b}); }
Value plus(Recipe& r, Value a, Value b) { return r.op("Add", {a, b}); }
Value minus(Recipe& r, Value a, Value b) { return r.op("Sub", {a, b}); }

// value: samples, keys, heads, channels; location: samples, queries, heads, levels, points, 2;
// attnWeight the same without the 2. Everything below has one row for each of `count` points.
struct Sampling {
  int64_t samples, keys, heads, channels, queries, levels, points, count;
  Value x, y;           // the place within its pixel, from the upper left corner
  Value width, height;  // of the map of each point
  struct Corner {
    Value row;           // of value as samples * keys * heads rows; -1 outside
    Value share;         // of the result
    double down, right;  // 1: the lower, the right neighbour
  } corners[4];
};

Sampling sampling_of(Recipe& r) {
  const Shape v = r.shape("value"), l = r.shape("location");
  if (v.size() != 4 || l.size() != 6 || l[0] != v[0] || l[2] != v[2] || l[5] != 2) {
    refuse(
        "value is {} and location {}; expected samples x keys x heads x channels, and samples x "
        "queries x "
        "heads x levels x points x 2",
        to_string(v), to_string(l));
  }
  Sampling s{};
  s.samples = v[0], s.keys = v[1], s.heads = v[2], s.channels = v[3];
  s.queries = l[1], s.levels = l[3], s.points = l[4];
  s.count = s.samples * s.queries * s.heads * s.levels * s.points;
  const Shape shape = {s.samples, s.queries, s.heads, s.levels, s.points};
  const Value sizes = r.reshape(r.in("spatialShape"), {s.levels, 2});
  const auto of_levels = [&](Value value, DType type) {
    return r.reshape(r.cast(value, type), {1, 1, 1, s.levels, 1});
  };
  s.height = of_levels(r.slice(sizes, 1, 0, 1), kSampled);
  s.width = of_levels(r.slice(sizes, 1, 1, 2), kSampled);
  const Value start = of_levels(r.in("levelStartIndex"), DType::i64);
  const Value place = r.cast(r.in("location"), kSampled);
  const Value half = r.constant(kSampled, 0.5);
  const auto pixel = [&](int64_t at, Value size) {
    return minus(r, times(r, r.reshape(r.slice(place, 5, at, at + 1), shape), size), half);
  };
  const Value px = pixel(0, s.width), py = pixel(1, s.height);
  const Value left = r.op("Floor", {px}), top = r.op("Floor", {py});
  s.x = minus(r, px, left);
  s.y = minus(r, py, top);
  const Value one = r.constant(kSampled, 1), zero = r.constant(kSampled, 0);
  // The first row of each sample and head.
  Ints first;
  for (int64_t b = 0; b < s.samples; ++b) {
    for (int64_t h = 0; h < s.heads; ++h) first.push_back(b * s.keys * s.heads + h);
  }
  const Value base = r.reshape(r.constant(first), {s.samples, 1, s.heads, 1, 1});
  int at = 0;
  for (const double down : {0.0, 1.0}) {
    for (const double right : {0.0, 1.0}) {
      const Value cx = plus(r, left, r.constant(kSampled, right)),
                  cy = plus(r, top, r.constant(kSampled, down));
      const auto within = [&](Value c, Value size) {
        return r.op("And", {r.op("GreaterOrEqual", {c, zero}), r.op("Less", {c, size})});
      };
      const Value in = r.op("And", {within(cx, s.width), within(cy, s.height)});
      const Value flat =
          r.cast(r.op("Where", {in, plus(r, times(r, cy, s.width), cx), zero}), DType::i64);
      const Value key =
          times(r, plus(r, flat, start), r.constant(DType::i64, static_cast<double>(s.heads)));
      Sampling::Corner& c = s.corners[at++];
      c.down = down, c.right = right;
      c.row = r.op("Where", {in, plus(r, key, base), r.constant(DType::i64, -1)});
      c.row = r.reshape(c.row, {s.count});
      c.share =
          times(r, right == 1 ? s.x : minus(r, one, s.x), down == 1 ? s.y : minus(r, one, s.y));
    }
  }
  return s;
}

// What each point reads, corner by corner: count rows of channels.
Value corner_rows(Recipe& r, const Sampling& s, Value value, size_t corner) {
  return r.op("GatherRows", {value, s.corners[corner].row});
}

Value rows_of_value(Recipe& r, const Sampling& s) {
  return r.reshape(r.cast(r.in("value"), kSampled), {s.samples * s.keys * s.heads, s.channels});
}

Value beside(Recipe& r, const Sampling& s, Value x) { return r.reshape(x, {s.count, 1}); }

void deformable_attention(Recipe& r) {
  const Sampling s = sampling_of(r);
  const Value value = rows_of_value(r, s),
              weight = beside(r, s, r.cast(r.in("attnWeight"), kSampled));
  Value sum;
  for (size_t i = 0; i < 4; ++i) {
    const Value part = times(r, corner_rows(r, s, value, i), beside(r, s, s.corners[i].share));
    sum = sum ? plus(r, sum, part) : part;
  }
  sum = r.reshape(times(r, sum, weight),
                  {s.samples, s.queries, s.heads, s.levels * s.points, s.channels});
  const Value y = r.op("ReduceSum", {sum, r.constant({3})}, {{"keepdims", 0}});
  r.out("output", r.reshape(y, r.shape("output")));
}

void deformable_attention_gradient(Recipe& r) {
  const Sampling s = sampling_of(r);
  const Value value = rows_of_value(r, s),
              weight = beside(r, s, r.cast(r.in("attnWeight"), kSampled));
  Value dy = r.reshape(r.cast(r.in("gradOutput"), kSampled),
                       {s.samples, s.queries, s.heads, 1, s.channels});
  dy = r.expand(dy, {s.samples, s.queries, s.heads, s.levels * s.points, s.channels});
  dy = r.reshape(dy, {s.count, s.channels});
  const Value one = r.constant(kSampled, 1);
  const auto along_channels = [&](Value x) {
    return r.op("ReduceSum", {x, r.constant({1})}, {{"keepdims", 1}});
  };
  const Value x = beside(r, s, s.x), y = beside(r, s, s.y);
  Value of_value = r.filled(kSampled, r.shape(value), 0), of_weight, of_x, of_y;
  const auto add_to = [&](Value& sum, Value part) { sum = sum ? plus(r, sum, part) : part; };
  for (size_t i = 0; i < 4; ++i) {
    const Sampling::Corner& c = s.corners[i];
    const Value share = beside(r, s, c.share);
    const Value dot =
        along_channels(times(r, corner_rows(r, s, value, i), dy));  // of this corner with dy
    add_to(of_weight, times(r, dot, share));
    const Value across = c.down == 1 ? y : minus(r, one, y),
                downwards = c.right == 1 ? x : minus(r, one, x);
    const Value sign_x = r.constant(kSampled, c.right == 1 ? 1 : -1),
                sign_y = r.constant(kSampled, c.down == 1 ? 1 : -1);
    add_to(of_x, times(r, times(r, dot, across), sign_x));
    add_to(of_y, times(r, times(r, dot, downwards), sign_y));
    // Points outside add zeros to row 0.
    const Value outside = r.op("Less", {c.row, r.constant(DType::i64, 0)});
    const Value row = r.op("Where", {outside, r.constant(DType::i64, 0), c.row});
    Value given = times(r, times(r, dy, weight), share);
    given = r.op("Where", {beside(r, s, outside), r.constant(kSampled, 0), given});
    of_value = r.op("ScatterND", {of_value, beside(r, s, row), given}, {{"reduction", "add"}});
  }
  r.out("gradValue", r.reshape(of_value, r.shape("gradValue")));
  r.out("gradAttnWeight", r.reshape(of_weight, r.shape("gradAttnWeight")));
  const Shape shape = {s.samples, s.queries, s.heads, s.levels, s.points, 1};
  const auto located = [&](Value d, Value size) {
    const Value scaled = times(r, d, weight);
    return times(r, r.reshape(scaled, shape), r.reshape(size, {1, 1, 1, s.levels, 1, 1}));
  };
  r.out("gradLocation",
        r.op("Concat", {located(of_x, s.width), located(of_y, s.height)}, {{"axis", 5}}));
}

// --- sum of the squared distances from each point to the nearest one of the other cloud, backwards

void chamfer_gradient(Recipe& r) {
  const Shape a = r.shape("xyz1"), b = r.shape("xyz2");
  if (a.size() != 3 || b.size() != 3 || a[0] != b[0] || a[2] != b[2]) {
    refuse("xyz1 is {} and xyz2 {}; expected samples x points x coordinates", to_string(a),
           to_string(b));
  }
  const auto points = [&](const char* name) {
    const Shape s = r.shape(name);
    return r.reshape(r.cast(r.in(name), kSampled), {s[0] * s[1], s[2]});
  };
  // The nearest ones as rows of all samples.
  const auto nearest = [&](const char* name, int64_t own, int64_t others) {
    Ints first;
    for (int64_t i = 0; i < a[0]; ++i) first.push_back(i * others);
    const Value index = r.reshape(r.cast(r.in(name), DType::i64), {a[0], own});
    return r.reshape(plus(r, index, r.reshape(r.constant(first), {a[0], 1})), {a[0] * own});
  };
  const Value x1 = points("xyz1"), x2 = points("xyz2");
  const auto pull = [&](Value from, Value to, Value row, const char* gradient) {
    const Value d = r.reshape(r.cast(r.in(gradient), kSampled), {r.extent(from, 0), 1});
    const Value way = minus(r, from, r.op("Gather", {to, row}, {{"axis", 0}}));
    return times(r, times(r, d, r.constant(kSampled, 2)), way);
  };
  const Value row1 = nearest("idx1", a[1], b[1]), row2 = nearest("idx2", b[1], a[1]);
  const Value pull1 = pull(x1, x2, row1, "gradDist1"), pull2 = pull(x2, x1, row2, "gradDist2");
  const auto with_others = [&](Value own, Value pulled, Value row) {
    const Value index = r.reshape(row, {r.extent(pulled, 0), 1});
    return r.op("ScatterND", {own, index, r.op("Neg", {pulled})}, {{"reduction", "add"}});
  };
  r.out("gradXyz1", r.reshape(with_others(pull1, pull2, row2), r.shape("gradXyz1")));
  r.out("gradXyz2", r.reshape(with_others(pull2, pull1, row1), r.shape("gradXyz2")));
}

const Row kRows[] = {
    {"aclnnMultiScaleDeformableAttnFunction", deformable_attention},
    {"aclnnMultiScaleDeformableAttentionGrad", deformable_attention_gradient},
    {"aclnnChamferDistanceBackward", chamfer_gradient},
};

}  // namespace

std::span<const Row> deformable_attention_rows() { return kRows; }

}  // namespace anynpu::aclnn
