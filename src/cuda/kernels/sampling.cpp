// SPDX-License-Identifier: Apache-2.0
// GridSample, AffineGrid, RoiAlign and DeformConv: pictures that are read between their pixels.
#include "cuda/kernels/item_kernel.h"
#include "cuda/kernels/jit_kernel.h"
#include "cuda/kernels/kernels.h"
#include "ops/resize/grid_taps.h"
#include "ops/window.h"

namespace anynpu::device::cuda {

namespace {

using ops::OpContext;
using ops::resize::Edge;
using ops::resize::Mode;

std::string number(int64_t value) { return format("{}", value); }
std::string flag(bool value) { return value ? "true" : "false"; }

// ---- GridSample: the rules of ops/resize/grid_taps.cpp. Places are computed in double.

constexpr const char* kTaps = R"(
#define ALIGN @align
#define EDGE @edge  // 0 zeros, 1 border, 2 reflection
#define TAPS @taps  // per axis
__device__ double reflected(double at, double low, double high) {
  const double range = high - low;
  if (range <= 0) return 0;
  double distance = fabs(at - low);
  const double turns = floor(distance / range);
  distance -= turns * range;
  return fmod(turns, 2.0) == 0 ? low + distance : high - distance;
}
__device__ double clamped(double v, double low, double high) { return v < low ? low : v > high ? high : v; }
__device__ double cubic_weight(double d) {
  const double a = -0.75;
  return d <= 1 ? ((a + 2) * d - (a + 3)) * d * d + 1 : ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
}
// The pixel of a tap, or -1.
__device__ i64 pixel(double v, i64 extent) {
  const double last = (double)(extent - 1), low = ALIGN ? 0 : -0.5, high = ALIGN ? last : last + 0.5;
  if (EDGE == 1) v = clamped(v, 0, last);
  if (EDGE == 2) v = clamped(rint(reflected(v, low, high)), 0, last);
  return v >= 0 && v <= last ? (i64)v : -1;
}
__device__ void taps_at(double value, i64 extent, i64* index, double* weight) {
  const double size = (double)extent, last = size - 1;
  const double low = ALIGN ? 0 : -0.5, high = ALIGN ? last : last + 0.5;
  double at = ALIGN ? (value + 1) / 2 * (size - 1) : ((value + 1) * size - 1) / 2;
  if (TAPS == 1) at = rint((double)(float)at);
  if (TAPS != 4 && EDGE == 1) at = clamped(at, 0, last);
  if (TAPS != 4 && EDGE == 2) at = reflected(at, low, high);
  if (!(fabs(at) < 1099511627776.0)) at = -2 - size;
  if (TAPS == 1) { index[0] = pixel(at, extent); weight[0] = 1; return; }
  const double base = floor(at), t = at - base;
  for (int k = 0; k < TAPS; ++k) {
    const double offset = TAPS == 2 ? k : k - 1, d = fabs(t - offset);
    index[k] = pixel(base + offset, extent);
    weight[k] = TAPS == 2 ? 1 - d : cubic_weight(d);
  }
}
)";

constexpr const char* kGrid = R"(
  const i64 plane = i / @points, point = plane / X0[1] * @points + i % @points;
  i64 index[@dims * TAPS]; double weight[@dims * TAPS];
  for (int d = 0; d < @dims; ++d)
    taps_at((double)load(x1[point * @dims + @dims - 1 - d]), X0[d + 2], index + d * TAPS, weight + d * TAPS);
  double sum = 0;
  for (int corner = 0; corner < @corners; ++corner) {
    double w = 1; i64 at = 0; bool inside = true; int rest = corner;
    for (int d = 0; d < @dims; ++d) {
      const int k = d * TAPS + rest % TAPS; rest /= TAPS;
      inside = inside && index[k] >= 0; w *= weight[k]; at = at * X0[d + 2] + index[k];
    }
    if (inside && w != 0) @add;
  }
  @finish
)";

ops::PlanResult plan_grid(const OpContext& context) {
  const Shape &x = context.inputs[0].shape, &out = context.outputs[0].shape;
  ANYNPU_ASSIGN(const Mode mode, ops::resize::mode_of(context));
  ANYNPU_ASSIGN(const Edge edge, ops::resize::edge_of(context));
  const int64_t dims = static_cast<int64_t>(x.size()) - 2;
  const int64_t taps = mode == Mode::nearest ? 1 : mode == Mode::linear ? 2 : 4;
  int64_t corners = 1;
  for (int64_t d = 0; d < dims; ++d) corners *= taps;
  const bool copies = taps == 1, truth = context.inputs[0].dtype == DType::boolean;
  ItemKernel kernel;
  kernel.items = static_cast<size_t>(element_count(out));
  kernel.before = filled(kTaps, {{"align", number(context.int_attr("align_corners"))},
                                 {"edge", number(edge == Edge::zeros    ? 0
                                                 : edge == Edge::border ? 1
                                                                        : 2)},
                                 {"taps", number(taps)}});
  kernel.body =
      filled(kGrid, {{"points", number(element_count(Shape(out.begin() + 2, out.end())))},
                     {"dims", number(dims)},
                     {"corners", number(corners)},
                     {"add", copies ? "{ y0[i] = x0[plane * SX0[1] + at]; sum = 1; }"
                                    : format("sum += {} * (double)load(x0[plane * SX0[1] + at])",
                                             truth ? "fabs(w)" : "w")},
                     {"finish", copies ? "if (sum == 0) { R0 none = {}; y0[i] = none; }"
                                       : "store(y0[i], sum);"}});
  return plan_items(context, kernel);
}

