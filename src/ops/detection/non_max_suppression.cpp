// SPDX-License-Identifier: Apache-2.0
// NonMaxSuppression: boxes by descending score, each kept unless it overlaps too much with one kept
// before. The number of results depends on values: the model states it, and another number fails
// the run.
#include <algorithm>
#include <array>

#include "ops/detection/detection.h"
#include "ops/elements/wide.h"
#include "ops/registry.h"
#include "ops/runtime_params.h"

namespace anynpu::ops::detection {

namespace {

using BoxCorners = std::array<float, 4>;  // y1, x1, y2, x2 with the smaller first

BoxCorners box_at(const float* raw, bool centre) {
  if (centre) {  // x, y, width, height
    return {raw[1] - raw[3] / 2, raw[0] - raw[2] / 2, raw[1] + raw[3] / 2, raw[0] + raw[2] / 2};
  }
  return {std::min(raw[0], raw[2]), std::min(raw[1], raw[3]), std::max(raw[0], raw[2]),
          std::max(raw[1], raw[3])};
}

float overlap(const BoxCorners& a, const BoxCorners& b) {
  const float height = std::min(a[2], b[2]) - std::max(a[0], b[0]),
              width = std::min(a[3], b[3]) - std::max(a[1], b[1]);
  if (height <= 0 || width <= 0) return 0;
  const float both = height * width;
  const float whole = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both;
  return whole <= 0 ? 0 : both / whole;
}

std::vector<int64_t> select(const OpContext& context) {
  const Shape &boxes = context.inputs[0].shape, &scores = context.inputs[1].shape;
  const auto* box = reinterpret_cast<const float*>(context.inputs[0].constant.data());
  const auto* score = reinterpret_cast<const float*>(context.inputs[1].constant.data());
  // 0 where it is left out. A count is an int64 from end to end: detectors write 2^63-1 for "all".
  const auto scalar = [&]<typename W>(size_t i, W) {
    const Operand& input = context.inputs[i];
    return input.present && element_count(input.shape) >= 1
               ? load_one<W>(input.dtype, input.constant.data())
               : W{0};
  };
  const auto most = scalar(2, int64_t{});
  const auto iou = static_cast<float>(scalar(3, double{}));
  const bool bounded = context.has_input(4);
  const auto least = static_cast<float>(scalar(4, double{}));
  const bool centre = context.int_attr("center_point_box") != 0;
  std::vector<int64_t> found;
  for (int64_t b = 0; b < scores[0]; ++b) {
    for (int64_t c = 0; c < scores[1]; ++c) {
      const float* row = score + (b * scores[1] + c) * scores[2];
      std::vector<int64_t> order;
      for (int64_t i = 0; i < scores[2]; ++i) {
        if (bounded ? row[i] > least : row[i] == row[i]) order.push_back(i);  // NaN is no score
      }
      std::stable_sort(order.begin(), order.end(),
                       [&](int64_t p, int64_t q) { return row[p] > row[q]; });
      std::vector<BoxCorners> kept;
      for (int64_t i : order) {
        if (static_cast<int64_t>(kept.size()) >= most) break;
        const BoxCorners next = box_at(box + (b * boxes[1] + i) * 4, centre);
        if (std::any_of(kept.begin(), kept.end(),
                        [&](const BoxCorners& k) { return overlap(k, next) > iou; }))
          continue;
        kept.push_back(next);
        found.insert(found.end(), {b, c, i});
      }
    }
  }
  return found;
}

Status nms_rule(OpContext& context) {
  const Operand &boxes = context.inputs[0], &scores = context.inputs[1];
  context.outputs[0].dtype = DType::i64;
  if (!boxes.fully_known() || !scores.fully_known()) return {};
  if (boxes.rank() != 3 || scores.rank() != 3 || boxes.shape[2] != 4 ||
      boxes.shape[0] != scores.shape[0] || boxes.shape[1] != scores.shape[2]) {
    return fail(Code::shape_mismatch, "{}: boxes {} with scores {}, expected N, B, 4 and N, C, B",
                context.label(), to_string(boxes.shape), to_string(scores.shape));
  }
  if (!parameters_known(context, 0b11111)) return {};
  return set_output(context, 0, DType::i64, {static_cast<int64_t>(select(context).size()) / 3, 3});
}

PlanResult plan_nms(const OpContext& context) {
  return make_plan([found = select(context)](const RunArgs& args) {
    std::copy(found.begin(), found.end(), output_of<int64_t>(args, 0));
  });
}

}  // namespace

void register_non_max_suppression(Registry& registry) {
  registry.add(OpSchema{.name = "NonMaxSuppression",
                        .since = 10,
                        .inputs = {{"boxes", "T"},
                                   {"scores", "T"},
                                   {"max_output_boxes_per_class", "I", Presence::optional},
                                   {"iou_threshold", "T", Presence::optional},
                                   {"score_threshold", "T", Presence::optional}},
                        .outputs = {{"selected_indices", "I"}},
                        .types = {{"T", {DType::f32}}, {"I", {DType::i64}}},
                        .attrs = {{"center_point_box", AttrKind::i, int64_t{0}}},
                        .traits = OpTraits::general().with(SizedBy::data),
                        .shape = nms_rule});
  registry.add(KernelDef{.op = "NonMaxSuppression",
                         .name = "reference",
                         .types = {DType::f32},
                         .create = create_with_runtime_params<plan_nms, 0b11111>});
}

}  // namespace anynpu::ops::detection
