// SPDX-License-Identifier: Apache-2.0
// Random numbers. They are drawn from a counter and the seeds of the node (ops/random), so that a
// model always gives the same bytes; they are not those that TensorFlow draws.
#include <algorithm>

#include "import/tensorflow/lower.h"
#include "import/tensorflow/table.h"

namespace anynpu::tensorflow {

namespace {

// Both seeds in one; without them the name of the node decides.
NodeAttrs seeded(Builder& b, NodeAttrs attrs = {}) {
  const int64_t seed = b.i("seed", 0), second = b.i("seed2", 0);
  if (seed != 0 || second != 0) attrs["seed"] = static_cast<float>(seed * 31 + second);
  return attrs;
}

ValueId uniform(Builder& b, DType type, ValueId shape, float low = 0, float high = 1) {
  return b.node("RandomUniformLike", 1, {zeros_of(b, type, shape)},
                seeded(b, {{"low", low}, {"high", high}}));
}

}  // namespace

void lower_random_uniform(Builder& b) {
  b.out(0, uniform(b, b.type("dtype", DType::f32), b.in_row(0)));
}

void lower_random_normal(Builder& b) {
  const DType type = b.type("dtype", DType::f32);
  b.out(0, b.node("RandomNormalLike", 1, {zeros_of(b, type, b.in_row(0))}, seeded(b)));
}

// Of a normal distribution, not further than two deviations from its middle.
void lower_truncated_normal(Builder& b) {
  constexpr float kBelow = 0.022750132f;  // the share of what lies under -2
  const DType type = b.type("dtype", DType::f32);
  const ValueId share = uniform(b, DType::f64, b.in_row(0), kBelow, 1 - kBelow);
  b.out(0, b.cast(b.node("anynpu.Ndtri", 1, {share}), type));
}

// From the lowest up to, not including, the highest.
void lower_random_uniform_int(Builder& b) {
  const ValueId low = b.in(1), high = b.in(2);
  if (!b.ok()) return;
  const DType type = b.dtype(low);
  const ValueId from = b.cast(low, DType::f64);
  const ValueId span = sub(b, b.cast(high, DType::f64), from);
  const ValueId share = uniform(b, DType::f64, b.in_row(0));
  b.out(0, b.cast(b.node("Floor", 13, {add(b, from, mul(b, share, span))}), type));
}

// The order of random keys.
void lower_random_shuffle(Builder& b) {
  const ValueId x = b.in(0);
  if (!b.has_rank(x, "the tensor", 0)) return;
  if (b.rank(x) == 0) return b.out(0, x);
  const ValueId count = b.slice(b.shape_of(x), 0, 0, 1);
  const ValueId keys = uniform(b, DType::f64, count);
  const ValueId order = b.nodes("TopK", 11, {keys, count}, 2, {})[1];
  b.out(0, b.node("Gather", 13, {x, order}, {{"axis", int64_t{0}}}));
}

void lower_multinomial(Builder& b) {
  const ValueId x = b.in(0);
  const int64_t count = b.in_value(1);
  const DType type = b.type("output_dtype", DType::i64);
  if (!b.ok()) return;
  if (count < 1 || count > (1 << 24))
    return b.refuse(Code::invalid_argument, "num_samples is {}, expected 1 to {}", count, 1 << 24);
  const ValueId y =
      b.node("Multinomial", 7, {b.cast(x, DType::f32)}, seeded(b, {{"sample_size", count}}));
  b.out(0, b.cast(y, type));
}

// A part of a picture, as it is cut out to train with: the first of `max_attempts` random ones
// whose area and shape are allowed and which shows enough of a box; otherwise the whole picture.
void lower_distorted_box(Builder& b) {
  const ValueId size = b.cast(b.in_row(0), DType::f32), boxes = b.cast(b.in(1), DType::f32);
  const bool second = b.type().ends_with("V2");
  const ValueId least =
      second ? b.cast(b.in(2), DType::f32) : b.scalar(DType::f32, b.f("min_object_covered", 0.1f));
  std::vector<float> ratio = b.floats("aspect_ratio_range"), area = b.floats("area_range");
  if (ratio.empty()) ratio = {0.75f, 1.33f};
  if (area.empty()) area = {0.05f, 1.0f};
  const int64_t tries = std::clamp<int64_t>(b.i("max_attempts", 100), 1, 1000);
  const bool whole = b.flag("use_image_if_no_bounding_boxes", false);
  const DType type = b.dtype(b.in(0));
  if (!b.need_fixed(boxes, "the boxes")) return;
  const int64_t count = element_count(b.shape(boxes)) / 4;
  if (ratio.size() != 2 || area.size() != 2 || (count == 0 && !whole)) {
    return b.refuse(
        Code::invalid_argument,
        "{} numbers of aspect_ratio_range, {} of area_range and {} boxes; expected 2, 2 "
        "and a box, or use_image_if_no_bounding_boxes",
        ratio.size(), area.size(), count);
  }
  const auto number = [&](double value) { return b.scalar(DType::f32, value); };
  const ValueId random = uniform(b, DType::f32, b.list({tries, 4}));
  const auto drawn = [&](int64_t column, double low, double high) {
    const ValueId part = b.reshape(b.slice(random, 1, column, column + 1), {tries});
    return add(b, mul(b, part, number(high - low)), number(low));
  };
  const ValueId height = b.slice(size, 0, 0, 1), width = b.slice(size, 0, 1, 2);
  // Rows and columns: their product is the area, their quotient the ratio.
  const ValueId aspect = drawn(0, ratio[0], ratio[1]);
  const ValueId pixels = mul(b, drawn(1, area[0], area[1]), mul(b, height, width));
  const ValueId rows = b.node("Floor", 13, {b.node("Sqrt", 13, {div(b, pixels, aspect)})});
  const ValueId columns = b.node("Floor", 13, {mul(b, rows, aspect)});
  const auto start = [&](int64_t column, ValueId extent, ValueId used) {
    const ValueId room = b.node("Max", 13, {sub(b, extent, used), number(0)});
    return b.node("Floor", 13, {mul(b, drawn(column, 0, 1), add(b, room, number(1)))});
  };
  const ValueId top = start(2, height, rows), left = start(3, width, columns);
  const auto both = [&](ValueId x, ValueId y) { return b.node("And", 7, {x, y}); };
  const auto below = [&](ValueId x, ValueId y) { return b.node("LessOrEqual", 16, {x, y}); };
  ValueId fits = both(both(below(rows, height), below(columns, width)),
                      both(below(number(1), rows), below(number(1), columns)));
  if (count > 0) {
    const ValueId list = b.reshape(boxes, {count, 4});
    const auto edge = [&](int64_t k, ValueId extent) {
      return mul(b, b.reshape(b.slice(list, 1, k, k + 1), {1, count}), extent);
    };
    // How many rows or columns of each box (the last axis) each try (the first) shows.
    const auto shared = [&](int64_t k, ValueId extent, ValueId from, ValueId used) {
      const ValueId begin = b.node("Max", 13, {edge(k, extent), b.reshape(from, {tries, 1})});
      const ValueId end =
          b.node("Min", 13, {edge(k + 2, extent), b.reshape(add(b, from, used), {tries, 1})});
      return b.node("Max", 13, {sub(b, end, begin), number(0)});
    };
    const ValueId shown = mul(b, shared(0, height, top, rows), shared(1, width, left, columns));
    const ValueId own =
        mul(b, sub(b, edge(2, height), edge(0, height)), sub(b, edge(3, width), edge(1, width)));
    const ValueId enough =
        both(below(mul(b, own, least), shown), b.node("Greater", 13, {own, number(0)}));
    const ValueId any = b.node("ReduceMax", 18, {b.cast(enough, DType::i32), b.list({1})},
                               {{"keepdims", int64_t{0}}});
    fits = both(fits, b.cast(any, DType::boolean));
  }
  const ValueId good = b.cast(fits, DType::i32);
  const ValueId first =
      b.node("ArgMax", 13, {good}, {{"axis", int64_t{0}}, {"keepdims", int64_t{1}}});
  const ValueId found =
      b.cast(b.node("ReduceMax", 18, {good}, {{"keepdims", int64_t{1}}}), DType::boolean);
  const auto chosen = [&](ValueId tried, ValueId otherwise) {
    const ValueId one = b.node("Gather", 13, {tried, first}, {{"axis", int64_t{0}}});
    return b.node("Where", 16, {found, one, otherwise});
  };
  const ValueId y = chosen(top, number(0)), x = chosen(left, number(0));
  const ValueId h = chosen(rows, height), w = chosen(columns, width);
  const auto listed = [&](std::vector<ValueId> parts) {
    return b.node("Concat", 13, std::move(parts), {{"axis", int64_t{0}}});
  };
  b.out(0, b.cast(listed({y, x, b.filled(DType::f32, {1}, 0)}), type));
  b.out(1, b.cast(listed({h, w, b.filled(DType::f32, {1}, -1)}), type));
  const ValueId corners = listed({div(b, y, height), div(b, x, width), div(b, add(b, y, h), height),
                                  div(b, add(b, x, w), width)});
  b.out(2, b.reshape(corners, {1, 1, 4}));
}

}  // namespace anynpu::tensorflow
