// SPDX-License-Identifier: Apache-2.0
#include "aclnn/axis_weights.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace anynpu::aclnn {

Value apply(Recipe& r, Value x, int64_t axis, const AxisWeights& weights) {
  const AxisWeights::Taps taps = weights.taps();
  const Shape shape{static_cast<int64_t>(weights.rows.size()), taps.per_output};
  const Value index = r.constant_of(shape, taps.places);
  return r.op("WeightedAxis", {x, index, r.constant(DType::f64, shape, taps.weights)},
              {{"axis", axis}});
}

namespace {

// Tables of weights have an entry for each output and each of its taps: an argument of a few bytes
// can ask for any number of them.
void check_size(int64_t in, int64_t out, double taps_each) {
  constexpr int64_t kMostExtent = int64_t{1} << 22;
  constexpr double kMostTaps = int64_t{1} << 24;
  const double taps = static_cast<double>(out) * std::min(taps_each, static_cast<double>(in));
  if (in >= 0 && in <= kMostExtent && out >= 0 && out <= kMostExtent && taps <= kMostTaps) return;
  refuse(
      "an axis of {} elements becomes {} of {} weights each; at most {} elements and {} weights "
      "are supported",
      in, out, taps_each, kMostExtent, kMostTaps);
}

}  // namespace

AxisWeights averaged(int64_t in, int64_t out, const AverageWindow& window, bool sums) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (window.kernel < 1 || window.kernel > kMost || window.stride < 1 || window.stride > kMost ||
      window.pad < 0 || window.pad > window.kernel / 2) {
    refuse(
        "a window of {} every {} with {} elements of padding; expected a window and a stride of "
        "1 to {}, and padding of at most half a window",
        window.kernel, window.stride, window.pad, kMost);
  }
  check_size(in, out, static_cast<double>(window.kernel));
  AxisWeights weights{in, {}};
  for (int64_t o = 0; o < out; ++o) {
    const int64_t start = o * window.stride - window.pad;
    const int64_t stop = std::min(start + window.kernel, in + window.pad);
    const int64_t first = std::max<int64_t>(start, 0), last = std::min(stop, in);
    const auto count = static_cast<double>(window.count_pads ? stop - start : last - first);
    auto& row = weights.rows.emplace_back();
    for (int64_t i = first; i < last; ++i) row.emplace_back(i, sums ? 1 : 1 / count);
  }
  return weights;
}

AxisWeights averaged_adaptive(int64_t in, int64_t out) {
  check_size(in, out, static_cast<double>(in) / std::max(static_cast<double>(out), 1.0) + 2);
  AxisWeights weights{in, {}};
  for (int64_t o = 0; o < out; ++o) {
    const int64_t first = o * in / out, last = ((o + 1) * in + out - 1) / out;
    auto& row = weights.rows.emplace_back();
    for (int64_t i = first; i < last; ++i)
      row.emplace_back(i, 1 / static_cast<double>(last - first));
  }
  return weights;
}

namespace {

double cubic(double x, double a) {
  x = std::fabs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

using Taps = std::vector<std::pair<int64_t, double>>;

// Weights over all input elements that a wider window covers when the output is smaller.
Taps antialiased(int64_t in, int64_t o, double scale, bool is_cubic) {
  const double support = (is_cubic ? 2 : 1) * std::max(scale, 1.0);
  const double stretch = scale >= 1 ? 1 / scale : 1,
               centre = scale * (static_cast<double>(o) + 0.5);
  const auto first = std::max<int64_t>(static_cast<int64_t>(centre - support + 0.5), 0);
  const auto last = std::min<int64_t>(static_cast<int64_t>(centre + support + 0.5), in);
  Taps row;
  double total = 0;
  for (int64_t i = first; i < last; ++i) {
    const double x = (static_cast<double>(i) - centre + 0.5) * stretch;
    const double w = is_cubic ? cubic(x, -0.5) : std::fmax(0, 1 - std::fabs(x));
    row.emplace_back(i, w);
    total += w;
  }
  for (auto& tap : row) tap.second /= total != 0 ? total : 1;
  return row;
}

}  // namespace

AxisWeights interpolated(int64_t in, int64_t out, Interpolation kind, bool align_corners,
                         double given) {
  AxisWeights weights{in, {}};
  if (in < 1) refuse("an axis without elements is interpolated");
  const bool nearest = kind == Interpolation::nearest || kind == Interpolation::nearest_exact;
  // In float32, as torch computes it for float32 tensors.
  float scale = given > 0 ? static_cast<float>(1.0 / given)
                          : static_cast<float>(in) / static_cast<float>(out);
  if (align_corners && !nearest) {
    scale = out > 1 ? static_cast<float>(in - 1) / static_cast<float>(out - 1) : 0;
  }
  check_size(in, out, 4 * std::fmax(static_cast<double>(scale), 1) + 2);
  for (int64_t o = 0; o < out; ++o) {
    Taps& row = weights.rows.emplace_back();
    const auto at = static_cast<float>(o);
    if (nearest) {
      const float place = kind == Interpolation::nearest ? at * scale : (at + 0.5f) * scale;
      row = {{std::min<int64_t>(static_cast<int64_t>(std::floor(place)), in - 1), 1.0}};
      continue;
    }
    if (kind == Interpolation::linear_antialiased || kind == Interpolation::cubic_antialiased) {
      row =
          antialiased(in, o, static_cast<double>(scale), kind == Interpolation::cubic_antialiased);
      continue;
    }
    float place = align_corners ? scale * at : scale * (at + 0.5f) - 0.5f;
    if (kind == Interpolation::linear) {
      place = std::max(place, 0.0f);
      const auto low = std::min<int64_t>(static_cast<int64_t>(place), in - 1);
      const double part = std::min(std::max(place - static_cast<float>(low), 0.0f), 1.0f);
      row = {{low, 1 - part}, {std::min(low + 1, in - 1), part}};
      continue;
    }
    const auto low = static_cast<int64_t>(std::floor(place));
    const double part = static_cast<double>(place) - static_cast<double>(low);
    for (int64_t t = -1; t <= 2; ++t) {
      row.emplace_back(std::clamp<int64_t>(low + t, 0, in - 1),
                       cubic(part - static_cast<double>(t), -0.75));
    }
  }
  return weights;
}

}  // namespace anynpu::aclnn
