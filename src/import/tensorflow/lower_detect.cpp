// SPDX-License-Identifier: Apache-2.0
// What detectors add: regions of pictures and the choice of boxes.
#include <algorithm>
#include <limits>

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
