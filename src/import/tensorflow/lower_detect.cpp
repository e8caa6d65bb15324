// SPDX-License-Identifier: Apache-2.0
// What detectors add: regions of pictures and the choice of boxes.
#include <algorithm>
#include <limits>

#include "graph/tensor_value.h"
#include "import/tensorflow/lower.h"

namespace anynpu::tensorflow {

void lower_crop_and_resize(Builder& b) {
  const ValueId x = b.cast(b.in_first(0), DType::f32);
  const ValueId boxes = b.cast(b.in(1), DType::f32), pictures = b.index(b.in(2));
  const Ints size = b.in_values(3);
  const std::string method = b.word("method", "bilinear", {"bilinear", "nearest"});
  if (b.ok() && size.size() != 2)
    return b.refuse(Code::invalid_argument, "crop_size is {}, expected height and width", size);
  if (!b.ok()) return;
  b.out_first(0, b.node("anynpu.CropAndResize", 1, {x, boxes, pictures},
                        {{"height", size[0]},
                         {"width", size[1]},
                         {"method", method},
                         {"outside", b.f("extrapolation_value", 0)}}));
}

// A window of each picture, whose place comes at run time: in pixels or, normalised, in parts of
// the picture, from its corner or its centre. In the first version it is the middle of the window
// always, in the second where both are set. Zeros outside the picture.
void lower_extract_glimpse(Builder& b) {
  const ValueId x = b.in(0);
  const Ints size = b.in_values(1);
  const bool second = b.type() == "ExtractGlimpseV2";
  const bool centered = b.flag("centered", true), normalized = b.flag("normalized", true);
  if (b.s("noise", "uniform") != "zero") {
    return b.refuse(Code::unsupported_feature,
                    "it draws random numbers outside the picture (noise is '{}'); expected 'zero'",
                    b.s("noise", "uniform"));
  }
  if (!b.has_rank(x, "the pictures", 4, 4) || !b.need_fixed(x, "the pictures")) return;
  constexpr int64_t kMost = 1 << 16;
  if (size.size() != 2 || size[0] < 1 || size[1] < 1 || size[0] > kMost || size[1] > kMost)
    return b.refuse(Code::invalid_argument, "size is {}, expected a height and a width", size);
  const Shape s = b.shape(x);
  const auto pair = [&](double height, double width) {
    const std::vector<float> both = {static_cast<float>(height), static_cast<float>(width)};
    return b.constant(DType::f32, {2}, graph::constant_of(both));
  };
  const auto height = static_cast<double>(s[1]), width = static_cast<double>(s[2]);
  ValueId at = b.in(2);
  if (normalized) at = mul(b, at, pair(height, width));
  if (centered && (normalized || !second)) at = mul(b, at, b.scalar(DType::f32, 0.5));
  if (centered) at = add(b, at, pair(height / 2, width / 2));
  if (!second || (centered && normalized))
    at = sub(b, at, pair(static_cast<double>(size[0]) / 2, static_cast<double>(size[1]) / 2));
  const ValueId start = b.cast(at, DType::i64);
  // The rows or columns of the window, and which of them lie inside.
  const auto along = [&](int64_t axis, ValueId& inside) {
    Ints numbers;
    for (int64_t i = 0; i < size[static_cast<size_t>(axis)]; ++i) numbers.push_back(i);
    const ValueId places = add(b, b.slice(start, 1, axis, axis + 1), b.list(numbers));
    const ValueId last = b.whole(DType::i64, s[static_cast<size_t>(axis + 1)] - 1);
    const ValueId held =
        b.node("Max", 13, {b.node("Min", 13, {places, last}), b.whole(DType::i64, 0)});
    inside = b.unsqueeze(b.node("Equal", 13, {held, places}), {axis == 0 ? 2 : 1, 3});
    return b.unsqueeze(held, {axis == 0 ? 2 : 1});
  };
  ValueId row_inside, column_inside;
  const ValueId rows = along(0, row_inside), columns = along(1, column_inside);
  const ValueId places = add(b, mul(b, rows, b.whole(DType::i64, s[2])), columns);
  const ValueId taken =
      b.node("GatherND", 13, {b.reshape(x, {s[0], s[1] * s[2], s[3]}), b.unsqueeze(places, {3})},
             {{"batch_dims", int64_t{1}}});
  const ValueId inside = b.node("And", 7, {row_inside, column_inside});
  if (b.ok()) b.out(0, b.node("Where", 16, {inside, taken, b.scalar(b.dtype(x), 0)}));
}

namespace {

// boxes [n, 4] and scores [n] in; the chosen indices as they are found, int32.
ValueId chosen_boxes(Builder& b, ValueId boxes, ValueId scores, ValueId most, ValueId iou,
                     ValueId least) {
  const ValueId found = b.node(
      "NonMaxSuppression", 11,
      {b.unsqueeze(b.cast(boxes, DType::f32), {0}), b.unsqueeze(b.cast(scores, DType::f32), {0, 1}),
       b.reshape(b.index(most), {1}), b.reshape(b.cast(iou, DType::f32), {1}),
       least == kNoValue ? kNoValue : b.reshape(b.cast(least, DType::f32), {1})});
  // Rows of picture, class, box.
  const ValueId column = b.slice(found, 1, 2, 3);
  return b.cast(b.reshape(column, {-1}), DType::i32);  // a row, however many there are
}

// How many boxes an NMS of a fixed size chooses at most.
int64_t known_count(Builder& b, size_t input) {
  const int64_t most = b.in_value(input);
  if (b.ok() && (most < 0 || most > (1 << 24)))
    b.refuse(Code::invalid_argument, "max_output_size is {}", most);
  return most;
}

}  // namespace

void lower_nms(Builder& b) {
  const bool by_attribute = b.type() == "NonMaxSuppression";
  const ValueId iou = by_attribute ? b.scalar(DType::f32, b.f("iou_threshold", 0.5f)) : b.in(3);
  const ValueId least = b.input_count() > 4 ? b.in(4) : kNoValue;
  b.out(0, chosen_boxes(b, b.in(0), b.in(1), b.in(2), iou, least));
}

// V4: indices and their number. V5: indices, scores and their number, scores may fall with overlap.
void lower_nms_fixed(Builder& b) {
  const bool soft = b.type() == "NonMaxSuppressionV5";
  const ValueId boxes = b.cast(b.in(0), DType::f32), scores = b.cast(b.in(1), DType::f32);
  const DType type = b.dtype(b.in(1));
  const int64_t most = known_count(b, 2);
  const auto iou = static_cast<float>(b.in_number(3));
  const auto least = static_cast<float>(b.in_number(4));
  const auto sigma = soft ? static_cast<float>(b.in_number(5)) : 0.0f;
  const bool padded = b.flag("pad_to_max_output_size", false);
  const auto made = b.nodes("anynpu.SoftNonMaxSuppression", 1, {boxes, scores}, 3,
                            {{"most", most}, {"iou", iou}, {"least", least}, {"sigma", sigma}});
  if (!b.ok()) return;
  const auto used = [&](ValueId list) {
    if (padded) return list;
    const ValueId end = b.reshape(b.cast(made[2], DType::i64), {1});
    return b.node("Slice", 13, {list, b.list({0}), end, b.list({0})});
  };
  b.out(0, used(made[0]));
  if (soft) b.out(1, b.cast(used(made[1]), type));
  b.out(soft ? 2 : 1, made[2]);
}

// How much boxes overlap is given, for each pair.
void lower_nms_overlaps(Builder& b) {
  const ValueId overlaps = b.cast(b.in(0), DType::f32), scores = b.cast(b.in(1), DType::f32);
  const int64_t most = known_count(b, 2);
  const auto made = b.nodes("anynpu.SoftNonMaxSuppression", 1, {overlaps, scores}, 3,
                            {{"most", most},
                             {"iou", static_cast<float>(b.in_number(3))},
                             {"least", static_cast<float>(b.in_number(4))},
                             {"overlaps", int64_t{1}}});
  if (!b.ok()) return;
  const ValueId end = b.reshape(b.cast(made[2], DType::i64), {1});
  b.out(0, b.node("Slice", 13, {made[0], b.list({0}), end, b.list({0})}));
}

// The best boxes of all classes of each picture, filled up to a fixed number.
void lower_combined_nms(Builder& b) {
  const ValueId boxes = b.cast(b.in(0), DType::f32), scores = b.cast(b.in(1), DType::f32);
  const int64_t per_class = known_count(b, 2), total = known_count(b, 3);
  const auto iou = static_cast<float>(b.in_number(4)), least = static_cast<float>(b.in_number(5));
  const auto made = b.nodes("anynpu.CombinedNonMaxSuppression", 1, {boxes, scores}, 4,
                            {{"most_per_class", per_class},
                             {"most", total},
                             {"iou", iou},
                             {"least", least},
                             {"pad_per_class", int64_t{b.flag("pad_per_class", false)}},
                             {"clip", int64_t{b.flag("clip_boxes", true)}}});
  for (size_t i = 0; i < made.size(); ++i) b.out(i, made[i]);
}

}  // namespace anynpu::tensorflow
