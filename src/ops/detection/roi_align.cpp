// SPDX-License-Identifier: Apache-2.0
// RoiAlign: averages or maxima of samples between pixels, over regions, and the gradient of
// averages (RoiAlignGrad, domain anynpu: rows of corners and the number of each row's picture, as
// RoiAlign).
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
constexpr DTypeSet kWide{DType::f32, DType::f64};

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

// How regions are cut: `shift` is half a pixel or 0.
struct Cut {
  double scale = 1, shift = 0;
  int64_t ratio = 0;
  int64_t rows = 1, columns = 1;  // bins of a region
};

Cut cut_of(const OpContext& context, const Shape& pooled) {
  const bool half = (context.schema->name != "RoiAlign" || context.schema->since >= 16) &&
                    context.string_attr("coordinate_transformation_mode") == "half_pixel";
  return {static_cast<double>(context.float_attr("spatial_scale")), half ? 0.5 : 0,
          context.int_attr("sampling_ratio"), pooled[2], pooled[3]};
}

// A region's bins, each with `down` times `across` samples.
struct Region {
  double top = 0, left = 0, bin_h = 0, bin_w = 0;
  int64_t down = 0, across = 0;

  int64_t samples() const { return down * across; }
  double count() const { return static_cast<double>(std::max<int64_t>(samples(), 1)); }

  Sample sample(const Shape& x, int64_t row, int64_t column, int64_t s) const {
    const auto place = [](double start, int64_t bin, int64_t at, int64_t count, double size) {
      const double within = (static_cast<double>(at) + 0.5) / static_cast<double>(count);
      return start + (static_cast<double>(bin) + within) * size;
    };
    return sample_at(x, place(top, row, s / across, down, bin_h),
                     place(left, column, s % across, across, bin_w));
  }
};

template <typename T>
double read(const T* at) {
  return static_cast<double>(Element<T>::load(*at));
}

template <typename T>
Region region_of(const Cut& cut, const T* corners) {
  double roi[4];
  for (int i = 0; i < 4; ++i) roi[i] = read(corners + i) * cut.scale - cut.shift;
  double width = roi[2] - roi[0], height = roi[3] - roi[1];
  if (cut.shift == 0) width = std::max(width, 1.0), height = std::max(height, 1.0);
  const auto samples = [&](double bin) {
    return cut.ratio > 0
               ? cut.ratio
               : std::clamp<int64_t>(static_cast<int64_t>(std::ceil(bin)), 0, kMostSamples);
  };
  const double bin_h = height / static_cast<double>(cut.rows),
               bin_w = width / static_cast<double>(cut.columns);
  return {roi[1], roi[0], bin_h, bin_w, samples(bin_h), samples(bin_w)};
}

Status check_pictures(const std::string& label, const int64_t* batches, int64_t count,
                      int64_t pictures) {
  for (int64_t r = 0; r < count; ++r) {
    if (batches[r] < 0 || batches[r] >= pictures) return index_failure(label, batches[r], pictures);
  }
  return {};
}

// Each sample is placed once and read in all channels. Sums are in double.
template <typename T>
struct RoiAlign {
  Shape x, out;
  Cut cut;
  bool largest = false;
  std::string label;
  size_t threads = 1;

  // `values`: a number for each channel.
  void align(const RunArgs& args, int64_t r, double* values) const {
    const int64_t batch = input_of<int64_t>(args, 2)[r], plane = x[2] * x[3], channels = out[1];
    const Region region = region_of(cut, input_of<T>(args, 1) + r * 4);
    const int64_t cells = out[2] * out[3];
    for (int64_t cell = 0; cell < cells; ++cell) {
      std::fill_n(values, channels, 0.0);
      for (int64_t s = 0; s < region.samples(); ++s) {
        const Sample sample = region.sample(x, cell / out[3], cell % out[3], s);
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
        y[c * cells] = Element<T>::store(largest ? values[c] : values[c] / region.count());
    }
  }

  Status operator()(const RunArgs& args) const {
    if (Status status = check_pictures(label, input_of<int64_t>(args, 2), out[0], x[0]);
        !status.ok())
      return status;
    parallel_slots(threads, static_cast<size_t>(out[0]), [&](size_t r, size_t slot) {
      align(args, static_cast<int64_t>(r),
            reinterpret_cast<double*>(args.workspace) + slot * static_cast<size_t>(out[1]));
    });
    return {};
  }
};

// Each thread has channels of its own, so that regions which overlap add in one order.
template <typename T>
struct RoiAlignGrad {
  Shape x, pooled;
  Cut cut;
  std::string label;