Status can_run_grid(const OpContext& context) {
  if (context.inputs[0].rank() > 5) return fail(Code::unsupported_shape, "more than three axes");
  return can_run_items(context);
}

// ---- AffineGrid: the output states the size.

constexpr const char* kAffine = R"(
  const int dims = @dims; const int row = i % dims;
  i64 rest = i / dims; double from[@dims + 1]; from[dims] = 1;
  for (int d = dims - 1; d >= 0; --d) {
    const double extent = (double)Y0[d + 1], k = (double)(rest % Y0[d + 1]); rest /= Y0[d + 1];
    from[dims - 1 - d] = $align_corners ? (extent == 1 ? -1.0 : 2 * k / (extent - 1) - 1) : (2 * k + 1) / extent - 1;
  }
  double sum = 0;
  for (int k = 0; k <= dims; ++k) sum += (double)load(x0[(rest * dims + row) * (dims + 1) + k]) * from[k];
  store(y0[i], sum);
)";

ops::PlanResult plan_affine(const OpContext& context) {
  const Shape& out = context.outputs[0].shape;
  ItemKernel kernel;
  kernel.items = static_cast<size_t>(element_count(out));
  kernel.body = filled(kAffine, {{"dims", number(static_cast<int64_t>(out.size()) - 2)}});
  return plan_items(context, kernel);
}

// ---- RoiAlign

constexpr const char* kRoi = R"(
  const i64 column = i % Y0[3], line = i / Y0[3] % Y0[2], c = i / (Y0[2] * Y0[3]) % Y0[1], r = i / SY0[0];
  const i64 b = x2[r];
  if (b < 0 || b >= X0[0]) { fault(board, number, b, X0[0]); store(y0[i], 0.0); continue; }
  double roi[4];
  for (int k = 0; k < 4; ++k) roi[k] = (double)load(x1[r * 4 + k]) * @scale - @shift;
  double width = roi[2] - roi[0], height = roi[3] - roi[1];
  if (@shift == 0) { width = fmax(width, 1.0); height = fmax(height, 1.0); }
  const double bin_h = height / Y0[2], bin_w = width / Y0[3];
  const i64 most = 1 << 12;
  i64 rows = $sampling_ratio, columns = $sampling_ratio;
  if (rows <= 0) { rows = (i64)ceil(bin_h); columns = (i64)ceil(bin_w);
    rows = rows < 0 ? 0 : rows > most ? most : rows; columns = columns < 0 ? 0 : columns > most ? most : columns; }
  const T0* from = x0 + (b * X0[1] + c) * SX0[1];
  double value = 0;
  for (i64 s = 0; s < rows * columns; ++s) {
    double v = roi[1] + (line + (s / columns + 0.5) / rows) * bin_h, u = roi[0] + (column + (s % columns + 0.5) / columns) * bin_w;
    double parts[4] = {0, 0, 0, 0};
    if (v >= -1 && v <= X0[2] && u >= -1 && u <= X0[3]) {
      v = fmax(v, 0.0); u = fmax(u, 0.0);
      i64 v0 = (i64)v, u0 = (i64)u, v1 = v0 + 1, u1 = u0 + 1;
      if (v0 >= X0[2] - 1) { v0 = v1 = X0[2] - 1; v = v0; }
      if (u0 >= X0[3] - 1) { u0 = u1 = X0[3] - 1; u = u0; }
      const double fv = v - v0, fu = u - u0;
      parts[0] = (1 - fv) * (1 - fu) * load(from[v0 * X0[3] + u0]); parts[1] = (1 - fv) * fu * load(from[v0 * X0[3] + u1]);
      parts[2] = fv * (1 - fu) * load(from[v1 * X0[3] + u0]); parts[3] = fv * fu * load(from[v1 * X0[3] + u1]);
    }
    if (@largest) {
      const double best = fmax(fmax(parts[0], parts[1]), fmax(parts[2], parts[3]));
      value = s > 0 ? fmax(value, best) : best;
    } else { value += parts[0] + parts[1] + parts[2] + parts[3]; }
  }
  store(y0[i], @largest ? value : value / (rows * columns > 0 ? rows * columns : 1));
)";

