// SPDX-License-Identifier: Apache-2.0
// Pictures made larger or smaller, and the gradients. Positions and weights are those of torch,
// with its single precision, so that elements on a border fall on the same side.
#include <algorithm>
#include <cmath>

#include "aclnn/arithmetic.h"
#include "aclnn/axis_map.h"

namespace anynpu::aclnn {

namespace upsample {

namespace {

enum Way : int64_t { kNearest, kNearestExact, kLinear, kCubic, kLinearSmooth, kCubicSmooth };

struct Axis {
  int64_t inputs, outputs;
  bool align;
  double scale;  // 0: by the extents
};

float step_of(const Axis& axis) {
  if (axis.align) {
    return axis.outputs > 1 ? static_cast<float>(axis.inputs - 1) / static_cast<float>(axis.outputs - 1)
                            : 0.0f;
  }
  if (axis.scale > 0) return static_cast<float>(1.0 / axis.scale);
  return static_cast<float>(axis.inputs) / static_cast<float>(axis.outputs);
}

AxisIndex nearest(const Axis& axis, bool exact) {
  const float step = step_of(axis);
  AxisIndex index;
  for (int64_t o = 0; o < axis.outputs; ++o) {
    const float at = (static_cast<float>(o) + (exact ? 0.5f : 0.0f)) * step;
    index.push_back(std::min(static_cast<int64_t>(std::floor(at)), axis.inputs - 1));
  }
  return index;
}

float source(const Axis& axis, float step, int64_t output, bool cubic) {
  if (axis.align) return step * static_cast<float>(output);
  const float at = step * (static_cast<float>(output) + 0.5f) - 0.5f;
  return cubic || at > 0 ? at : 0.0f;
}

AxisMap linear(const Axis& axis) {
  AxisMap map(axis.inputs, axis.outputs);
  const float step = step_of(axis);
  for (int64_t o = 0; o < axis.outputs; ++o) {
    const float at = source(axis, step, o, false);
    const int64_t low = std::min(static_cast<int64_t>(at), axis.inputs - 1);
    const int64_t high = std::min(low + 1, axis.inputs - 1);
    const double part = std::clamp(static_cast<double>(at) - static_cast<double>(low), 0.0, 1.0);
    map.at(o, low) += 1 - part;
    map.at(o, high) += part;
  }
  return map;
}

double cubic_weight(double x, double a) {
  x = std::fabs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

AxisMap cubic(const Axis& axis) {
  AxisMap map(axis.inputs, axis.outputs);
  const float step = step_of(axis);
  for (int64_t o = 0; o < axis.outputs; ++o) {
    const float at = source(axis, step, o, true);
    const auto low = static_cast<int64_t>(std::floor(at));
    for (int64_t k = -1; k <= 2; ++k) {
      const int64_t input = std::clamp<int64_t>(low + k, 0, axis.inputs - 1);
      map.at(o, input) += cubic_weight(static_cast<double>(at) - static_cast<double>(low + k), -0.75);
    }
  }
  return map;
}

// With a filter that grows as the picture shrinks.
AxisMap smooth(const Axis& axis, bool of_cubic) {
  AxisMap map(axis.inputs, axis.outputs);
  const double step = static_cast<double>(step_of(axis)), width = of_cubic ? 2 : 1;
  const double support = step >= 1 ? width * step : width, shrink = step >= 1 ? 1 / step : 1;
  for (int64_t o = 0; o < axis.outputs; ++o) {
    const double centre = step * (static_cast<double>(o) + 0.5);
    const auto low = std::max<int64_t>(static_cast<int64_t>(centre - support + 0.5), 0);
    const auto high = std::min<int64_t>(static_cast<int64_t>(centre + support + 0.5), axis.inputs);
    double total = 0;
    for (int64_t i = low; i < high; ++i) {
      const double x = std::fabs((static_cast<double>(i) - centre + 0.5) * shrink);
      const double weight = of_cubic ? cubic_weight(x, -0.5) : std::max(1 - x, 0.0);
      map.at(o, i) = weight;
      total += weight;
    }
    for (int64_t i = low; i < high && total != 0; ++i) map.at(o, i) /= total;
  }
  return map;
}

AxisMap map_for(const Axis& axis, int64_t way) {
  switch (way) {
    case kLinear: return linear(axis);
    case kCubic: return cubic(axis);
    case kLinearSmooth: return smooth(axis, false);
    case kCubicSmooth: return smooth(axis, true);
    default: return map_of(nearest(axis, way == kNearestExact), axis.inputs);
  }
}

// Names of the scales by number of axes, as headers have them.
double scale_of(Recipe& r, size_t axes, size_t axis) {
  static const char* const kNames[] = {"scalesD", "scalesH", "scalesW"};
  if (axes == 1) return r.given("scales") ? r.real("scales") : r.given("scaleL") ? r.real("scaleL") : 0;
  const char* name = kNames[3 - axes + axis];
  return r.given(name) ? r.real(name) : 0;
}

std::vector<Axis> axes_of(Recipe& r, const Shape& inputs, const Shape& outputs) {
  const size_t rank = inputs.size(), axes = rank - 2;
  if (rank < 3 || outputs.size() != rank) {
    refuse("the tensors have {} and {} axes; expected 3 to 5 of both", rank, outputs.size());
  }
  std::vector<Axis> list;
  for (size_t i = 0; i < axes; ++i) {
    const bool align = r.given("alignCorners") && r.flag("alignCorners");
    list.push_back({inputs[2 + i], outputs[2 + i], align, scale_of(r, axes, i)});
  }
  return list;
}

// The way is the row's number.
void forward(Recipe& r) {
  const int64_t way = r.row().number;
  const Value x = r.in(0);
  const auto axes = axes_of(r, r.shape(0), r.shape("out"));
  if (way == kNearest || way == kNearestExact) {
    std::vector<AxisIndex> index;
    for (const Axis& axis : axes) index.push_back(nearest(axis, way == kNearestExact));
    return r.out("out", gather_axes(r, x, index));
  }
  std::vector<AxisMap> maps;
  for (const Axis& axis : axes) maps.push_back(map_for(axis, way));
  r.out("out", map_axes(r, r.cast(x, computed_in(floating(r.dtype(0)))), maps));
}

// The last parameter is the gradient of the input.
void backward(Recipe& r) {
  const Value g = r.cast(r.in(0), computed_in(floating(r.dtype(0))));
  const char* out = r.given("gradInput") ? "gradInput" : "out";
  std::vector<AxisMap> maps;
  for (const Axis& axis : axes_of(r, r.shape(out), r.shape(0))) {
    maps.push_back(map_for(axis, r.row().number).transposed());
  }
  r.out(out, map_axes(r, g, maps));
}

const Row kRows[] = {
    {"aclnnUpsampleNearest1d", forward, "", false, kNearest},
    {"aclnnUpsampleNearest1dV2", forward, "", false, kNearest},
    {"aclnnUpsampleNearest2d", forward, "", false, kNearest},
    {"aclnnUpsampleNearest2dV2", forward, "", false, kNearest},
    {"aclnnUpsampleNearest3d", forward, "", false, kNearest},
    {"aclnnUpsampleNearestExact1d", forward, "", false, kNearestExact},
    {"aclnnUpsampleNearestExact2d", forward, "", false, kNearestExact},
    {"aclnnUpsampleNearestExact3d", forward, "", false, kNearestExact},
    {"aclnnUpsampleLinear1d", forward, "", false, kLinear},
    {"aclnnUpsampleBilinear2d", forward, "", false, kLinear},
    {"aclnnUpsampleTrilinear3d", forward, "", false, kLinear},
    {"aclnnUpsampleBicubic2d", forward, "", false, kCubic},
    {"aclnnUpsampleBilinear2dAA", forward, "", false, kLinearSmooth},
    {"aclnnUpsampleBicubic2dAA", forward, "", false, kCubicSmooth},
    {"aclnnUpsampleNearest1dBackward", backward, "", false, kNearest},
    {"aclnnUpsampleNearest2dBackward", backward, "", false, kNearest},
    {"aclnnUpsampleNearest3dBackward", backward, "", false, kNearest},
    {"aclnnUpsampleNearestExact1dBackward", backward, "", false, kNearestExact},
    {"aclnnUpsampleNearestExact2dBackward", backward, "", false, kNearestExact},
    {"aclnnUpsampleNearestExact3dBackward", backward, "", false, kNearestExact},
    {"aclnnUpsampleLinear1dBackward", backward, "", false, kLinear},
    {"aclnnUpsampleBilinear2dBackward", backward, "", false, kLinear},
    {"aclnnUpsampleBilinear2dBackwardV2", backward, "", false, kLinear},
    {"aclnnUpsampleTrilinear3dBackward", backward, "", false, kLinear},
    {"aclnnUpsampleBicubic2dBackward", backward, "", false, kCubic},
    {"aclnnUpsampleBilinear2dAABackward", backward, "", false, kLinearSmooth},
    {"aclnnUpsampleBicubic2dAAGrad", backward, "", false, kCubicSmooth},
};

}  // namespace

}  // namespace upsample

std::span<const Row> upsample_rows() { return upsample::kRows; }

}  // namespace anynpu::aclnn
