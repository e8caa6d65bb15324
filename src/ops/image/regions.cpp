// SPDX-License-Identifier: Apache-2.0
// RoiAlign, MaxUnpool and Col2Im.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "ops/block/wide.h"
#include "ops/image/image.h"
#include "ops/index/index.h"
#include "ops/late.h"
#include "ops/move/axes.h"
#include "ops/registry.h"

namespace anynpu::ops {

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

PlanResult plan_roi(const OpContext& context) {
  const Shape x = context.inputs[0].shape, out = context.outputs[0].shape;
  const DType type = context.inputs[0].dtype;
  const auto load = load_block<double>(type);
  const auto store = store_block<double>(type);
  const auto scale = static_cast<double>(context.float_attr("spatial_scale"));
  const bool largest = context.string_attr("mode") == "max";
  const double shift = context.schema->since >= 16 &&
                               context.string_attr("coordinate_transformation_mode") == "half_pixel"
                           ? 0.5
                           : 0;
  const int64_t ratio = context.int_attr("sampling_ratio");
  return make_checked_plan([=, label = context.label()](const RunArgs& args) -> Status {
    for (int64_t r = 0; r < out[0]; ++r) {
      const int64_t batch = input_of<int64_t>(args, 2)[r];
      if (batch < 0 || batch >= x[0]) return index_failure(label, batch, x[0]);
      double roi[4];
      load(args.inputs[1], r * 4, 1, roi, 4);
      for (double& value : roi) value = value * scale - shift;
      double width = roi[2] - roi[0], height = roi[3] - roi[1];
      if (shift == 0) width = std::max(width, 1.0), height = std::max(height, 1.0);
      const double bin_h = height / static_cast<double>(out[2]),
                   bin_w = width / static_cast<double>(out[3]);
      const auto samples = [&](double bin) {
        return ratio > 0
                   ? ratio
                   : std::clamp<int64_t>(static_cast<int64_t>(std::ceil(bin)), 0, kMostSamples);
      };
      const int64_t rows = samples(bin_h), columns = samples(bin_w);
      for (int64_t p = 0; p < out[1] * out[2] * out[3]; ++p) {
        const int64_t c = p / (out[2] * out[3]), oh = p / out[3] % out[2], ow = p % out[3];
        double sum = 0, top = 0;
        for (int64_t s = 0; s < rows * columns; ++s) {
          double y = roi[1] + (static_cast<double>(oh) + (static_cast<double>(s / columns) + 0.5) /
                                                             static_cast<double>(rows)) *
                                  bin_h;
          double z = roi[0] + (static_cast<double>(ow) + (static_cast<double>(s % columns) + 0.5) /
                                                             static_cast<double>(columns)) *
                                  bin_w;
          double parts[4] = {0, 0, 0, 0};
          if (y >= -1 && y <= static_cast<double>(x[2]) && z >= -1 &&
              z <= static_cast<double>(x[3])) {
            y = std::clamp(y, 0.0, static_cast<double>(x[2] - 1));
            z = std::clamp(z, 0.0, static_cast<double>(x[3] - 1));
            const auto y0 = static_cast<int64_t>(y), z0 = static_cast<int64_t>(z);
            const int64_t y1 = std::min(y0 + 1, x[2] - 1), z1 = std::min(z0 + 1, x[3] - 1);
            const double fy = y - static_cast<double>(y0), fz = z - static_cast<double>(z0);
            const auto value = [&](int64_t i, int64_t j) {
              return load_one<double>(type, args.inputs[0],
                                      ((batch * x[1] + c) * x[2] + i) * x[3] + j);
            };
            parts[0] = (1 - fy) * (1 - fz) * value(y0, z0),
            parts[1] = (1 - fy) * fz * value(y0, z1);
            parts[2] = fy * (1 - fz) * value(y1, z0), parts[3] = fy * fz * value(y1, z1);
          }
          sum += parts[0] + parts[1] + parts[2] + parts[3];
          const double best = *std::max_element(parts, parts + 4);
          top = s == 0 ? best : std::max(top, best);
        }
        const int64_t count = std::max<int64_t>(rows * columns, 1);
        const double result = largest ? top : sum / static_cast<double>(count);
        store(args.outputs[0], r * out[1] * out[2] * out[3] + p, &result, 1);
      }
    }
    return {};
  });
}

Status unpool_rule(OpContext& context) {
  const Operand &x = context.inputs[0], &indices = context.inputs[1];
  context.outputs[0].dtype = x.dtype;
  if (!x.fully_known() || !indices.fully_known()) return {};
  const auto kernel = context.ints_attr("kernel_shape");
  const size_t dims = x.shape.size() >= 3 ? x.shape.size() - 2 : 0;
  auto strides = context.ints_attr("strides"), pads = context.ints_attr("pads");
  if (strides.empty()) strides.assign(dims, 1);
  if (pads.empty()) pads.assign(2 * dims, 0);
  if (dims == 0 || indices.shape != x.shape || kernel.size() != dims || strides.size() != dims ||
      pads.size() != 2 * dims) {
    return fail(Code::shape_mismatch,
                "{}: input {} with indices {} does not fit kernel_shape, strides and pads",
                context.label(), to_string(x.shape), to_string(indices.shape));
  }
  Shape shape = {x.shape[0], x.shape[1]};
  if (context.has_input(2)) {
    const IntegerList wanted = integers_of(context.inputs[2]);
    if (!wanted.known) return {};
    shape = wanted.values;
  } else {
    for (size_t i = 0; i < dims; ++i) {
      shape.push_back((x.shape[i + 2] - 1) * strides[i] + kernel[i] - pads[i] - pads[i + dims]);
    }
  }
  return set_output(context, 0, x.dtype, std::move(shape));
}

PlanResult plan_unpool(const OpContext& context) {
  const int64_t count = element_count(context.inputs[0].shape),
                places = element_count(context.outputs[0].shape);
  const Shape &x = context.inputs[0].shape, &out = context.outputs[0].shape;
  // The indices count in the tensor without output_shape; a larger output keeps rows and columns.
  Shape natural = out;
  if (context.has_input(2)) {
    const auto kernel = context.ints_attr("kernel_shape");
    auto strides = context.ints_attr("strides"), pads = context.ints_attr("pads");
    const size_t dims = kernel.size();
    if (strides.empty()) strides.assign(dims, 1);
    if (pads.empty()) pads.assign(2 * dims, 0);
    for (size_t i = 0; i < dims; ++i)
      natural[i + 2] = (x[i + 2] - 1) * strides[i] + kernel[i] - pads[i] - pads[i + dims];
  }
  const size_t size = size_of(context.inputs[0].dtype);
  return make_checked_plan([=, label = context.label()](const RunArgs& args) -> Status {
    std::memset(args.outputs[0], 0, static_cast<size_t>(places) * size);
    const auto strides = strides_of(out);
    const int64_t limit = element_count(natural);
    for (int64_t i = 0; i < count; ++i) {
      int64_t index = input_of<int64_t>(args, 1)[i], to = 0;
      if (index < 0 || index >= limit) return index_failure(label, index, limit);
      for (size_t d = natural.size(); d-- > 0;) {
        if (index % natural[d] >= out[d]) return index_failure(label, index % natural[d], out[d]);
        to += index % natural[d] * strides[d];
        index /= natural[d];
      }
      std::memcpy(args.outputs[0] + static_cast<size_t>(to) * size,
                  args.inputs[0] + static_cast<size_t>(i) * size, size);
    }
    return {};
  });
}

struct Columns {
  bool known = true;
  std::vector<int64_t> image, block, stride, dilation, pad, steps;
};

Result<Columns> columns_of(const OpContext& context) {
  Columns g;
  const IntegerList image = integers_of(context.inputs[1]), block = integers_of(context.inputs[2]);
  g.known = image.known && block.known;
  if (!g.known) return g;
  g.image = image.values, g.block = block.values;
  const size_t dims = g.image.size();
  const auto list = [&](std::string_view key, size_t size, int64_t value) {
    return context.has_attr(key) ? context.ints_attr(key) : std::vector<int64_t>(size, value);
  };
  g.stride = list("strides", dims, 1), g.dilation = list("dilations", dims, 1);
  const auto pads = list("pads", 2 * dims, 0);
  const Shape& x = context.inputs[0].shape;
  bool fits = g.block.size() == dims && g.stride.size() == dims && g.dilation.size() == dims &&
              pads.size() == 2 * dims && x.size() == 3;
  int64_t total = 1, taps = 1;
  for (size_t i = 0; fits && i < dims; ++i) {
    for (int64_t v : {g.image[i], g.block[i], g.stride[i], g.dilation[i]})
      fits = fits && v >= 1 && v < (int64_t{1} << 24);
    if (!fits) break;
    g.pad.push_back(pads[i]);
    g.steps.push_back(
        (g.image[i] + pads[i] + pads[i + dims] - g.dilation[i] * (g.block[i] - 1) - 1) /
            g.stride[i] +
        1);
    fits = g.steps.back() >= 1;
    total *= g.steps.back(), taps *= g.block[i];
  }
  if (!fits || x[2] != total || x[1] % taps != 0) {
    return fail(Code::shape_mismatch,
                "{}: input {} does not hold the columns of image {} and block {}", context.label(),
                to_string(x), g.image, g.block);
  }
  return g;
}

Status columns_rule(OpContext& context) {
  const Operand& x = context.inputs[0];
  context.outputs[0].dtype = x.dtype;
  if (!x.fully_known()) return {};
  ANYNPU_ASSIGN(const Columns g, columns_of(context));
  if (!g.known) return {};
  Shape shape = {x.shape[0], x.shape[1] / element_count(g.block)};
  shape.insert(shape.end(), g.image.begin(), g.image.end());
  return set_output(context, 0, x.dtype, std::move(shape));
}

// Each pixel gathers the columns that touch it. Integers wrap around, of bools any true one counts.
template <typename W>
PlanResult plan_sums(const OpContext& context, Columns g) {
  const Shape& out = context.outputs[0].shape;
  const DType type = context.inputs[0].dtype;
  const auto load = load_block<W>(part_of(type));
  const auto store = store_block<W>(part_of(type));
  const int64_t taps = element_count(g.block), steps = element_count(g.steps),
                pixels = element_count(g.image), total = out[0] * out[1] * pixels,
                parts = parts_of(type);
  return make_plan([=, g = std::move(g)](const RunArgs& args) {
    for (int64_t i = 0; i < total; ++i) {
      std::array<W, 2> sum{}, value{};
      for (int64_t tap = 0; tap < taps; ++tap) {
        int64_t rest = i % pixels, k = tap, at = 0, place = 1;
        bool touched = true;
        for (size_t d = g.image.size(); d-- > 0;) {
          const int64_t y = rest % g.image[d] + g.pad[d] - k % g.block[d] * g.dilation[d];
          rest /= g.image[d], k /= g.block[d];
          touched = touched && y >= 0 && y % g.stride[d] == 0 && y / g.stride[d] < g.steps[d];
          at += touched ? y / g.stride[d] * place : 0;
          place *= g.steps[d];
        }
        if (!touched) continue;
        load(args.inputs[0], ((i / pixels * taps + tap) * steps + at) * parts, 1, value.data(),
             parts);
        for (size_t part = 0; part < sum.size(); ++part) sum[part] += value[part];
      }
      store(args.outputs[0], i * parts, sum.data(), parts);
    }
  });
}

PlanResult plan_columns(const OpContext& context) {
  ANYNPU_ASSIGN(Columns g, columns_of(context));
  // Whole numbers are added without sign, which wraps around as two's complement does.
  return wide_kind(part_of(context.inputs[0].dtype)) == WideKind::real
             ? plan_sums<double>(context, std::move(g))
             : plan_sums<uint64_t>(context, std::move(g));
}

}  // namespace