ops::PlanResult plan_roi(const OpContext& context) {
  const bool half = context.schema->since >= 16 &&
                    context.string_attr("coordinate_transformation_mode") == "half_pixel";
  ItemKernel kernel;
  kernel.items = static_cast<size_t>(element_count(context.outputs[0].shape));
  kernel.body =
      filled(kRoi, {{"scale", literal(static_cast<double>(context.float_attr("spatial_scale")))},
                    {"shift", half ? "0.5" : "0.0"},
                    {"largest", flag(context.string_attr("mode") == "max")}});
  return plan_items(context, kernel);
}

// ---- DeformConv of two axes

constexpr const char* kDeform = R"(
  const i64 pixels = Y0[2] * Y0[3], pixel = i % pixels, m = i / pixels % Y0[1], n = i / SY0[0];
  const i64 in = X1[1], group = m / (Y0[1] / @groups), per_offset = X0[1] / @offset_groups;
  double sum = @bias;
  for (i64 k = 0; k < in; ++k) {
    const i64 c = group * in + k, part = c / per_offset;
    const T0* from = x0 + (n * X0[1] + c) * SX0[1];
    for (int tap = 0; tap < @kh * @kw; ++tap) {
      const i64 at = (n * @offset_groups + part) * (@kh * @kw) + tap;
      const double v = (double)(pixel / Y0[3] * @sh - @ph + tap / @kw * @dh) + (double)load(x2[2 * at * pixels + pixel]);
      const double u = (double)(pixel % Y0[3] * @sw - @pw + tap % @kw * @dw) + (double)load(x2[(2 * at + 1) * pixels + pixel]);
      if (!(v > -1 && v < X0[2] && u > -1 && u < X0[3])) continue;
      const i64 v0 = (i64)floor(v), u0 = (i64)floor(u); const double fv = v - v0, fu = u - u0;
      double value = 0;
      if (v0 >= 0 && u0 >= 0) value += (1 - fv) * (1 - fu) * load(from[v0 * X0[3] + u0]);
      if (v0 >= 0 && u0 + 1 < X0[3]) value += (1 - fv) * fu * load(from[v0 * X0[3] + u0 + 1]);
      if (v0 + 1 < X0[2] && u0 >= 0) value += fv * (1 - fu) * load(from[(v0 + 1) * X0[3] + u0]);
      if (v0 + 1 < X0[2] && u0 + 1 < X0[3]) value += fv * fu * load(from[(v0 + 1) * X0[3] + u0 + 1]);
      sum += value * (double)load(x1[(m * in + k) * (@kh * @kw) + tap]) * @mask;
    }
  }
  store(y0[i], sum);
)";

ops::PlanResult plan_deform(const OpContext& context) {
  const Shape &x = context.inputs[0].shape, &w = context.inputs[1].shape;
  ANYNPU_ASSIGN(const ops::Window window,
                ops::window_of(context, {x.begin() + 2, x.end()}, {w.begin() + 2, w.end()}));
  ItemKernel kernel;
  kernel.items = static_cast<size_t>(element_count(context.outputs[0].shape));
  kernel.body = filled(
      kDeform, {{"groups", number(context.int_attr("group"))},
                {"offset_groups", number(context.int_attr("offset_group"))},
                {"kh", number(window.kernel[0])},
                {"kw", number(window.kernel[1])},
                {"sh", number(window.stride[0])},
                {"sw", number(window.stride[1])},
                {"ph", number(window.pad_begin[0])},
                {"pw", number(window.pad_begin[1])},
                {"dh", number(window.dilation[0])},
                {"dw", number(window.dilation[1])},
                {"bias", context.has_input(3) ? "(double)load(x3[m])" : "0"},
                {"mask", context.has_input(4) ? "(double)load(x4[at * pixels + pixel])" : "1"}});
  return plan_items(context, kernel);
}

Status can_run_deform(const OpContext& context) {
  if (context.inputs[0].rank() != 4) return fail(Code::unsupported_shape, "other than two axes");
  return can_run_items(context);
}

}  // namespace

void add_sampling(std::vector<ops::KernelDef>& kernels) {
  const ops::DTypeSet all = ops::kNumbers | ops::DTypeSet{DType::boolean};
  kernels.push_back(item_kernel("GridSample", all, ops::create_plain<plan_grid>, {}, can_run_grid));
  kernels.push_back(item_kernel("AffineGrid", ops::kFloats, ops::create_plain<plan_affine>));
  kernels.push_back(item_kernel("RoiAlign", ops::kFloats, ops::create_plain<plan_roi>));
  kernels.push_back(
      item_kernel("DeformConv", ops::kFloats, ops::create_plain<plan_deform>, {}, can_run_deform));
}

}  // namespace anynpu::device::cuda
