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
#include "ops/parallel.h"
#include "ops/registry.h"
#include "tensor/element.h"

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

// Where one sample reads, and how much of each corner; nothing outside.
struct Sample {
  bool inside = false;
  int64_t at[4] = {};
  double weight[4] = {};
};

Sample sample_at(const Shape& x, double y, double z) {
  Sample sample;
  const auto height = static_cast<double>(x[2]), width = static_cast<double>(x[3]);
  if (!(y >= -1 && y <= height && z >= -1 && z <= width)) return sample;
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
    parallel_slots(static_cast<size_t>(out[0]), [&](size_t r, size_t slot) {
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
                                 .label = context.label()});
  });
  if (!plan) return no_kernel_for(context);
  plan->workspace_bytes = ThreadPool::instance().threads() *
                          static_cast<size_t>(context.outputs[0].shape[1]) * sizeof(double);
  return plan;
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
  const bool same = natural == out;  // an index is the place itself
  return make_checked_plan([=, label = context.label()](const RunArgs& args) -> Status {
    std::memset(args.outputs[0], 0, static_cast<size_t>(places) * size);
    const auto strides = strides_of(out);
    const int64_t limit = element_count(natural);
    for (int64_t i = 0; i < count; ++i) {
      int64_t index = input_of<int64_t>(args, 1)[i], to = 0;
      if (index < 0 || index >= limit) return index_failure(label, index, limit);
      if (same) to = index;
      for (size_t d = same ? 0 : natural.size(); d-- > 0;) {
        if (index % natural[d] >= out[d]) return index_failure(label, index % natural[d], out[d]);
        to += index % natural[d] * strides[d];
        index /= natural[d];
      }
      std::byte* y = args.outputs[0] + static_cast<size_t>(to) * size;
      const std::byte* value = args.inputs[0] + static_cast<size_t>(i) * size;
      if (size == sizeof(float))  // a fixed length is one instruction
        std::memcpy(y, value, sizeof(float));
      else
        std::memcpy(y, value, size);
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
  bool fits = dims > 0 && g.block.size() == dims && g.stride.size() == dims &&
              g.dilation.size() == dims && pads.size() == 2 * dims && x.size() == 3;
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

// The columns of a plane are added to its pixels, tap by tap. Integers wrap around, of bools any
// true one counts.
template <typename W>
struct ColumnSums {
  Columns g;
  int64_t planes = 0, parts = 1;
  LoadBlock<W> load = nullptr;
  StoreBlock<W> store = nullptr;

  int64_t room() const { return element_count(g.image) * parts; }

  // The columns of one tap: `at` is where they begin in the input.
  void add_tap(const std::byte* input, int64_t at, int64_t tap, W* pixels) const {
    const size_t last = g.image.size() - 1;
    const int64_t rows = element_count(g.steps) / g.steps[last];
    // Along the last axis steps [from, to) touch a pixel.
    const auto offset = [&](size_t d, int64_t k) { return k * g.dilation[d] - g.pad[d]; };
    const int64_t shift = offset(last, tap % g.block[last]), stride = g.stride[last];
    const int64_t from = shift < 0 ? (-shift + stride - 1) / stride : 0;
    const int64_t room = g.image[last] - 1 - shift;
    const int64_t to = room < 0 ? 0 : std::min(g.steps[last], room / stride + 1);
    for (int64_t row = 0; row < rows && from < to; ++row) {
      int64_t rest = row, k = tap / g.block[last], line = 0, place = 1;
      bool inside = true;
      for (size_t d = last; d-- > 0; rest /= g.steps[d], k /= g.block[d]) {
        const int64_t y = rest % g.steps[d] * g.stride[d] + offset(d, k % g.block[d]);
        inside = inside && y >= 0 && y < g.image[d];
        line += y * place;
        place *= g.image[d];
      }
      if (!inside) continue;
      W* y = pixels + (line * g.image[last] + shift) * parts;
      for (int64_t step = from; step < to;) {
        W values[kBlockLength];
        const int64_t count = std::min(to - step, kBlockLength / parts);
        load(input, at + (row * g.steps[last] + step) * parts, 1, values, count * parts);
        for (int64_t i = 0; i < count; ++i, ++step) {
          for (int64_t part = 0; part < parts; ++part)
            y[step * stride * parts + part] += values[i * parts + part];
        }
      }
    }
  }

  void operator()(const RunArgs& args) const {
    const int64_t taps = element_count(g.block), steps = element_count(g.steps);
    parallel_slots(static_cast<size_t>(planes), [&](size_t task, size_t slot) {
      const auto plane = static_cast<int64_t>(task);
      W* pixels = reinterpret_cast<W*>(args.workspace) + slot * static_cast<size_t>(room());
      std::fill_n(pixels, room(), W{});
      for (int64_t tap = 0; tap < taps; ++tap)
        add_tap(args.inputs[0], (plane * taps + tap) * steps * parts, tap, pixels);
      store(args.outputs[0], plane * room(), pixels, room());
    });
  }
};

template <typename W>
PlanResult plan_sums(const OpContext& context, Columns g) {
  const Shape& out = context.outputs[0].shape;
  const DType type = context.inputs[0].dtype;
  const ColumnSums<W> sums{std::move(g), out[0] * out[1], parts_of(type),
                           load_block<W>(part_of(type)), store_block<W>(part_of(type))};
  auto plan = make_plan(sums);
  plan->workspace_bytes =
      ThreadPool::instance().threads() * static_cast<size_t>(sums.room()) * sizeof(W);
  return plan;
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
