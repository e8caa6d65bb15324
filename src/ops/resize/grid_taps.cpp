// SPDX-License-Identifier: Apache-2.0
#include "ops/resize/grid_taps.h"

#include <algorithm>
#include <cmath>

namespace anynpu::ops::resize {

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

namespace {

// Mirrored at the edges until it lies between them; `sign` is the direction it then moves in.
double reflected(double at, double low, double high, double& sign) {
  const double range = high - low;
  sign = 0;
  if (range <= 0) return 0;
  double distance = std::fabs(at - low);
  sign = at < low ? -1 : 1;
  const double turns = std::floor(distance / range);
  distance -= turns * range;
  if (std::fmod(turns, 2) == 0) return low + distance;
  sign = -sign;
  return high - distance;
}

constexpr double kCubic = -0.75;

double cubic_weight(double d) {
  constexpr double a = kCubic;
  return d <= 1 ? ((a + 2) * d - (a + 3)) * d * d + 1 : ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
}
double cubic_slope(double d) {
  constexpr double a = kCubic;
  return d <= 1 ? (3 * (a + 2) * d - 2 * (a + 3)) * d : (3 * a * d - 10 * a) * d + 8 * a;
}

// `slope`: how fast `at` moves with the coordinate of the grid.
AxisTaps taps_at(double at, double slope, int64_t extent, Mode mode, Edge edge,
                 bool align_corners) {
  const auto last = static_cast<double>(extent - 1);
  const double low = align_corners ? 0 : -0.5, high = align_corners ? last : last + 0.5;
  double sign = 1;
  const auto place = [&](double index) -> int64_t {
    double unused = 1;
    if (edge == Edge::border) index = std::clamp(index, 0.0, last);
    if (edge == Edge::reflection)
      index = std::clamp(std::nearbyint(reflected(index, low, high, unused)), 0.0, last);
    return index >= 0 && index <= last ? static_cast<int64_t>(index) : -1;
  };
  if (mode == Mode::nearest) at = std::nearbyint(at);
  // The coordinate itself is moved inside first, except for cubic, whose taps are.
  if (mode != Mode::cubic && edge == Edge::border) {
    if (at <= 0 || at >= last) sign = 0;
    at = std::clamp(at, 0.0, last);
  }
  if (mode != Mode::cubic && edge == Edge::reflection) {
    at = reflected(at, low, high, sign);
    if (at <= 0 || at >= last) sign = 0;
  }
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
    const double direction = t < offset ? -1 : 1;
    if (mode == Mode::linear) {
      taps.weight[k] = 1 - d;
      taps.slope[k] = (k == 0 ? -1 : 1) * sign * slope;
    } else {
      taps.weight[k] = cubic_weight(d);
      taps.slope[k] = cubic_slope(d) * direction * slope;
    }
  }
  return taps;
}

}  // namespace

AxisTaps Sampling::axis(const std::byte* grid, int64_t point, size_t dimension) const {
  const auto dims = static_cast<int64_t>(in.size());
  double value = 0;
  load_grid(grid, point * dims + dims - 1 - static_cast<int64_t>(dimension), 0, &value, 1);
  const int64_t length = in[dimension];
  const auto extent = static_cast<double>(length);
  double at = align_corners ? (value + 1) / 2 * (extent - 1) : ((value + 1) * extent - 1) / 2;
  if (round_to_float) at = static_cast<double>(static_cast<float>(at));
  return taps_at(at, (align_corners ? extent - 1 : extent) / 2, length, mode, edge, align_corners);
}

PointTaps Sampling::at_point(const std::byte* grid, int64_t point) const {
  std::array<AxisTaps, kMostDims> axes;
  size_t corners_of_point = 1;
  for (size_t d = 0; d < in.size(); ++d) {
    axes[d] = axis(grid, point, d);
    corners_of_point *= axes[d].count;
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

}  // namespace anynpu::ops::resize
