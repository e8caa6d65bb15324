// SPDX-License-Identifier: Apache-2.0
// MaxRoiPool of ONNX (ROIPooling of Caffe) and PsRoiPool. A region is a row of image, x1, y1, x2,
// y2 in pixels of the original picture.
#include <algorithm>
#include <array>
#include <cmath>

#include "ops/detection/detection.h"
#include "ops/families.h"
#include "ops/parallel.h"
#include "ops/registry.h"
#include "tensor/element.h"

namespace anynpu::ops::detection {

namespace {

constexpr int64_t kMaxBins = 1 << 12;
constexpr int64_t kMaxChannels = 1 << 24;

struct RoiShape {
  int64_t batch = 0, channels = 0, height = 0, width = 0;
  int64_t rois = 0, out_channels = 0, bins_h = 0, bins_w = 0;
  float scale = 1;
  bool average = false;
};

Result<RoiShape> roi_shape_of(const OpContext& context) {
  const Operand& x = context.inputs[0];
  const Operand& rois = context.inputs[1];
  if (x.rank() != 4 || rois.rank() != 2 || (rois.shape[1] != 5 && rois.shape[1] != kDynamicDim)) {
    return fail(Code::unsupported_shape,
                "{}: inputs are {} and {}, expected N x C x H x W and R x 5", context.label(),
                to_string(x.shape), to_string(rois.shape));
  }
  RoiShape r;
  r.average = context.schema->name == "PsRoiPool";
  r.batch = x.shape[0], r.channels = x.shape[1], r.height = x.shape[2], r.width = x.shape[3];
  r.rois = rois.shape[0];
  r.scale = context.float_attr("spatial_scale");
  if (r.average) {
    r.bins_h = r.bins_w = context.int_attr("group_size");
    r.out_channels = context.int_attr("output_dim");
  } else {
    const auto bins = context.ints_attr("pooled_shape");
    if (bins.size() != 2) {
      return fail(Code::invalid_argument, "{}: pooled_shape is {}, expected two extents",
                  context.label(), bins);
    }
    r.bins_h = bins[0], r.bins_w = bins[1];
    r.out_channels = r.channels;
  }
  if (r.bins_h < 1 || r.bins_w < 1 || r.bins_h > kMaxBins || r.bins_w > kMaxBins ||
      !(std::fabs(r.scale) <= 1e6f)) {
    return fail(Code::invalid_argument, "{}: {}x{} bins with the scale {}, expected 1 to {} bins",
                context.label(), r.bins_h, r.bins_w, r.scale, kMaxBins);
  }
  if (r.average && r.channels >= 0 &&
      (r.out_channels < 1 || r.out_channels > kMaxChannels ||
       r.channels != r.out_channels * r.bins_h * r.bins_w)) {
    return fail(Code::shape_mismatch,
                "{}: input has {} channels, expected output_dim {} times group_size {} squared",
                context.label(), r.channels, r.out_channels, r.bins_h);
  }
  return r;
}

Status roi_pool_rule(OpContext& context) {
  context.outputs[0].dtype = context.inputs[0].dtype;
  if (!context.inputs[0].has_shape || !context.inputs[1].has_shape) return {};
  ANYNPU_ASSIGN(const RoiShape r, roi_shape_of(context));
  context.outputs[0].shape = {r.rois, r.out_channels, r.bins_h, r.bins_w};
  context.outputs[0].has_shape = true;
  return {};
}

// The pixels of one bin along one axis.
struct Range {
  int64_t begin = 0, end = 0;
};

// W: what the elements are computed in, float or double.
template <typename W>
Range clipped(W begin, W end, int64_t extent) {
  const auto at = [&](W x) {
    return static_cast<int64_t>(std::clamp(x, W(0), static_cast<W>(extent)));
  };
  return {at(begin), at(end)};
}

template <typename W>
Range max_bin(W from, W to, W scale, int64_t bin, int64_t bins, int64_t extent) {
  const W start = std::round(from * scale), stop = std::round(to * scale);
  const W size = std::max(stop - start + W(1), W(1)) / static_cast<W>(bins);
  return clipped(std::floor(static_cast<W>(bin) * size) + start,
                 std::ceil(static_cast<W>(bin + 1) * size) + start, extent);
}

template <typename W>
Range average_bin(W from, W to, W scale, int64_t bin, int64_t bins, int64_t extent) {
  const W start = std::round(from) * scale, stop = (std::round(to) + W(1)) * scale;
  const W size = std::max(stop - start, W(0.1)) / static_cast<W>(bins);
  return clipped(std::floor(static_cast<W>(bin) * size + start),
                 std::ceil(static_cast<W>(bin + 1) * size + start), extent);
}

template <typename T>
T pool_bin(const RoiShape& r, const T* plane, Range rows, Range columns) {
  using W = typename Element<T>::Wide;
  if (rows.begin >= rows.end || columns.begin >= columns.end) return T{};
  double sum = 0;
  W most = Element<T>::load(plane[rows.begin * r.width + columns.begin]);
  for (int64_t h = rows.begin; h < rows.end; ++h) {
    for (int64_t w = columns.begin; w < columns.end; ++w) {
      const W value = Element<T>::load(plane[h * r.width + w]);
      sum += static_cast<double>(value);
      most = value > most || std::isnan(value) ? value : most;  // NaN stays
    }
  }
  if (!r.average) return Element<T>::store(most);
  return Element<T>::store(
      sum / static_cast<double>((rows.end - rows.begin) * (columns.end - columns.begin)));
}

template <typename T, typename W>
void pool_roi(const RoiShape& r, const T* image, const std::array<W, 5>& roi, T* y) {
  const auto bin = r.average ? average_bin<W> : max_bin<W>;
  const auto scale = static_cast<W>(r.scale);
  for (int64_t c = 0; c < r.out_channels; ++c) {
    for (int64_t i = 0; i < r.bins_h; ++i) {
      const Range rows = bin(roi[2], roi[4], scale, i, r.bins_h, r.height);
      for (int64_t j = 0; j < r.bins_w; ++j) {
        const Range columns = bin(roi[1], roi[3], scale, j, r.bins_w, r.width);
        const int64_t channel = r.average ? (c * r.bins_h + i) * r.bins_w + j : c;
        *y++ = pool_bin(r, image + channel * r.height * r.width, rows, columns);
      }
    }
  }
}

template <typename T>
auto region_at(const RunArgs& args, int64_t index) {
  std::array<typename Element<T>::Wide, 5> roi;
  for (size_t k = 0; k < roi.size(); ++k)
    roi[k] = Element<T>::load(input_of<T>(args, 1)[5 * index + static_cast<int64_t>(k)]);
  return roi;
}

template <typename T>
Status check_regions(const RoiShape& r, const RunArgs& args) {
  for (int64_t i = 0; i < r.rois; ++i) {
    const auto roi = region_at<T>(args, i);
    for (size_t k = 0; k < roi.size(); ++k) {
      const auto value = static_cast<double>(roi[k]);
      const bool fits =
          k == 0 ? value >= 0 && value < static_cast<double>(r.batch) : std::fabs(value) < 1e9;
      if (fits) continue;
      return fail(Code::invalid_argument,
                  "region {} has the value {} at position {}; expected an image from 0 to {} "
                  "and finite corners",
                  i, value, k, r.batch - 1);
    }
  }
  return {};
}

template <typename T>
std::unique_ptr<KernelPlan> plan_pool(const RoiShape& r) {
  const auto run = [r](const RunArgs& args) -> Status {
    ANYNPU_TRY(check_regions<T>(r, args));
    parallel(static_cast<size_t>(r.rois), 1, [&](size_t begin, size_t end) {
      for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
        const auto roi = region_at<T>(args, i);
        const T* image =
            input_of<T>(args, 0) + static_cast<int64_t>(roi[0]) * r.channels * r.height * r.width;
        pool_roi(r, image, roi, output_of<T>(args, 0) + i * r.out_channels * r.bins_h * r.bins_w);
      }
    });
    return {};
  };
  return make_checked_plan(run);
}

PlanResult plan_roi_pool(const OpContext& context) {
  ANYNPU_ASSIGN(const RoiShape r, roi_shape_of(context));
  std::unique_ptr<KernelPlan> plan;
  visit_floats(context.inputs[0].dtype, [&](auto zero) { plan = plan_pool<decltype(zero)>(r); });
  if (!plan) return no_kernel_for(context);
  return plan;
}

}  // namespace

void register_roi_pools(Registry& registry) {
  OpSchema schema{
      .name = "MaxRoiPool",
      .since = 1,
      .inputs = {{"X", "T"}, {"rois", "T"}},
      .outputs = {{"Y", "T"}},
      .types = {{"T", kFloats}},
      .attrs = {{"pooled_shape", AttrKind::ints, {}, true}, {"spatial_scale", AttrKind::f, 1.0f}},
      .traits = OpTraits::general(),
      .shape = roi_pool_rule};
  registry.add(schema);
  schema.name = "PsRoiPool";
  schema.domain = "anynpu";
  schema.attrs = {{"output_dim", AttrKind::i, {}, true},
                  {"group_size", AttrKind::i, {}, true},
                  {"spatial_scale", AttrKind::f, 1.0f}};
  registry.add(schema);
  registry.add(KernelDef{.op = "MaxRoiPool",
                         .name = "roi_reference",
                         .types = kFloats,
                         .create = create_plain<plan_roi_pool>});
  registry.add(KernelDef{.op = "PsRoiPool",
                         .name = "roi_reference",
                         .domain = "anynpu",
                         .types = kFloats,
                         .create = create_plain<plan_roi_pool>});
}

}  // namespace anynpu::ops::detection
