// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "import/caffe/layers.h"

namespace anynpu::caffe {

namespace {

constexpr int64_t kMostPriors = 1 << 22;

struct PriorParams {
  std::vector<float> min_sizes, max_sizes, ratios, variance;
  bool clip = false;
  float image_h = 0, image_w = 0, step_h = 0, step_w = 0, offset = 0.5f;
  int64_t priors() const {
    return static_cast<int64_t>(ratios.size() * min_sizes.size() + max_sizes.size());
  }
};

Result<PriorParams> prior_params(const Builder& b) {
  Params params(b.layer(), "prior_box_param");
  PriorParams made;
  made.min_sizes = params.reals("min_size");
  made.max_sizes = params.reals("max_size");
  made.clip = params.flag("clip", false);
  const bool flip = params.flag("flip", true);
  made.ratios = {1.0f};
  const auto known = [&](float ratio) {
    return std::any_of(made.ratios.begin(), made.ratios.end(),
                       [&](float other) { return std::fabs(ratio - other) < 1e-6f; });
  };
  for (float ratio : params.reals("aspect_ratio")) {
    if (!(ratio > 0))
      return fail(Code::invalid_argument, "aspect_ratio is {}; expected a number over 0", ratio);
    if (known(ratio)) continue;
    made.ratios.push_back(ratio);
    if (flip) made.ratios.push_back(1.0f / ratio);
  }
  made.variance = params.reals("variance");
  if (made.variance.empty()) made.variance = {0.1f};
  if (made.variance.size() == 1) made.variance.assign(4, made.variance[0]);
  const float image = params.real("img_size", 0), step = params.real("step", 0);
  made.image_h = params.real("img_h", image);
  made.image_w = params.real("img_w", image);
  made.step_h = params.real("step_h", step);
  made.step_w = params.real("step_w", step);
  made.offset = params.real("offset", 0.5f);
  ANYNPU_TRY(params.status());
  if (made.min_sizes.empty() || made.variance.size() != 4 ||
      (!made.max_sizes.empty() && made.max_sizes.size() != made.min_sizes.size())) {
    return fail(Code::invalid_argument,
                "it has {} min_size, {} max_size and {} variance; expected at least one min_size, "
                "as many max_size or none, and 1 or 4 variance",
                made.min_sizes.size(), made.max_sizes.size(), made.variance.size());
  }
  return made;
}

}  // namespace

// The boxes depend only on shapes: they are a constant of the model.
Status prior_box(Builder& b) {
  ANYNPU_TRY(b.expect(2, 1));
  ANYNPU_ASSIGN(PriorParams p, prior_params(b));
  ANYNPU_ASSIGN(const int64_t height, b.extent(b.bottom(0), 2));
  ANYNPU_ASSIGN(const int64_t width, b.extent(b.bottom(0), 3));
  ANYNPU_ASSIGN(const int64_t image_h, b.extent(b.bottom(1), 2));
  ANYNPU_ASSIGN(const int64_t image_w, b.extent(b.bottom(1), 3));
  if (p.image_h == 0 || p.image_w == 0) {
    p.image_h = static_cast<float>(image_h);
    p.image_w = static_cast<float>(image_w);
  }
  if (p.step_h == 0 || p.step_w == 0) {
    p.step_h = p.image_h / static_cast<float>(height);
    p.step_w = p.image_w / static_cast<float>(width);
  }
  if (height > kMostPriors || width > kMostPriors ||
      height * width > kMostPriors / std::max<int64_t>(p.priors(), 1)) {
    return fail(Code::unsupported_shape,
                "{} boxes on each of {}x{} pixels; expected at most {} in all", p.priors(), height,
                width, kMostPriors);
  }
  const int64_t count = height * width * p.priors() * 4;
  std::vector<float> boxes;
  boxes.reserve(static_cast<size_t>(2 * count));
  for (int64_t i = 0; i < height * width; ++i) {
    const float x = (static_cast<float>(i % width) + p.offset) * p.step_w;
    const float y = (static_cast<float>(i / width) + p.offset) * p.step_h;
    const auto box = [&](float w, float h) {
      const float corners[4] = {(x - w / 2) / p.image_w, (y - h / 2) / p.image_h,
                                (x + w / 2) / p.image_w, (y + h / 2) / p.image_h};
      for (float c : corners) boxes.push_back(p.clip ? std::clamp(c, 0.0f, 1.0f) : c);
    };
    for (size_t s = 0; s < p.min_sizes.size(); ++s) {
      const float least = p.min_sizes[s];
      box(least, least);
      if (!p.max_sizes.empty()) {
        const float middle = std::sqrt(least * p.max_sizes[s]);
        box(middle, middle);
      }
      for (size_t r = 1; r < p.ratios.size(); ++r) {
        box(least * std::sqrt(p.ratios[r]), least / std::sqrt(p.ratios[r]));
      }
    }
  }
  for (int64_t i = 0; i < count; ++i) boxes.push_back(p.variance[static_cast<size_t>(i % 4)]);
  return b.set_top(0, b.constant({1, 2, count}, std::move(boxes)));
}

Status ps_roi_pooling(Builder& b) {
  ANYNPU_TRY(b.expect(2, 1));
  Params params(b.layer(), "psroi_pooling_param");
  const int64_t outputs = params.integer("output_dim", 1, 1);
  const int64_t group = params.integer("group_size", 1, 1);
  const float factor = params.real("spatial_scale", 1.0f);
  ANYNPU_TRY(params.status());
  ValueId rois = b.bottom(1);
  if (b.rank(rois) > 2) {
    ANYNPU_ASSIGN(rois, b.reshape(rois, {-1, 5}));
  }
  return b.set_top(
      0,
      b.add("PsRoiPool", {b.bottom(0), rois},
            {{"output_dim", outputs}, {"group_size", group}, {"spatial_scale", factor}}, "anynpu"));
}

Status detection_output(Builder& b) {
  ANYNPU_TRY(b.expect(3, 1));
  Params params(b.layer(), "detection_output_param");
  Attrs attrs;
  attrs["num_classes"] = params.integer("num_classes", 1, 1);
  attrs["background_label_id"] = params.integer("background_label_id", 0, -1);
  attrs["keep_top_k"] = params.integer("keep_top_k", -1, -1);
  attrs["share_location"] = int64_t{params.flag("share_location", true)};
  attrs["variance_encoded_in_target"] = int64_t{params.flag("variance_encoded_in_target", false)};
  attrs["confidence_threshold"] = params.real("confidence_threshold", -1e30f);
  std::string code = params.word("code_type", "CORNER");
  constexpr std::string_view kCodes[] = {"CORNER", "CENTER_SIZE", "CORNER_SIZE"};
  if (code.size() == 1 && code[0] >= '1' && code[0] <= '3') code = kCodes[code[0] - '1'];
  attrs["code_type"] = code;
  float overlap = 0.3f, eta = 1.0f;
  int64_t top_k = -1;
  if (const TextField* nms = params.message("nms_param")) {
    if (const TextField* field = nms->find("nms_threshold")) ANYNPU_TRY(field->to(overlap));
    if (const TextField* field = nms->find("eta")) ANYNPU_TRY(field->to(eta));
    if (const TextField* field = nms->find("top_k")) ANYNPU_TRY(field->to(top_k));
  }
  attrs["nms_threshold"] = overlap;
  attrs["eta"] = eta;
  attrs["top_k"] = top_k;
  ANYNPU_TRY(params.status());
  return b.set_top(
      0, b.add("DetectionOutput", {b.bottom(0), b.bottom(1), b.bottom(2)}, attrs, "anynpu"));
}

Status roi_pooling(Builder& b) {
  ANYNPU_TRY(b.expect(2, 1));
  Params params(b.layer(), "roi_pooling_param");
  const std::vector<int64_t> pooled = {params.integer("pooled_h", 1, 1),
                                       params.integer("pooled_w", 1, 1)};
  const float factor = params.real("spatial_scale", 1.0f);
  ANYNPU_TRY(params.status());
  ValueId rois = b.bottom(1);
  if (b.rank(rois) > 2) {
    ANYNPU_ASSIGN(rois, b.reshape(rois, {-1, 5}));
  }
  return b.set_top(0, b.add("MaxRoiPool", {b.bottom(0), rois},
                            {{"pooled_shape", pooled}, {"spatial_scale", factor}}));
}

}  // namespace anynpu::caffe
