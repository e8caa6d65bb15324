// SPDX-License-Identifier: Apache-2.0
// DrawBoundingBoxes: lines of one pixel on pictures.
#include "graph/tensor_value.h"
#include "import/tensorflow/lower.h"

namespace anynpu::tensorflow {

namespace {

// The colours that TensorFlow takes in turn when the model gives none.
const std::vector<float> kColours = {1, 1, 0,    1, 0,    0, 1,    1,    1, 0, 0,    1, 0, 1,
                                     0, 1, 0.5f, 0, 0.5f, 1, 0.5f, 0.5f, 0, 1, 0.5f, 0, 0, 1,
                                     0, 0, 0.5f, 1, 0,    1, 1,    1,    1, 0, 1,    1};

ValueId numbers_along(Builder& b, int64_t count, Ints shape) {
  Ints numbers;
  for (int64_t i = 0; i < count; ++i) numbers.push_back(i);
  return b.reshape(b.list(numbers), shape);
}

ValueId both(Builder& b, ValueId x, ValueId y) { return b.node("And", 7, {x, y}); }

// Along one axis of the picture, for each box: the elements on its two edges, and those between.
struct Span {
  ValueId edge = kNoValue, within = kNoValue, there = kNoValue;
};
Span span_of(Builder& b, ValueId boxes, int64_t first, int64_t extent, const Ints& shape) {
  const auto corner = [&](int64_t k) {
    const ValueId part = b.cast(b.slice(boxes, 2, k, k + 1), DType::f32);
    const ValueId scaled = mul(b, part, b.scalar(DType::f32, static_cast<double>(extent - 1)));
    return b.unsqueeze(b.cast(scaled, DType::i64), {3});
  };
  const ValueId low = corner(first), high = corner(first + 2);
  const ValueId places = numbers_along(b, extent, shape);
  const auto below = [&](ValueId x, ValueId y) { return b.node("LessOrEqual", 16, {x, y}); };
  Span span;
  span.edge =
      b.node("Or", 7, {b.node("Equal", 13, {places, low}), b.node("Equal", 13, {places, high})});
  span.within = both(b, below(low, places), below(places, high));
  span.there = both(b, below(low, high), below(b.whole(DType::i64, 0), high));
  return span;
}

}  // namespace

// Later boxes lie over earlier ones: each pixel has the colour of the last box whose line it is on.
void lower_draw_boxes(Builder& b) {
  const ValueId x = b.in(0), boxes = b.in(1);
  if (!b.has_rank(x, "the pictures", 4, 4) || !b.need_fixed(x, "the pictures") ||
      !b.has_rank(boxes, "the boxes", 3, 3) || !b.need_fixed(boxes, "the boxes"))
    return;
  const Shape s = b.shape(x);
  const int64_t count = b.shape(boxes)[1], depth = s[3];
  ValueId colours = b.constant(DType::f32, {static_cast<int64_t>(kColours.size()) / 4, 4},
                               graph::constant_of(kColours));
  const bool given = b.input_count() > 2 && element_count(b.shape(b.in(2))) != 0;
  if (given) colours = b.cast(b.in(2), DType::f32);
  if (count == 0) return b.out(0, x);
  if (depth < 1 || depth > 4 || (given && !b.need_fixed(colours, "the colours")) ||
      b.shape(colours)[1] < depth) {
    return b.refuse(Code::shape_mismatch,
                    "the pictures are {} and the colours {}; expected 1 to 4 channels and as many "
                    "numbers of each colour",
                    to_string(s), to_string(b.shape(colours)));
  }
  const Span rows = span_of(b, boxes, 0, s[1], {1, 1, s[1], 1});
  const Span columns = span_of(b, boxes, 1, s[2], {1, 1, 1, s[2]});
  const ValueId lines =
      b.node("Or", 7, {both(b, rows.edge, columns.within), both(b, rows.within, columns.edge)});
  const ValueId drawn = both(b, lines, both(b, rows.there, columns.there));
  // The number of the box, counted from 1.
  const ValueId number =
      mul(b, b.cast(drawn, DType::i64),
          add(b, numbers_along(b, count, {count, 1, 1}), b.whole(DType::i64, 1)));
  const ValueId last = b.node("ReduceMax", 18, {number, b.list({1})}, {{"keepdims", int64_t{0}}});
  const ValueId one = b.whole(DType::i64, 1);
  const ValueId box = b.node("Max", 13, {sub(b, last, one), b.whole(DType::i64, 0)});
  const ValueId colour = b.node("Mod", 13, {box, b.whole(DType::i64, b.shape(colours)[0])});
  ValueId paint =
      b.node("Gather", 13, {b.slice(colours, 1, 0, depth), colour}, {{"axis", int64_t{0}}});
  if (depth == 1) paint = b.scalar(DType::f32, 1);  // the line is white
  const ValueId here = b.unsqueeze(b.node("Greater", 13, {last, b.whole(DType::i64, 0)}), {3});
  b.out(0, b.node("Where", 16, {here, b.cast(paint, b.dtype(x)), x}));
}

}  // namespace anynpu::tensorflow
