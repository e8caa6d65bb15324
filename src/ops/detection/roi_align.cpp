// SPDX-License-Identifier: Apache-2.0
// RoiAlign: averages or maxima of samples between pixels, over regions.
#include <algorithm>
#include <cmath>

#include "ops/detection/detection.h"
#include "ops/elements/index_value.h"
#include "ops/parallel.h"
#include "ops/registry.h"
#include "ops/runtime_params.h"
#include "tensor/element.h"

namespace anynpu::ops::detection {

namespace {

// Samples along one side of a bin.
constexpr int64_t kMostSamples = 4096;

Status roi_rule(OpContext& context) {
  const Operand &x = context.inputs[0], &rois = context.inputs[1], &batches = context.inputs[2];
  context.outputs[0].dtype = x.dtype;
  if (!x.fully_known() || !rois.fully_known() || !batches.fully_known()) return {};
  const int64_t h = context.int_attr("output_height"), w = context.int_attr("output_width");
  if (x.rank() != 4 || rois.rank() != 2 || rois.shape[1] != 4 ||
      element_count(batches.shape) != rois.shape[0]) {
    return fail(Code::shape_mismatch,
                "{}: input {}, rois {} and batch_indices {}, expected N, C, H, W and R, 4 and R",
                context.label(), to_string(x.shape), to_string(rois.shape),
                to_string(batches.shape));
  }
  if (h < 1 || w < 1) {
    return fail(Code::invalid_argument,
                "{}: output_height and output_width are {} and {}, expected 1 or more",
                context.label(), h, w);
  }
  const int64_t ratio = context.int_attr("sampling_ratio");
  if (ratio < 0 || ratio > kMostSamples) {
    return fail(Code::invalid_argument, "{}: sampling_ratio is {}, expected 0 to {}",
                context.label(), ratio, kMostSamples);
  }
  return set_output(context, 0, x.dtype, {rois.shape[0], x.shape[1], h, w});
}

// Where one sample reads, and how much of each corner; nothing outside.
struct Sample {
  bool inside = false;
  int64_t at[4] = {};
  double weight[4] = {};
};

Sample sample_at(const Shape& x, double y, double z) {
  Sample sample;
  const auto height = static_cast<double>(x[2]), width = static_cast<double>(x[3]);
  const bool there = height > 0 && width > 0;
  if (!(there && y >= -1 && y <= height && z >= -1 && z <= width)) return sample;
  y = std::clamp(y, 0.0, height - 1), z = std::clamp(z, 0.0, width - 1);
  const auto y0 = static_cast<int64_t>(y), z0 = static_cast<int64_t>(z);
  const int64_t y1 = std::min(y0 + 1, x[2] - 1), z1 = std::min(z0 + 1, x[3] - 1);
  const double fy = y - static_cast<double>(y0), fz = z - static_cast<double>(z0);
  return {true,
          {y0 * x[3] + z0, y0 * x[3] + z1, y1 * x[3] + z0, y1 * x[3] + z1},
          {(1 - fy) * (1 - fz), (1 - fy) * fz, fy * (1 - fz), fy * fz}};
}

// Each sample is placed once and read in all channels. Sums are in double.
template <typename T>
struct RoiAlign {
  Shape x, out;
  double scale = 1, shift = 0;
  bool largest = false;
  int64_t ratio = 0;
  std::string label;
  size_t threads = 1;

  static double read(const T* at) { return static_cast<double>(Element<T>::load(*at)); }

