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
#include "ops/resize/resize.h"
#include "ops/runtime_params.h"

namespace anynpu::ops::resize {

namespace {

constexpr size_t kMostDims = 3;
constexpr size_t kMostTaps = 4;

enum class Edge : uint8_t { zeros, border, reflection };
enum class Mode : uint8_t { nearest, linear, cubic };

Result<Mode> mode_of(const OpContext& context) {
  const std::string text = context.string_attr("mode");
  if (text == "nearest") return Mode::nearest;
  if (text == "linear" || text == "bilinear") return Mode::linear;
  if (text == "cubic" || text == "bicubic") return Mode::cubic;
  return fail(Code::invalid_argument, "{}: mode is '{}', expected nearest, linear or cubic",
              context.label(), text);
}
Result<Edge> edge_of(const OpContext& context) {
  const std::string text = context.string_attr("padding_mode");
  if (text == "zeros") return Edge::zeros;
  if (text == "border") return Edge::border;
  if (text == "reflection") return Edge::reflection;
  return fail(Code::invalid_argument,
              "{}: padding_mode is '{}', expected zeros, border or reflection", context.label(),
              text);
}

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

double reflected(double at, double low, double high) {
  const double range = high - low;
  if (range <= 0) return 0;
  double distance = std::fabs(at - low);
  const double turns = std::floor(distance / range);
  distance -= turns * range;
  return std::fmod(turns, 2) == 0 ? low + distance : high - distance;
}

struct AxisTaps {
  std::array<int64_t, kMostTaps> index{};  // -1: zero
  std::array<double, kMostTaps> weight{};
  size_t count = 0;
};

AxisTaps taps_at(double at, int64_t extent, Mode mode, Edge edge, bool corners) {
  const auto last = static_cast<double>(extent - 1);
  const double low = corners ? 0 : -0.5, high = corners ? last : last + 0.5;
  const auto place = [&](double index) -> int64_t {
    if (edge == Edge::border) index = std::clamp(index, 0.0, last);
    if (edge == Edge::reflection)
      index = std::clamp(std::nearbyint(reflected(index, low, high)), 0.0, last);
    return index >= 0 && index <= last ? static_cast<int64_t>(index) : -1;
  };
  if (mode == Mode::nearest) at = std::nearbyint(at);
  // The coordinate itself is moved inside first, except for cubic, whose taps are.
  if (mode != Mode::cubic && edge == Edge::border) at = std::clamp(at, 0.0, last);
  if (mode != Mode::cubic && edge == Edge::reflection) at = reflected(at, low, high);
  AxisTaps taps;
  if (!(std::fabs(at) < 0x1p40)) at = -2 - static_cast<double>(extent);  // NaN and far away
  if (mode == Mode::nearest) {
    taps.index[0] = place(at);
    taps.weight[0] = 1;
    taps.count = 1;
    return taps;
  }
  const double base = std::floor(at), t = at - base;
  taps.count = mode == Mode::linear ? 2 : 4;
  for (size_t k = 0; k < taps.count; ++k) {
    const double offset =
        mode == Mode::linear ? static_cast<double>(k) : static_cast<double>(k) - 1;
    taps.index[k] = place(base + offset);
    const double d = std::fabs(t - offset);
    constexpr double a = -0.75;
    if (mode == Mode::linear)
      taps.weight[k] = 1 - d;
    else
      taps.weight[k] =
          d <= 1 ? ((a + 2) * d - (a + 3)) * d * d + 1 : ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
  }
  return taps;
}

// What one point of the grid reads of each plane.
struct PointTaps {
  struct Tap {
    int64_t at;
    double weight;
  };
  std::array<Tap, kMostTaps * kMostTaps * kMostTaps> taps;
  size_t count = 0;  // those of weight 0 are left out
};

struct Sampling {
  Mode mode;
  Edge edge;
  bool corners;
  // Where a hair's breadth of the coordinate decides between two elements, it is rounded to the
  // float that implementations of the operator compute with.
  bool decides;
  std::vector<int64_t> in;  // extents of a plane
  LoadBlock<double> load_grid;

  PointTaps at_point(const std::byte* grid, int64_t point) const;
};

PointTaps Sampling::at_point(const std::byte* grid, int64_t point) const {
  const auto dims = static_cast<int64_t>(in.size());
  std::array<AxisTaps, kMostDims> axes;
  size_t corners_of_point = 1;
  for (int64_t d = 0; d < dims; ++d) {
    double value = 0;  // the last grid coordinate belongs to the first spatial axis
    load_grid(grid, point * dims + dims - 1 - d, 0, &value, 1);
    const int64_t length = in[static_cast<size_t>(d)];
    const auto extent = static_cast<double>(length);
    double at = corners ? (value + 1) / 2 * (extent - 1) : ((value + 1) * extent - 1) / 2;
    if (decides) at = static_cast<double>(static_cast<float>(at));
    AxisTaps& axis = axes[static_cast<size_t>(d)];
    axis = taps_at(at, length, mode, edge, corners);
    corners_of_point *= axis.count;
  }
  PointTaps made;
  for (size_t corner = 0; corner < corners_of_point; ++corner) {
    double weight = 1;
    int64_t at = 0;
    size_t rest = corner;
    for (size_t d = 0; d < in.size(); ++d) {
      const size_t k = rest % axes[d].count;
      rest /= axes[d].count;
      weight *= axes[d].index[k] < 0 ? 0 : axes[d].weight[k];
      at = at * in[d] + std::max<int64_t>(axes[d].index[k], 0);
    }
    if (weight != 0) made.taps[made.count++] = {at, weight};
  }
  return made;
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
  registry.add(KernelDef{.op = "GridSample",
                         .name = "reference",
                         .types = kValues,
                         .create = create_plain<plan_grid>});
  registry.add(KernelDef{.op = "AffineGrid",
                         .name = "reference",
                         .types = kFloats,
                         .create = create_with_runtime_params<plan_affine, 2>});
}

}  // namespace anynpu::ops::resize
