// SPDX-License-Identifier: Apache-2.0
// GridSample of any number of spatial dimensions: nearest, linear and cubic taps per axis, with
// zeros, border or reflection beyond the edge; and AffineGrid, which makes such grids.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "ops/data_movement/axes.h"
#include "ops/elements/wide.h"
#include "ops/parallel.h"
#include "ops/registry.h"
#include "ops/resize/grid_taps.h"
#include "ops/resize/resize.h"
#include "ops/runtime_params.h"

namespace anynpu::ops::resize {

namespace {

Status grid_rule(OpContext& context) {
  const Operand &x = context.inputs[0], &grid = context.inputs[1];
  context.outputs[0].dtype = x.dtype;
  ANYNPU_TRY(mode_of(context).status());
  ANYNPU_TRY(edge_of(context).status());
  if (!x.fully_known() || !grid.fully_known()) return {};
  const auto dims = static_cast<size_t>(x.rank() - 2);
  if (x.rank() < 3 || dims > kMostDims || grid.rank() != x.rank() || grid.shape[0] != x.shape[0] ||
      grid.shape.back() != static_cast<int64_t>(dims)) {
    return fail(Code::shape_mismatch,
                "{}: input {} with grid {}, expected N, C, spatial and N, spatial, {}",
                context.label(), to_string(x.shape), to_string(grid.shape), dims);
  }
  Shape shape = {x.shape[0], x.shape[1]};
  shape.insert(shape.end(), grid.shape.begin() + 1, grid.shape.end() - 1);
  if (element_count(x.shape) == 0 && element_count(shape) != 0) {
    return fail(Code::shape_mismatch, "{}: input {} has no elements to sample, expected some",
                context.label(), to_string(x.shape));
  }
  return set_output(context, 0, x.dtype, std::move(shape));
}

// Nearest elements are copied as they are; sums are those of the parts of an element. Of bools, any
// true one that has a weight makes the result true, as in the reference implementation.
PlanResult plan_grid(const OpContext& context) {
  const Shape &x = context.inputs[0].shape, &out = context.outputs[0].shape;
  const DType type = context.inputs[0].dtype;
  ANYNPU_ASSIGN(const Mode mode, mode_of(context));
  ANYNPU_ASSIGN(const Edge edge, edge_of(context));
  const bool any = type == DType::boolean, nearest = mode == Mode::nearest;
  const Sampling sampling{mode,
                          edge,
                          context.int_attr("align_corners") != 0,
                          any || nearest,
                          {x.begin() + 2, x.end()},
                          load_block<double>(context.inputs[1].dtype)};
  const int64_t in_size = element_count(sampling.in),
                points = element_count(Shape(out.begin() + 2, out.end()));
  const int64_t batch = x[0], channels = x[1], parts = parts_of(type);
  const size_t size = size_of(type);
  const auto load = load_block<double>(part_of(type));
  const auto store = store_block<double>(part_of(type));
  return make_plan([=](const RunArgs& args) {
    parallel(static_cast<size_t>(batch * points), 16, [&](size_t begin, size_t end) {
      for (auto p = static_cast<int64_t>(begin); p < static_cast<int64_t>(end); ++p) {
        const PointTaps point = sampling.at_point(args.inputs[1], p);
        for (int64_t c = 0; c < channels; ++c) {
          const int64_t plane = p / points * channels + c, from = plane * in_size,
                        to = plane * points + p % points;
          if (nearest) {
            std::byte* y = args.outputs[0] + static_cast<size_t>(to) * size;
            if (point.count == 0)
              std::memset(y, 0, size);
            else
              std::memcpy(y, args.inputs[0] + static_cast<size_t>(from + point.taps[0].at) * size,
                          size);
            continue;
          }
          std::array<double, 2> sum{}, value{};
          for (size_t k = 0; k < point.count; ++k) {
            const auto [at, weight] = point.taps[k];
            load(args.inputs[0], (from + at) * parts, 1, value.data(), parts);
            for (size_t i = 0; i < static_cast<size_t>(parts); ++i)
              sum[i] += (any ? std::fabs(weight) : weight) * value[i];
          }
          store(args.outputs[0], to * parts, sum.data(), parts);
        }
      }
    });
  });
}

// The four elements around a place in a plane and their weights, zero for those outside.
struct Corners {
  int32_t at[4];
  double weight[4];
};

// Bilinear sampling of float32 planes with zeros or copies of the border beyond the edge. Places
// and sums are computed in double: of large elements that cancel, little is left. Points are taken
// in groups, whose corners all channels use.
struct FloatSampling {
  static constexpr int64_t kGroup = 64;
  int64_t height = 0, width = 0, channels = 0, points = 0, batch = 0;
  bool corners = false, border = false;

