// SPDX-License-Identifier: Apache-2.0
// Interpolation, padding with the tensor's own elements, and their gradients: axis by axis.
#include <algorithm>
#include <limits>

#include "aclnn/arithmetic.h"
#include "aclnn/axis_weights.h"

namespace anynpu::aclnn {

namespace {

// Padding of one axis of `in` elements, as torch has it. Negative numbers cut elements off.
struct AxisPad {
  int64_t axis, in, begin, end;
};

Value zero_padded(Recipe& r, Value x, int64_t axis, int64_t begin, int64_t end) {
  if (begin == 0 && end == 0) return x;
  const auto rank = static_cast<int64_t>(r.shape(x).size());
  Ints pads(static_cast<size_t>(2 * rank), 0);
  pads[static_cast<size_t>(axis)] = begin;
  pads[static_cast<size_t>(rank + axis)] = end;
  return r.op("Pad", {x, r.constant(pads)});
}

// The elements in reverse order.
Value reversed(Recipe& r, Value x, int64_t axis) {
  const int64_t extent = r.extent(x, axis);
  return r.slice(x, axis, extent - 1, -extent - 1, -1);
}

// Gradients of the elements that the padding repeats are added to those of the elements themselves.
Value reflection_gradient(Recipe& r, Value grad, const AxisPad& p) {
  const int64_t after = p.begin + p.in;
  Value sum = r.slice(grad, p.axis, p.begin, after);
  if (p.begin > 0) {
    const Value front = reversed(r, r.slice(grad, p.axis, 0, p.begin), p.axis);
    sum = r.op("Add", {sum, zero_padded(r, front, p.axis, 1, p.in - 1 - p.begin)});
  }
  if (p.end > 0) {
    const Value back = reversed(r, r.slice(grad, p.axis, after, after + p.end), p.axis);
    sum = r.op("Add", {sum, zero_padded(r, back, p.axis, p.in - 1 - p.end, 1)});
  }
  return sum;
}

Value replication_gradient(Recipe& r, Value grad, const AxisPad& p) {
  const auto sum = [&](Value x) { return r.op("ReduceSum", {x, r.constant({p.axis})}); };
  if (p.in == 1) return sum(grad);
  const int64_t last = p.begin + p.in - 1;
  return r.op("Concat",
              {sum(r.slice(grad, p.axis, 0, p.begin + 1)), r.slice(grad, p.axis, p.begin + 1, last),
               sum(r.slice(grad, p.axis, last, last + 1 + p.end))},
              {{"axis", p.axis}});
}

struct PadKind {
  const char* mode;  // of the operator Pad
  Value (*gradient)(Recipe&, Value, const AxisPad&);
};
constexpr PadKind kReflection{"reflect", reflection_gradient};
constexpr PadKind kReplication{"edge", replication_gradient};

// Begin and end of the last axis, then of the one before, and so on.
std::vector<AxisPad> axis_pads(Recipe& r, const PadKind& kind) {
  const auto pads = r.ints("padding");
  const Shape self = r.shape("self");
  if (pads.size() % 2 != 0 || pads.size() / 2 > self.size()) {
    refuse("padding has {} numbers; expected two for each of at most {} axes", pads.size(),
           self.size());
  }
  std::vector<AxisPad> made;
  for (size_t i = 0; i < pads.size() / 2; ++i) {
    const size_t axis = self.size() - 1 - i;
    const AxisPad p{static_cast<int64_t>(axis), self[axis], pads[2 * i], pads[2 * i + 1]};
    const bool reflects = kind.gradient == reflection_gradient;
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
    const int64_t most = reflects ? p.in - 1 : kMost, wide = std::max(p.begin, p.end);
    if (p.in < 1 || wide > most || std::min(p.begin, p.end) < -kMost || p.in > kMost) {
      refuse(
          "an axis of {} elements is padded by {} and {}; expected an axis with elements and at "
          "most {} on each side",
          p.in, p.begin, p.end, most);
    }
    made.push_back(p);
  }
  return made;
}

void pad(Recipe& r, const PadKind& kind) {
  const auto rank = r.rank("self");
  Ints pads(2 * rank, 0);
  for (const AxisPad& p : axis_pads(r, kind)) {
    pads[static_cast<size_t>(p.axis)] = p.begin;
    pads[rank + static_cast<size_t>(p.axis)] = p.end;
  }
  r.out(r.result(), r.op("Pad", {r.in("self"), r.constant(pads)}, {{"mode", kind.mode}}));
}

void pad_backward(Recipe& r, const PadKind& kind) {
  Value grad = r.cast(r.in("gradOutput"), computed_in(r.dtype("gradOutput")));
  for (AxisPad p : axis_pads(r, kind)) {
    const int64_t extent = r.extent(grad, p.axis);
    if (extent != p.in + p.begin + p.end) {
      refuse("gradOutput has {} elements along axis {}; expected {} + {} + {}", extent, p.axis,
             p.in, p.begin, p.end);
    }
    grad =
        zero_padded(r, grad, p.axis, std::max<int64_t>(-p.begin, 0), std::max<int64_t>(-p.end, 0));
    p.begin = std::max<int64_t>(p.begin, 0);
    p.end = std::max<int64_t>(p.end, 0);
    grad = kind.gradient(r, grad, p);
  }
  r.out(r.result(), grad);
}

void reflection_pad(Recipe& r) { pad(r, kReflection); }
void reflection_pad_backward(Recipe& r) { pad_backward(r, kReflection); }
void replication_pad(Recipe& r) { pad(r, kReplication); }
void replication_pad_backward(Recipe& r) { pad_backward(r, kReplication); }

// The number: the kind of interpolation. Scales are parameters of the header's names, 0 or absent
// when the sizes decide.
double scale_of(Recipe& r, size_t axis, size_t axes) {
  static const char* const kNames[3][3] = {
      {"scales", "", ""}, {"scalesH", "scalesW", ""}, {"scalesD", "scalesH", "scalesW"}};
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
    const AxisWeights map = interpolated(in, sizes[i], kind, corners, scale_of(r, i, axes));
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
