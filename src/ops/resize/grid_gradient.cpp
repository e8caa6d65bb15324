// SPDX-License-Identifier: Apache-2.0
// GridSampleGrad (domain anynpu): the gradients of GridSample by its picture and by its grid, from
// the gradient of its result.
#include <algorithm>
#include <cstring>

#include "ops/parallel.h"
#include "ops/registry.h"
#include "ops/resize/grid_taps.h"
#include "ops/resize/resize.h"
#include "ops/runtime_params.h"

namespace anynpu::ops::resize {

namespace grid_gradient {

namespace {

constexpr DTypeSet kTypes{DType::f32, DType::f64};

Status rule(OpContext& context) {
  const Operand &g = context.inputs[0], &x = context.inputs[1], &grid = context.inputs[2];
  ANYNPU_TRY(mode_of(context).status());
  ANYNPU_TRY(edge_of(context).status());
  for (Operand& output : context.outputs) output.dtype = x.dtype;
  if (!g.fully_known() || !x.fully_known() || !grid.fully_known()) return {};
  bool fits = x.rank() >= 3 && x.rank() <= static_cast<int64_t>(kMostDims) + 2 &&
              grid.rank() == x.rank() && grid.shape[0] == x.shape[0] &&
              grid.shape.back() == x.rank() - 2;
  if (fits) {
    Shape sampled = {x.shape[0], x.shape[1]};
    sampled.insert(sampled.end(), grid.shape.begin() + 1, grid.shape.end() - 1);
    fits = g.shape == sampled && (element_count(x.shape) != 0 || element_count(sampled) == 0);
  }
  if (!fits) {
    return fail(Code::shape_mismatch,
                "{}: gradient {}, input {} and grid {}, expected the shapes of a GridSample",
                context.label(), to_string(g.shape), to_string(x.shape), to_string(grid.shape));
  }
  ANYNPU_TRY(set_output(context, 0, x.dtype, x.shape));
  return set_output(context, 1, x.dtype, grid.shape);
}

struct Setup {
  Sampling sampling;
  int64_t batch, channels, in_size, points;
};

// One point: what its gradient adds to the picture and to the coordinates of the point.
template <typename T>
void add_point(const Setup& s, const RunArgs& args, int64_t n, int64_t p) {
  const auto dims = s.sampling.in.size();
  const int64_t point = n * s.points + p;
  std::array<AxisTaps, kMostDims> axes;
  size_t corners = 1;
  for (size_t d = 0; d < dims; ++d) {
    axes[d] = s.sampling.axis(args.inputs[2], point, d);
    corners *= axes[d].count;
  }
  std::array<double, kMostDims> moved{};
  for (size_t corner = 0; corner < corners; ++corner) {
    std::array<size_t, kMostDims> k{};
    double weight = 1;
    int64_t at = 0;
    bool inside = true;
    for (size_t d = 0, rest = corner; d < dims; ++d) {
      k[d] = rest % axes[d].count;
      rest /= axes[d].count;
      inside = inside && axes[d].index[k[d]] >= 0;
      weight *= axes[d].weight[k[d]];
      at = at * s.sampling.in[d] + axes[d].index[k[d]];
    }
    if (!inside) continue;
    double product = 0;
    for (int64_t c = 0; c < s.channels; ++c) {
      const int64_t plane = n * s.channels + c;
      const auto g = static_cast<double>(input_of<T>(args, 0)[plane * s.points + p]);
      product += g * static_cast<double>(input_of<T>(args, 1)[plane * s.in_size + at]);
      output_of<T>(args, 0)[plane * s.in_size + at] += static_cast<T>(g * weight);
    }
    for (size_t d = 0; d < dims; ++d) {
      double slope = axes[d].slope[k[d]];
      for (size_t other = 0; other < dims; ++other)
        if (other != d) slope *= axes[other].weight[k[other]];
      moved[d] += slope * product;
    }
  }
  for (size_t d = 0; d < dims; ++d) {
    output_of<T>(args, 1)[point * static_cast<int64_t>(dims) + static_cast<int64_t>(dims - 1 - d)] =
        static_cast<T>(moved[d]);
  }
}

template <typename T>
std::unique_ptr<KernelPlan> plan_of(Setup s) {
  return make_plan([s = std::move(s)](const RunArgs& args) {
    const int64_t picture = s.channels * s.in_size;
    parallel(static_cast<size_t>(s.batch), 1, [&](size_t begin, size_t end) {
      for (auto n = static_cast<int64_t>(begin); n < static_cast<int64_t>(end); ++n) {
        std::fill_n(output_of<T>(args, 0) + n * picture, picture, T{0});
        for (int64_t p = 0; p < s.points; ++p) add_point<T>(s, args, n, p);
      }
    });
  });
}

PlanResult plan(const OpContext& context) {
  const Shape &g = context.inputs[0].shape, &x = context.inputs[1].shape;
  ANYNPU_ASSIGN(const Mode mode, mode_of(context));
  ANYNPU_ASSIGN(const Edge edge, edge_of(context));
  Setup s{{mode,
           edge,
           context.int_attr("align_corners") != 0,
           mode == Mode::nearest,
           {x.begin() + 2, x.end()},
           load_block<double>(context.inputs[2].dtype)},
          x[0],
          x[1],
          element_count(Shape(x.begin() + 2, x.end())),
          element_count(Shape(g.begin() + 2, g.end()))};
  return context.inputs[0].dtype == DType::f32 ? plan_of<float>(std::move(s))
                                               : plan_of<double>(std::move(s));
}

}  // namespace

}  // namespace grid_gradient

void register_grid_gradient(Registry& registry) {
  registry.add(OpSchema{.name = "GridSampleGrad",
                        .domain = "anynpu",
                        .since = 1,
                        .inputs = {{"gradient", "T"}, {"X", "T"}, {"grid", "T"}},
                        .outputs = {{"dX", "T"}, {"dgrid", "T"}},
                        .types = {{"T", grid_gradient::kTypes}},
                        .attrs = {{"align_corners", AttrKind::i, int64_t{0}},
                                  {"mode", AttrKind::s, std::string_view("linear")},
                                  {"padding_mode", AttrKind::s, std::string_view("zeros")}},
                        .traits = OpTraits::general(),
                        .shape = grid_gradient::rule});
  registry.add(KernelDef{.op = "GridSampleGrad",
                         .name = "reference",
                         .domain = "anynpu",
                         .types = grid_gradient::kTypes,
                         .create = create_plain<grid_gradient::plan>});
}

}  // namespace anynpu::ops::resize