  // The lower of two neighbours and the weight of the upper one.
  struct AxisPosition {
    int64_t low;
    double part;
  };
  AxisPosition position(float at, int64_t extent) const {
    const auto size = static_cast<double>(extent);
    const double unit = (static_cast<double>(at) + 1) / 2;
    double x = corners ? unit * (size - 1) : unit * size - 0.5;
    if (border) x = std::clamp(x, 0.0, size - 1);
    if (!(x > -1 && x < size)) return {-2, 0};  // NaN too
    const double low = std::floor(x);
    return {static_cast<int64_t>(low), x - low};
  }
  Corners corners_of(const float* grid) const {
    const AxisPosition across = position(grid[0], width), down = position(grid[1], height);
    Corners found{};
    for (int i = 0; i < 4; ++i) {
      const int64_t y = down.low + i / 2, x = across.low + i % 2;
      if (down.low == -2 || across.low == -2 || y < 0 || x < 0 || y >= height || x >= width)
        continue;
      const double weight =
          (i / 2 ? down.part : 1 - down.part) * (i % 2 ? across.part : 1 - across.part);
      found.at[i] = static_cast<int32_t>(y * width + x);
      found.weight[i] = weight;
    }
    return found;
  }

  void operator()(const RunArgs& args) const {
    const int64_t groups = (points + kGroup - 1) / kGroup;
    const auto least = static_cast<size_t>(1 + 4096 / (kGroup * channels + 1));
    parallel(static_cast<size_t>(batch * groups), least, [&](size_t begin, size_t end) {
      for (auto g = static_cast<int64_t>(begin); g < static_cast<int64_t>(end); ++g) {
        const int64_t n = g / groups, first = g % groups * kGroup;
        sample(args, n, first, std::min(kGroup, points - first));
      }
    });
  }
  void sample(const RunArgs& args, int64_t n, int64_t first, int64_t count) const {
    Corners found[kGroup];
    const float* grid = input_of<float>(args, 1) + (n * points + first) * 2;
    for (int64_t p = 0; p < count; ++p) found[p] = corners_of(grid + 2 * p);
    for (int64_t c = 0; c < channels; ++c) {
      const float* x = input_of<float>(args, 0) + (n * channels + c) * height * width;
      float* y = output_of<float>(args, 0) + (n * channels + c) * points + first;
      for (int64_t p = 0; p < count; ++p) {
        const Corners& four = found[p];
        // Weights of 0 may stand before infinite elements.
        double sum = 0;
        for (int i = 0; i < 4; ++i) {
          if (four.weight[i] != 0) sum += four.weight[i] * static_cast<double>(x[four.at[i]]);
        }
        y[p] = static_cast<float>(sum);
      }
    }
  }
};

Status can_run_float(const OpContext& context) {
  ANYNPU_ASSIGN(const Mode mode, mode_of(context));
  ANYNPU_ASSIGN(const Edge edge, edge_of(context));
  const Shape& x = context.inputs[0].shape;
  if (mode == Mode::linear && edge != Edge::reflection && x.size() == 4 &&
      context.inputs[1].dtype == DType::f32 && x[2] * x[3] < INT32_MAX)
    return {};
  return fail(Code::unsupported_feature,
              "takes two axes, linear interpolation, zeros or the border beyond the edge and a "
              "grid of float32");
}

PlanResult plan_float(const OpContext& context) {
  const Shape &x = context.inputs[0].shape, &out = context.outputs[0].shape;
  ANYNPU_ASSIGN(const Edge edge, edge_of(context));
  FloatSampling work;
  work.height = x[2], work.width = x[3], work.channels = x[1], work.batch = x[0];
  work.points = out[2] * out[3];
  work.corners = context.int_attr("align_corners") != 0;
  work.border = edge == Edge::border;
  if (element_count(out) == 0) work.batch = 0;
  return make_plan(work);
}

Status affine_rule(OpContext& context) {
  const Operand &theta = context.inputs[0], &size = context.inputs[1];
  context.outputs[0].dtype = theta.dtype;
  const IntegerList wanted = integers_of(size);
  if (!wanted.known || !theta.fully_known()) return {};
  const size_t dims = wanted.values.size() - 2;
  bool fits = wanted.values.size() >= 4 && dims <= kMostDims && theta.rank() == 3 &&
              theta.shape[0] == wanted.values[0] && theta.shape[1] == static_cast<int64_t>(dims) &&
              theta.shape[2] == static_cast<int64_t>(dims) + 1;
  for (int64_t extent : wanted.values) fits = fits && extent >= 0;
  if (!fits) {
    return fail(Code::shape_mismatch,
                "{}: theta {} with size {}, expected N, D, D + 1 for N, C and D extents",
                context.label(), to_string(theta.shape), wanted.values);
  }
  Shape shape = {wanted.values[0]};
  shape.insert(shape.end(), wanted.values.begin() + 2, wanted.values.end());
  shape.push_back(static_cast<int64_t>(dims));
  return set_output(context, 0, theta.dtype, std::move(shape));
}

PlanResult plan_affine(const OpContext& context) {
  const Shape out = context.outputs[0].shape;
  const size_t dims = out.size() - 2;
  const bool corners = context.int_attr("align_corners") != 0;
  const auto load = load_block<double>(context.inputs[0].dtype);
  const auto store = store_block<double>(context.outputs[0].dtype);
  return make_plan([=](const RunArgs& args) {
    const int64_t points = element_count(out) / static_cast<int64_t>(dims);
    for (int64_t p = 0; p < points; ++p) {
      std::array<double, kMostDims + 1> from{};  // x, y, (z), 1
      int64_t rest = p;
      for (size_t d = dims; d-- > 0;) {
        const auto extent = static_cast<double>(out[d + 1]);
        const auto i = static_cast<double>(rest % out[d + 1]);
        rest /= out[d + 1];
        from[dims - 1 - d] =
            corners ? (extent == 1 ? -1.0 : 2 * i / (extent - 1) - 1) : (2 * i + 1) / extent - 1;
      }
      from[dims] = 1;
      for (size_t row = 0; row < dims; ++row) {
        double sum = 0;
        for (size_t k = 0; k <= dims; ++k) {
          double theta = 0;
          load(args.inputs[0],
               (rest * static_cast<int64_t>(dims) + static_cast<int64_t>(row)) *
                       static_cast<int64_t>(dims + 1) +
                   static_cast<int64_t>(k),
               0, &theta, 1);
          sum += theta * from[k];
        }
        store(args.outputs[0], p * static_cast<int64_t>(dims) + static_cast<int64_t>(row), &sum, 1);
      }
    }
  });
}

}  // namespace

void register_grid_sample(Registry& registry) {
  register_grid_gradient(registry);
  const AttrSchema corners{"align_corners", AttrKind::i, int64_t{0}};
  OpSchema schema{.name = "GridSample",
                  .since = 16,
                  .inputs = {{"X", "T"}, {"grid", "G"}},
                  .outputs = {{"Y", "T"}},
                  .types = {{"T", kValues}, {"G", kFloats}},
                  .attrs = {corners,
                            {"mode", AttrKind::s, std::string_view("bilinear")},
                            {"padding_mode", AttrKind::s, std::string_view("zeros")}},
                  .traits = OpTraits::general().with(Strings::moved),
                  .shape = grid_rule};
  registry.add(schema);
  schema.since = 20;
  schema.attrs[1].value = std::string_view("linear");
  registry.add(schema);
  registry.add(OpSchema{.name = "AffineGrid",
                        .since = 20,
                        .inputs = {{"theta", "T"}, {"size", "I"}},
                        .outputs = {{"grid", "T"}},
                        .types = {{"T", kFloats}, {"I", {DType::i64}}},
                        .attrs = {corners},
                        .traits = OpTraits::general().with(SizedBy::parameters),
                        .shape = affine_rule});
  registry.add_kernels("GridSample",
                       {// Corners of 64 points at a time, for all channels.
                        {"bilinear", {DType::f32}, can_run_float, create_plain<plan_float>},
                        {"reference", kValues, nullptr, create_plain<plan_grid>}});
  registry.add(KernelDef{.op = "AffineGrid",
                         .name = "reference",
                         .types = kFloats,
                         .create = create_with_runtime_params<plan_affine, 2>});
}

}  // namespace anynpu::ops::resize
