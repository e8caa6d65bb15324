// SPDX-License-Identifier: Apache-2.0
// CropAndResize of domain anynpu: regions of pictures, brought to one size. Corners of the region
// are corners of the result; what lies outside the picture has a value of its own.
#include <algorithm>
#include <cmath>

#include "ops/detection/detection.h"
#include "ops/elements/index_value.h"
#include "ops/parallel.h"
#include "ops/registry.h"
#include "ops/runtime_params.h"

namespace anynpu::ops::detection {

namespace {

Status crop_rule(OpContext& context) {
  const Operand &x = context.inputs[0], &boxes = context.inputs[1], &pictures = context.inputs[2];
  const int64_t height = context.int_attr("height"), width = context.int_attr("width");
  context.outputs[0].dtype = DType::f32;
  if (height < 1 || width < 1 || height > (1 << 20) || width > (1 << 20)) {
    return fail(Code::invalid_argument, "{}: height and width are {} and {}, expected 1 or more",
                context.label(), height, width);
  }
  if (!x.has_shape || !boxes.has_shape || !pictures.has_shape) return {};
  if (x.rank() != 4 || boxes.rank() != 2 || (boxes.shape[1] >= 0 && boxes.shape[1] != 4) ||
      pictures.rank() != 1 ||
      (pictures.fully_known() && boxes.fully_known() && pictures.shape[0] != boxes.shape[0])) {
    return fail(
        Code::shape_mismatch,
        "{}: pictures {}, boxes {} and their pictures {}, expected N, C, H, W and R, 4 and R",
        context.label(), to_string(x.shape), to_string(boxes.shape), to_string(pictures.shape));
  }
  context.outputs[0].has_shape = true;
  context.outputs[0].shape = {boxes.shape[0], x.shape[1], height, width};
  return {};
}

struct Crop {
  Shape x, out;
  bool nearest = false;
  float outside = 0;
  std::string label;

  // Where row `at` of `count` lies between first and last, in rows of the picture.
  static float place(float first, float last, int64_t extent, int64_t at, int64_t count) {
    const auto rows = static_cast<float>(extent - 1);
    if (count == 1) return 0.5f * (first + last) * rows;
    return first * rows +
           static_cast<float>(at) * ((last - first) * rows / static_cast<float>(count - 1));
  }

  float pixel(const float* plane, float y, float z) const {
    if (nearest) {
      return plane[static_cast<int64_t>(std::round(y)) * x[3] +
                   static_cast<int64_t>(std::round(z))];
    }
    const auto y0 = static_cast<int64_t>(std::floor(y)), y1 = static_cast<int64_t>(std::ceil(y));
    const auto z0 = static_cast<int64_t>(std::floor(z)), z1 = static_cast<int64_t>(std::ceil(z));
    const float fy = y - static_cast<float>(y0), fz = z - static_cast<float>(z0);
    const float top = plane[y0 * x[3] + z0] + (plane[y0 * x[3] + z1] - plane[y0 * x[3] + z0]) * fz;
    const float end = plane[y1 * x[3] + z0] + (plane[y1 * x[3] + z1] - plane[y1 * x[3] + z0]) * fz;
    return top + (end - top) * fy;
  }

  Status operator()(const RunArgs& args) const {
    const auto* boxes = input_of<float>(args, 1);
    const auto* pictures = input_of<int64_t>(args, 2);
    for (int64_t r = 0; r < out[0]; ++r) {
      if (pictures[r] < 0 || pictures[r] >= x[0]) return index_failure(label, pictures[r], x[0]);
    }
    const int64_t cells = out[2] * out[3], plane = x[2] * x[3];
    parallel(static_cast<size_t>(out[0] * out[1]), 1, [&](size_t begin, size_t end) {
      for (size_t row = begin; row < end; ++row) {
        const int64_t r = static_cast<int64_t>(row) / out[1],
                      c = static_cast<int64_t>(row) % out[1];
        const float* box = boxes + r * 4;
        const float* from = input_of<float>(args, 0) + (pictures[r] * x[1] + c) * plane;
        float* to = output_of<float>(args, 0) + static_cast<int64_t>(row) * cells;
        for (int64_t i = 0; i < out[2]; ++i) {
          const float y = place(box[0], box[2], x[2], i, out[2]);
          const bool inside = y >= 0 && y <= static_cast<float>(x[2] - 1);
          for (int64_t j = 0; j < out[3]; ++j) {
            const float z = place(box[1], box[3], x[3], j, out[3]);
            const bool there = inside && z >= 0 && z <= static_cast<float>(x[3] - 1);
            *to++ = there ? pixel(from, y, z) : outside;
          }
        }
      }
    });
    return {};
  }
};

PlanResult plan_crop(const OpContext& context) {
  return make_checked_plan(Crop{.x = context.inputs[0].shape,
                                .out = context.outputs[0].shape,
                                .nearest = context.string_attr("method") == "nearest",
                                .outside = context.float_attr("outside"),
                                .label = context.label()});
}

}  // namespace

void register_crop_and_resize(Registry& registry) {
  registry.add(OpSchema{.name = "CropAndResize",
                        .domain = "anynpu",
                        .since = 1,
                        .inputs = {{"X", "T"}, {"boxes", "T"}, {"pictures", "I"}},
                        .outputs = {{"Y", "T"}},
                        .types = {{"T", {DType::f32}}, {"I", {DType::i64}}},
                        .attrs = {{"height", AttrKind::i, {}, true},
                                  {"width", AttrKind::i, {}, true},
                                  {"method", AttrKind::s, std::string_view("bilinear")},
                                  {"outside", AttrKind::f, 0.0f}},
                        .traits = OpTraits::linear(),
                        .shape = crop_rule});
  registry.add(KernelDef{.op = "CropAndResize",
                         .name = "reference",
                         .domain = "anynpu",
                         .types = {DType::f32},
                         .create = create_plain<plan_crop>});
}

}  // namespace anynpu::ops::detection