void register_regions(Registry& registry) {
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
               .shape = roi_rule};
  registry.add(roi);
  roi.since = 16;
  roi.attrs.push_back(
      {"coordinate_transformation_mode", AttrKind::s, std::string_view("half_pixel")});
  registry.add(roi);
  registry.add(
      OpSchema{.name = "MaxUnpool",
               .since = 9,
               .inputs = {{"X", "T"}, {"I", "I"}, {"output_shape", "I", Presence::optional}},
               .outputs = {{"output", "T"}},
               .types = {{"T", kFloats}, {"I", {DType::i64}}},
               .attrs = {{"kernel_shape", AttrKind::ints, {}, true},
                         {"pads", AttrKind::ints},
                         {"strides", AttrKind::ints}},
               .shape = unpool_rule});
  registry.add(OpSchema{.name = "Col2Im",
                        .since = 18,
                        .inputs = {{"input", "T"}, {"image_shape", "I"}, {"block_shape", "I"}},
                        .outputs = {{"output", "T"}},
                        .types = {{"T", kValues}, {"I", {DType::i64}}},
                        .attrs = {{"dilations", AttrKind::ints},
                                  {"pads", AttrKind::ints},
                                  {"strides", AttrKind::ints}},
                        .shape = columns_rule});
  registry.add(KernelDef{
      .op = "RoiAlign", .name = "reference", .types = kFloats, .create = create_plain<plan_roi>});
  registry.add(KernelDef{.op = "MaxUnpool",
                         .name = "reference",
                         .types = kFloats,
                         .create = create_late<plan_unpool, 4>});
  registry.add(KernelDef{.op = "Col2Im",
                         .name = "reference",
                         .types = kValues,
                         .create = create_late<plan_columns, 6>});
}

}  // namespace anynpu::ops
