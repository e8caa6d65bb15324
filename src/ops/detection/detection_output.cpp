// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "ops/detection/detection.h"
#include "ops/families.h"
#include "ops/registry.h"

namespace anynpu::ops::detection {

namespace {

constexpr int64_t kMostRows = 1 << 20;

struct Head {
  int64_t batch = 0, priors = 0, classes = 0, background = 0;
  int64_t top_k = -1, keep_top_k = 0;
  bool share_location = true, variance_in_target = false;
  std::string code;
  float confidence = 0, overlap = 0.3f, eta = 1;

  int64_t location_classes() const { return share_location ? 1 : classes; }
  int64_t found_classes() const {
    return background >= 0 && background < classes ? classes - 1 : classes;
  }
  int64_t candidates() const { return top_k < 0 ? priors : std::min(top_k, priors); }
};

Result<Head> head_of(const OpContext& context) {
  Head h;
  h.classes = context.int_attr("num_classes");
  h.background = context.int_attr("background_label_id");
  h.top_k = context.int_attr("top_k");
  h.keep_top_k = context.int_attr("keep_top_k");
  h.share_location = context.int_attr("share_location") != 0;
  h.variance_in_target = context.int_attr("variance_encoded_in_target") != 0;
  h.code = context.string_attr("code_type");
  h.confidence = context.float_attr("confidence_threshold");
  h.overlap = context.float_attr("nms_threshold");
  h.eta = context.float_attr("eta");
  const Shape &loc = context.inputs[0].shape, &conf = context.inputs[1].shape,
              &priors = context.inputs[2].shape;
  if (h.classes < 1 || h.classes > 1 << 16 || h.keep_top_k < -1 || h.keep_top_k == 0 ||
      h.keep_top_k > kMostRows ||
      (h.code != "CORNER" && h.code != "CENTER_SIZE" && h.code != "CORNER_SIZE")) {
    return fail(
        Code::invalid_argument,
        "{}: {} classes, keep_top_k {}, code_type {}; expected keep_top_k from 1 to {} or -1 "
        "(all), and CORNER, CENTER_SIZE or CORNER_SIZE",
        context.label(), h.classes, h.keep_top_k, h.code, kMostRows);
  }
  const bool ranks = loc.size() >= 2 && conf.size() >= 2 && priors.size() == 3 && priors[1] == 2 &&
                     is_static(loc) && is_static(conf) && is_static(priors);
  h.batch = ranks ? loc[0] : 0;
  h.priors = ranks ? priors[2] / 4 : 0;
  const int64_t images = std::max<int64_t>(h.batch, 1);
  if (!ranks || h.batch < 1 || h.priors < 1 || conf[0] != h.batch || h.priors > kMostRows * 4 ||
      element_count(loc) / images != h.priors * 4 * h.location_classes() ||
      element_count(conf) / images != h.priors * h.classes) {
    return fail(Code::shape_mismatch,
                "{}: locations are {}, confidences {}, priors {}; expected 4 numbers per box and "
                "{} confidences",
                context.label(), to_string(loc), to_string(conf), to_string(priors), h.classes);
  }
  if (h.keep_top_k < 0) h.keep_top_k = h.found_classes() * h.candidates();
  if (h.keep_top_k < 1 || h.keep_top_k > kMostRows || h.batch > kMostRows / h.keep_top_k) {
    return fail(Code::unsupported_shape,
                "{}: {} images of {} rows each; expected 1 to {} rows in all: set keep_top_k, or "
                "top_k of nms_param",
                context.label(), h.batch, h.keep_top_k, kMostRows);
  }
  return h;
}

Status detection_rule(OpContext& context) {
  context.outputs[0].dtype = context.inputs[0].dtype;
  for (size_t i = 0; i < 3; ++i) {
    if (!context.inputs[i].has_shape) return {};
  }
  ANYNPU_ASSIGN(const Head h, head_of(context));
  context.outputs[0].shape = {1, 1, h.batch * h.keep_top_k, 7};
  context.outputs[0].has_shape = true;
  return {};
}

struct Box {
  float x1, y1, x2, y2;
};

Box decode(const Head& h, const float* prior, const float* variance, const float* code) {
  constexpr float ones[4] = {1, 1, 1, 1};
  const float* v = h.variance_in_target ? ones : variance;
  const float width = prior[2] - prior[0], height = prior[3] - prior[1];
  if (h.code == "CORNER") {
    return {prior[0] + v[0] * code[0], prior[1] + v[1] * code[1], prior[2] + v[2] * code[2],
            prior[3] + v[3] * code[3]};
  }
  if (h.code == "CORNER_SIZE") {
    return {prior[0] + v[0] * code[0] * width, prior[1] + v[1] * code[1] * height,
            prior[2] + v[2] * code[2] * width, prior[3] + v[3] * code[3] * height};
  }
  const float x = v[0] * code[0] * width + (prior[0] + prior[2]) / 2;
  const float y = v[1] * code[1] * height + (prior[1] + prior[3]) / 2;
  const float w = std::exp(v[2] * code[2]) * width, t = std::exp(v[3] * code[3]) * height;
  return {x - w / 2, y - t / 2, x + w / 2, y + t / 2};
}

float area(const Box& box) {
  return box.x2 < box.x1 || box.y2 < box.y1 ? 0.0f : (box.x2 - box.x1) * (box.y2 - box.y1);
}

float overlap_of(const Box& a, const Box& b) {
  const float width = std::min(a.x2, b.x2) - std::max(a.x1, b.x1);
  const float height = std::min(a.y2, b.y2) - std::max(a.y1, b.y1);
  if (width <= 0 || height <= 0) return 0;
  return width * height / (area(a) + area(b) - width * height);
}

struct Found {
  float score;
  int32_t label;
  int32_t prior;
};

// A total order, so that the result does not depend on the sort.
bool before(const Found& a, const Found& b) {
  if (a.score != b.score) return a.score > b.score;
  return a.label != b.label ? a.label < b.label : a.prior < b.prior;
}

// What one run needs, carved from the workspace.
struct Scratch {
  Box* boxes;    // location_classes x priors
  Found* order;  // priors
  Found* kept;   // classes x candidates
};

// The boxes of one class that survive, appended to `kept`.
int64_t suppress(const Head& h, int32_t label, const float* scores, const Box* boxes, Found* order,
                 Found* kept) {
  int64_t count = 0;
  for (int64_t p = 0; p < h.priors; ++p) {
    const float score = scores[p * h.classes + label];
    if (score > h.confidence) order[count++] = {score, label, static_cast<int32_t>(p)};
  }
  std::sort(order, order + count, before);
  count = std::min(count, h.candidates());
  int64_t survivors = 0;
  float limit = h.overlap;
  for (int64_t i = 0; i < count; ++i) {
    bool keep = true;
    for (int64_t k = 0; keep && k < survivors; ++k) {
      keep = overlap_of(boxes[order[i].prior], boxes[kept[k].prior]) <= limit;
    }
    if (!keep) continue;
    kept[survivors++] = order[i];
    if (h.eta < 1 && limit > 0.5f) limit *= h.eta;
  }
  return survivors;
}

float* write_image(const Head& h, int64_t image, const RunArgs& args, const Scratch& scratch,
                   float* row) {
  const float* priors = input_of<float>(args, 2);
  const float* variances = priors + 4 * h.priors;
  const int64_t groups = h.location_classes();
  const float* codes = input_of<float>(args, 0) + image * h.priors * groups * 4;
  for (int64_t i = 0; i < h.priors * groups; ++i) {
    const int64_t p = i / groups, group = i % groups;
    scratch.boxes[group * h.priors + p] =
        decode(h, priors + 4 * p, variances + 4 * p, codes + 4 * i);
  }
  const float* scores = input_of<float>(args, 1) + image * h.priors * h.classes;
  int64_t total = 0;
  for (int64_t label = 0; label < h.classes; ++label) {
    if (label == h.background) continue;
    const Box* boxes = scratch.boxes + (h.share_location ? 0 : label) * h.priors;
    total += suppress(h, static_cast<int32_t>(label), scores, boxes, scratch.order,
                      scratch.kept + total);
  }
  if (total > h.keep_top_k) {
    std::sort(scratch.kept, scratch.kept + total, before);
    total = h.keep_top_k;
    std::sort(scratch.kept, scratch.kept + total, [](const Found& a, const Found& b) {
      return a.label != b.label ? a.label < b.label : before(a, b);
    });
  }
  for (int64_t i = 0; i < total; ++i) {
    const Found& found = scratch.kept[i];
    const Box& box = scratch.boxes[(h.share_location ? 0 : found.label) * h.priors + found.prior];
    const float values[7] = {static_cast<float>(image),
                             static_cast<float>(found.label),
                             found.score,
                             box.x1,
                             box.y1,
                             box.x2,
                             box.y2};
    row = std::copy(values, values + 7, row);
  }
  return row;
}

PlanResult plan_detection(const OpContext& context) {
  ANYNPU_ASSIGN(const Head h, head_of(context));
  const auto boxes = static_cast<size_t>(h.location_classes() * h.priors) * sizeof(Box);
  const auto order = static_cast<size_t>(h.priors) * sizeof(Found);
  const auto kept = static_cast<size_t>(h.classes * h.candidates()) * sizeof(Found);
  auto plan = make_plan([h, boxes, order](const RunArgs& args) {
    const Scratch scratch = {reinterpret_cast<Box*>(args.workspace),
                             reinterpret_cast<Found*>(args.workspace + boxes),
                             reinterpret_cast<Found*>(args.workspace + boxes + order)};
    float* row = output_of<float>(args, 0);
    float* const end = row + h.batch * h.keep_top_k * 7;
    for (int64_t image = 0; image < h.batch; ++image) {
      row = write_image(h, image, args, scratch, row);
    }
    for (; row != end; row += 7) {
      row[0] = -1;
      std::fill(row + 1, row + 7, 0.0f);
    }
  });
  plan->workspace_bytes = boxes + order + kept;
  return plan;
}

}  // namespace

void register_detection_output(Registry& registry) {
  registry.add(OpSchema{.name = "DetectionOutput",
                        .domain = "anynpu",
                        .inputs = {{"loc", "T"}, {"conf", "T"}, {"priors", "T"}},
                        .outputs = {{"Y", "T"}},
                        .types = {{"T", {DType::f32}}},
                        .attrs = {{"num_classes", AttrKind::i, {}, true},
                                  {"background_label_id", AttrKind::i, int64_t{0}},
                                  {"top_k", AttrKind::i, int64_t{-1}},
                                  {"keep_top_k", AttrKind::i, {}, true},
                                  {"share_location", AttrKind::i, int64_t{1}},
                                  {"variance_encoded_in_target", AttrKind::i, int64_t{0}},
                                  {"code_type", AttrKind::s, "CORNER"},
                                  {"confidence_threshold", AttrKind::f, 0.0f},
                                  {"nms_threshold", AttrKind::f, 0.3f},
                                  {"eta", AttrKind::f, 1.0f}},
                        .traits = OpTraits::general(),
                        .shape = detection_rule});
  registry.add(KernelDef{.op = "DetectionOutput",
                         .name = "detection_reference",
                         .domain = "anynpu",
                         .types = {DType::f32},
                         .create = create_plain<plan_detection>});
}

void register_family(Registry& registry) {
  register_roi_pools(registry);
  register_detection_output(registry);
  register_non_max_suppression(registry);
  register_roi_align(registry);
  register_yolo(registry);
  register_crop_and_resize(registry);
  register_suppression(registry);
}

}  // namespace anynpu::ops::detection