  // `values`: a number for each channel.
  void align(const RunArgs& args, int64_t r, double* values) const {
    const int64_t batch = input_of<int64_t>(args, 2)[r], plane = x[2] * x[3], channels = out[1];
    double roi[4];
    for (int i = 0; i < 4; ++i) roi[i] = read(input_of<T>(args, 1) + r * 4 + i) * scale - shift;
    double width = roi[2] - roi[0], height = roi[3] - roi[1];
    if (shift == 0) width = std::max(width, 1.0), height = std::max(height, 1.0);
    const double bin_h = height / static_cast<double>(out[2]),
                 bin_w = width / static_cast<double>(out[3]);
    const auto samples = [&](double bin) {
      return ratio > 0 ? ratio
                       : std::clamp<int64_t>(static_cast<int64_t>(std::ceil(bin)), 0, kMostSamples);
    };
    const int64_t rows = samples(bin_h), columns = samples(bin_w), cells = out[2] * out[3];
    const auto place = [](double start, int64_t cell, int64_t s, int64_t count, double bin) {
      const double within = (static_cast<double>(s) + 0.5) / static_cast<double>(count);
      return start + (static_cast<double>(cell) + within) * bin;
    };
    const double count = static_cast<double>(std::max<int64_t>(rows * columns, 1));
    for (int64_t cell = 0; cell < cells; ++cell) {
      std::fill_n(values, channels, 0.0);
      for (int64_t s = 0; s < rows * columns; ++s) {
        const Sample sample = sample_at(x, place(roi[1], cell / out[3], s / columns, rows, bin_h),
                                        place(roi[0], cell % out[3], s % columns, columns, bin_w));
        const T* from = input_of<T>(args, 0) + batch * x[1] * plane;
        for (int64_t c = 0; c < channels; ++c, from += plane) {
          double parts[4] = {};
          for (int i = 0; sample.inside && i < 4; ++i)
            parts[i] = sample.weight[i] * read(from + sample.at[i]);
          const double best = largest ? *std::max_element(parts, parts + 4)
                                      : values[c] + (parts[0] + parts[1] + parts[2] + parts[3]);
          values[c] = largest && s > 0 ? std::max(values[c], best) : best;
        }
      }
      T* y = output_of<T>(args, 0) + r * channels * cells + cell;
      for (int64_t c = 0; c < channels; ++c)
        y[c * cells] = Element<T>::store(largest ? values[c] : values[c] / count);
    }
  }

  Status operator()(const RunArgs& args) const {
    for (int64_t r = 0; r < out[0]; ++r) {
      const int64_t batch = input_of<int64_t>(args, 2)[r];
      if (batch < 0 || batch >= x[0]) return index_failure(label, batch, x[0]);
    }
    parallel_slots(threads, static_cast<size_t>(out[0]), [&](size_t r, size_t slot) {
      align(args, static_cast<int64_t>(r),
            reinterpret_cast<double*>(args.workspace) + slot * static_cast<size_t>(out[1]));
    });
    return {};
  }
};

PlanResult plan_roi(const OpContext& context) {
  const bool half = context.schema->since >= 16 &&
                    context.string_attr("coordinate_transformation_mode") == "half_pixel";
  std::unique_ptr<KernelPlan> plan;
  visit_floats(context.inputs[0].dtype, [&](auto zero) {
    plan = make_checked_plan(
        RoiAlign<decltype(zero)>{.x = context.inputs[0].shape,
                                 .out = context.outputs[0].shape,
                                 .scale = static_cast<double>(context.float_attr("spatial_scale")),
                                 .shift = half ? 0.5 : 0,
                                 .largest = context.string_attr("mode") == "max",
                                 .ratio = context.int_attr("sampling_ratio"),
                                 .label = context.label(),
                                 .threads = context.target.threads});
  });
  if (!plan) return no_kernel_for(context);
  plan->workspace_bytes =
      context.target.threads * static_cast<size_t>(context.outputs[0].shape[1]) * sizeof(double);
  return plan;
}

}  // namespace

void register_roi_align(Registry& registry) {
  OpSchema roi{.name = "RoiAlign",
               .since = 10,
               .inputs = {{"X", "T"}, {"rois", "T"}, {"batch_indices", "I"}},
               .outputs = {{"Y", "T"}},
               .types = {{"T", kFloats}, {"I", {DType::i64}}},
               .attrs = {{"mode", AttrKind::s, std::string_view("avg")},
                         {"output_height", AttrKind::i, int64_t{1}},
                         {"output_width", AttrKind::i, int64_t{1}},
                         {"sampling_ratio", AttrKind::i, int64_t{0}},
                         {"spatial_scale", AttrKind::f, 1.0f}},
               .traits = OpTraits::general(),
               .shape = roi_rule};
  registry.add(roi);
  roi.since = 16;
  roi.attrs.push_back(
      {"coordinate_transformation_mode", AttrKind::s, std::string_view("half_pixel")});
  registry.add(roi);
  registry.add(KernelDef{
      .op = "RoiAlign", .name = "reference", .types = kFloats, .create = create_plain<plan_roi>});
}

}  // namespace anynpu::ops::detection
