// SPDX-License-Identifier: Apache-2.0
// Interpolation, padding with the tensor's own elements, and their gradients: axis by axis.
#include "aclnn/arithmetic.h"
#include "aclnn/axis_weights.h"

namespace anynpu::aclnn {

namespace {

// Padding: begin and end of the last axis, then of the one before, and so on. Gradients read the
// shape of the input from `self`.
void pad_axes(Recipe& r, AxisWeights (*weights)(int64_t, int64_t, int64_t), bool gradient) {
  const auto pads = r.ints("padding");
  const Shape self = r.shape("self");
  if (pads.size() % 2 != 0 || pads.size() / 2 > self.size()) {
    refuse("padding has {} numbers; expected two for each of at most {} axes", pads.size(),
           self.size());
  }
  const Param source = gradient ? Param("gradOutput") : Param("self");
  Value x = r.cast(r.in(source), computed_in(r.dtype(source)));
  for (size_t i = 0; i < pads.size() / 2; ++i) {
    const size_t axis = self.size() - 1 - i;
    const AxisWeights map = weights(self[axis], pads[2 * i], pads[2 * i + 1]);
    x = apply(r, x, static_cast<int64_t>(axis), gradient ? map.transposed() : map);
  }
  r.out(r.result(), x);
}

void reflection_pad(Recipe& r) { pad_axes(r, reflected, false); }
void reflection_pad_backward(Recipe& r) { pad_axes(r, reflected, true); }
void replication_pad(Recipe& r) { pad_axes(r, replicated, false); }
void replication_pad_backward(Recipe& r) { pad_axes(r, replicated, true); }

// The number: the kind of interpolation. Scales are parameters of the header's names, 0 or absent
// when the sizes decide.
double scale_of(Recipe& r, size_t axis, size_t axes) {
  static const char* const kNames[3][3] = {{"scales", "", ""},
                                           {"scalesH", "scalesW", ""},
                                           {"scalesD", "scalesH", "scalesW"}};
  const char* name = kNames[axes - 1][axis];
  if (r.has_parameter(name)) return r.real(name);
  return axes == 1 && r.has_parameter("scaleL") ? r.real("scaleL") : 0;
}

void interpolate(Recipe& r) {
  const auto sizes = r.ints("outputSize");
  const size_t rank = r.rank(0), axes = sizes.size();
  if (axes < 1 || axes > 3 || rank != axes + 2) {
    refuse("outputSize has {} numbers for a tensor of {} axes", axes, rank);
  }
  const bool corners = r.has_parameter("alignCorners") && r.flag("alignCorners");
  const auto kind = static_cast<Interpolation>(r.row().number);
  Value x = r.cast(r.in(0), computed_in(r.dtype(0)));
  for (size_t i = 0; i < axes; ++i) {
    const int64_t axis = static_cast<int64_t>(i) + 2, in = r.extent(x, axis);
    if (in == sizes[i] && kind != Interpolation::cubic) continue;
    x = apply(r, x, axis, interpolated(in, sizes[i], kind, corners, scale_of(r, i, axes)));
  }
  r.out(r.result(), x);
}

void interpolate_backward(Recipe& r) {
  const auto sizes = r.ints("outputSize"), input = r.ints("inputSize");
  const size_t axes = sizes.size();
  if (axes < 1 || axes > 3 || input.size() != axes + 2) {
    refuse("outputSize has {} numbers and inputSize {}", axes, input.size());
  }
  const bool corners = r.has_parameter("alignCorners") && r.flag("alignCorners");
  const auto kind = static_cast<Interpolation>(r.row().number);
  Value x = r.cast(r.in(0), computed_in(r.dtype(0)));
  for (size_t i = 0; i < axes; ++i) {
    const int64_t in = input[i + 2];
    if (in == sizes[i] && kind != Interpolation::cubic) continue;
    const AxisWeights map =
        interpolated(in, sizes[i], kind, corners, scale_of(r, i, axes));
    x = apply(r, x, static_cast<int64_t>(i) + 2, map.transposed());
  }
  r.out(r.result(), x);
}

constexpr int64_t kNearest = static_cast<int64_t>(Interpolation::nearest),
                  kExact = static_cast<int64_t>(Interpolation::nearest_exact),
                  kLinear = static_cast<int64_t>(Interpolation::linear),
                  kCubic = static_cast<int64_t>(Interpolation::cubic),
                  kLinearAA = static_cast<int64_t>(Interpolation::linear_antialiased),
                  kCubicAA = static_cast<int64_t>(Interpolation::cubic_antialiased);

const Row kRows[] = {
    {"aclnnReflectionPad1d", reflection_pad},
    {"aclnnReflectionPad2d", reflection_pad},
    {"aclnnReflectionPad3d", reflection_pad},
    {"aclnnReflectionPad1dBackward", reflection_pad_backward},
    {"aclnnReflectionPad2dBackward", reflection_pad_backward},
    {"aclnnReflectionPad3dBackward", reflection_pad_backward},
    {"aclnnReplicationPad1d", replication_pad},
    {"aclnnReplicationPad2d", replication_pad},
    {"aclnnReplicationPad3d", replication_pad},
    {"aclnnReplicationPad1dBackward", replication_pad_backward},
    {"aclnnReplicationPad2dBackward", replication_pad_backward},
    {"aclnnReplicationPad3dBackward", replication_pad_backward},
    {"aclnnUpsampleNearest1d", interpolate, "", false, kNearest},
    {"aclnnUpsampleNearest1dV2", interpolate, "", false, kNearest},
    {"aclnnUpsampleNearest1dBackward", interpolate_backward, "", false, kNearest},
    {"aclnnUpsampleNearest2d", interpolate, "", false, kNearest},
    {"aclnnUpsampleNearest2dV2", interpolate, "", false, kNearest},
    {"aclnnUpsampleNearest2dBackward", interpolate_backward, "", false, kNearest},
    {"aclnnUpsampleNearest3d", interpolate, "", false, kNearest},
    {"aclnnUpsampleNearest3dBackward", interpolate_backward, "", false, kNearest},
    {"aclnnUpsampleNearestExact1d", interpolate, "", false, kExact},
    {"aclnnUpsampleNearestExact1dBackward", interpolate_backward, "", false, kExact},
    {"aclnnUpsampleNearestExact2d", interpolate, "", false, kExact},
    {"aclnnUpsampleNearestExact2dBackward", interpolate_backward, "", false, kExact},
    {"aclnnUpsampleNearestExact3d", interpolate, "", false, kExact},
    {"aclnnUpsampleNearestExact3dBackward", interpolate_backward, "", false, kExact},
    {"aclnnUpsampleLinear1d", interpolate, "", false, kLinear},
    {"aclnnUpsampleLinear1dBackward", interpolate_backward, "", false, kLinear},
    {"aclnnUpsampleBilinear2d", interpolate, "", false, kLinear},
    {"aclnnUpsampleBilinear2dBackward", interpolate_backward, "", false, kLinear},
    {"aclnnUpsampleBilinear2dBackwardV2", interpolate_backward, "", false, kLinear},
    {"aclnnUpsampleBilinear2dAA", interpolate, "", false, kLinearAA},
    {"aclnnUpsampleBilinear2dAABackward", interpolate_backward, "", false, kLinearAA},
    {"aclnnUpsampleTrilinear3d", interpolate, "", false, kLinear},
    {"aclnnUpsampleTrilinear3dBackward", interpolate_backward, "", false, kLinear},
    {"aclnnUpsampleBicubic2d", interpolate, "", false, kCubic},
    {"aclnnUpsampleBicubic2dBackward", interpolate_backward, "", false, kCubic},
    {"aclnnUpsampleBicubic2dAA", interpolate, "", false, kCubicAA},
    {"aclnnUpsampleBicubic2dAAGrad", interpolate_backward, "", false, kCubicAA},
};

}  // namespace

std::span<const Row> resample_rows() { return kRows; }

}  // namespace anynpu::aclnn