  void spread(const RunArgs& args, int64_t begin, int64_t end) const {
    const int64_t plane = x[2] * x[3], cells = pooled[2] * pooled[3];
    T* const dx = output_of<T>(args, 0);
    for (int64_t n = 0; n < x[0]; ++n)
      std::fill_n(dx + (n * x[1] + begin) * plane, (end - begin) * plane, T{});
    for (int64_t r = 0; r < pooled[0]; ++r) {
      const int64_t batch = input_of<int64_t>(args, 2)[r];
      const Region region = region_of(cut, input_of<T>(args, 1) + r * 4);
      for (int64_t at = 0; at < cells * region.samples(); ++at) {
        const int64_t cell = at / region.samples();
        const Sample sample =
            region.sample(x, cell / pooled[3], cell % pooled[3], at % region.samples());
        if (!sample.inside) continue;
        for (int64_t c = begin; c < end; ++c) {
          const double share =
              read(input_of<T>(args, 0) + (r * x[1] + c) * cells + cell) / region.count();
          T* const to = dx + (batch * x[1] + c) * plane;
          for (int i = 0; i < 4; ++i) to[sample.at[i]] += static_cast<T>(sample.weight[i] * share);
        }
      }
    }
  }

  Status operator()(const RunArgs& args) const {
    const int64_t* const batches = input_of<int64_t>(args, 2);
    if (Status status = check_pictures(label, batches, pooled[0], x[0]); !status.ok())
      return status;
    parallel(static_cast<size_t>(x[1]), 8, [&](size_t begin, size_t end) {
      spread(args, static_cast<int64_t>(begin), static_cast<int64_t>(end));
    });
    return {};
  }
};

PlanResult plan_roi(const OpContext& context) {
  std::unique_ptr<KernelPlan> plan;
  visit_floats(context.inputs[0].dtype, [&](auto zero) {
    plan =
        make_checked_plan(RoiAlign<decltype(zero)>{.x = context.inputs[0].shape,
                                                   .out = context.outputs[0].shape,
                                                   .cut = cut_of(context, context.outputs[0].shape),
                                                   .largest = context.string_attr("mode") == "max",
                                                   .label = context.label(),
                                                   .threads = context.target.threads});
  });
  if (!plan) return no_kernel_for(context);
  plan->workspace_bytes =
      context.target.threads * static_cast<size_t>(context.outputs[0].shape[1]) * sizeof(double);
  return plan;
}

Status gradient_rule(OpContext& context) {
  const Operand &grad = context.inputs[0], &rois = context.inputs[1], &batches = context.inputs[2];
  const Shape x = context.ints_attr("input_shape");
  context.outputs[0].dtype = grad.dtype;
  if (!grad.fully_known() || !rois.fully_known() || !batches.fully_known()) return {};
  const int64_t ratio = context.int_attr("sampling_ratio");
  if (grad.rank() != 4 || x.size() != 4 || grad.shape[1] != x[1] ||
      rois.shape != Shape{grad.shape[0], 4} || batches.shape != Shape{grad.shape[0]} ||
      *std::min_element(x.begin(), x.end()) < 0 || ratio < 0 || ratio > kMostSamples) {
    return fail(Code::shape_mismatch,
                "{}: gradient {}, rois {}, batch_indices {}, input_shape {} and sampling_ratio {}; "
                "expected R, C, h, w; "
                "R, 4; R; N, C, H, W and 0 to {}",
                context.label(), to_string(grad.shape), to_string(rois.shape),
                to_string(batches.shape), to_string(x), ratio, kMostSamples);
  }
  return set_output(context, 0, grad.dtype, x);
}

PlanResult plan_gradient(const OpContext& context) {
  const Shape &x = context.outputs[0].shape, &pooled = context.inputs[0].shape;
  const Cut cut = cut_of(context, pooled);
  if (context.inputs[0].dtype == DType::f64)
    return make_checked_plan(RoiAlignGrad<double>{x, pooled, cut, context.label()});
  return make_checked_plan(RoiAlignGrad<float>{x, pooled, cut, context.label()});
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
  registry.add(OpSchema{
      .name = "RoiAlignGrad",
      .domain = "anynpu",
      .since = 1,
      .inputs = {{"gradient", "T"}, {"rois", "T"}, {"batch_indices", "I"}},
      .outputs = {{"dX", "T"}},
      .types = {{"T", kWide}, {"I", {DType::i64}}},
      .attrs = {{"input_shape", AttrKind::ints, {}, true},
                {"sampling_ratio", AttrKind::i, int64_t{0}},
                {"spatial_scale", AttrKind::f, 1.0f},
                {"coordinate_transformation_mode", AttrKind::s, std::string_view("half_pixel")}},
      .traits = OpTraits::general(),
      .shape = gradient_rule});
  registry.add(KernelDef{.op = "RoiAlignGrad",
                         .name = "reference",
                         .domain = "anynpu",
                         .types = kWide,
                         .create = create_plain<plan_gradient>});
}

}  // namespace anynpu::ops::detection
