// SPDX-License-Identifier: Apache-2.0
// Pooling over windows of the last axes, and its gradients. Averages are maps along each axis
// (axis_weights.h); maxima are found with their places (RegionMax), and gradients go there.
#include <limits>

#include "aclnn/arithmetic.h"
#include "aclnn/axis_weights.h"
#include "base/align.h"

namespace anynpu::aclnn {

namespace {

Ints per_axis(Recipe& r, const char* name, size_t axes, const Ints& otherwise) {
  auto list = r.has_parameter(name) ? r.ints(name) : Ints{};
  if (list.empty()) list = otherwise;
  if (list.size() == 1) list.assign(axes, list[0]);
  if (list.size() != axes) refuse("{} has {} numbers; expected 1 or {}", name, list.size(), axes);
  return list;
}

// The last `axes` extents.
Shape spatial(const Shape& shape, size_t axes) {
  if (shape.size() < axes || shape.size() > axes + 2) {
    refuse("a tensor has {} axes; expected {} to {}", shape.size(), axes, axes + 2);
  }
  return {shape.end() - static_cast<int64_t>(axes), shape.end()};
}

// --- maxima

struct MaxWindow {
  Ints kernel, stride, pad, dilation;
};

// What the arithmetic of window_ranges takes without overflow.
void check_window(int64_t kernel, int64_t stride, int64_t pad, int64_t dilation) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  const auto in_range = [](int64_t value, int64_t least) {
    return value >= least && value <= kMost;
  };
  if (in_range(kernel, 1) && in_range(stride, 1) && in_range(pad, 0) && in_range(dilation, 1))
    return;
  refuse(
      "a window of {} every {} with {} elements of padding and dilation {}; expected 1 to {}, and "
      "padding of at least 0",
      kernel, stride, pad, dilation, kMost);
}

MaxWindow max_window(Recipe& r, size_t axes) {
  MaxWindow w;
  w.kernel = per_axis(r, "kernelSize", axes, {});
  w.stride = per_axis(r, "stride", axes, w.kernel);
  w.pad = per_axis(r, "padding", axes, Ints(axes, 0));
  w.dilation = per_axis(r, "dilation", axes, Ints(axes, 1));
  for (size_t d = 0; d < axes; ++d) check_window(w.kernel[d], w.stride[d], w.pad[d], w.dilation[d]);
  return w;
}

// Ranges of every output position along each axis, as RegionMax takes them.
struct Ranges {
  Ints sizes, begins, ends, dilations;
};

Ranges window_ranges(const Shape& in, const Shape& out, const MaxWindow& w) {
  Ranges ranges{out, {}, {}, w.dilation};
  for (size_t d = 0; d < in.size(); ++d) {
    check_items(out[d]);
    for (int64_t o = 0; o < out[d]; ++o) {
      int64_t begin = o * w.stride[d] - w.pad[d];
      const int64_t end = std::min(begin + (w.kernel[d] - 1) * w.dilation[d] + 1, in[d]);
      if (begin < 0) begin += ceil_div(-begin, w.dilation[d]) * w.dilation[d];
      ranges.begins.push_back(begin);
      ranges.ends.push_back(end);
    }
  }
  return ranges;
}

Ranges adaptive_ranges(const Shape& in, const Shape& out) {
  Ranges ranges{out, {}, {}, Ints(out.size(), 1)};
  for (size_t d = 0; d < in.size(); ++d) {
    check_items(std::max(in[d], out[d]));
    for (int64_t o = 0; o < out[d]; ++o) {
      ranges.begins.push_back(o * in[d] / out[d]);
      ranges.ends.push_back(((o + 1) * in[d] + out[d] - 1) / out[d]);
    }
  }
  return ranges;
}

// Values and places in the plane.
Values region_max(Recipe& r, Value x, const Ranges& ranges) {
  return r.ops("RegionMax", {x}, 2,
               {{"sizes", ranges.sizes},
                {"begins", ranges.begins},
                {"ends", ranges.ends},
                {"dilations", ranges.dilations}});
}

// Gradients added up at their places: planes of `in` elements.
void add_at_places(Recipe& r, Value grad, Value places, size_t axes, Param out) {
  const Shape in = r.shape(out), given = r.shape(grad);
  const int64_t plane = element_count(spatial(in, axes)),
                each = element_count(spatial(given, axes));
  const int64_t planes = element_count(in) / std::max<int64_t>(plane, 1);
  const DType type = r.dtype(grad);
  const Value sums = r.op("ScatterElements",
                          {r.filled(type, {planes, plane}, 0), r.reshape(places, {planes, each}),
                           r.reshape(grad, {planes, each})},
                          {{"axis", 1}, {"reduction", "add"}});
  r.out(out, r.reshape(sums, in));
}

// number: axes. The mask that the vendor's operator writes is for its own gradient alone, which
// here looks at the input again; operators with indices write those.
void max_pool(Recipe& r) {
  const auto axes = static_cast<size_t>(r.row().number);
  const Shape shape = r.shape("self");
  const MaxWindow w = max_window(r, axes);
  const Ranges ranges = window_ranges(spatial(shape, axes), spatial(r.shape("out"), axes), w);
  const auto made = region_max(r, r.in("self"), ranges);
  r.out("out", made[0]);
  r.out_if("indices", made[1]);
}

// The common form goes through the kernels of MaxPool.
void max_pool_with_mask(Recipe& r) {
  const MaxWindow w = max_window(r, 2);
  Value x = r.in("self");
  Shape shape = r.shape(x);
  if (shape.size() == 3) shape.insert(shape.begin(), 1);
  if (shape.size() != 4) refuse("self has {} axes; expected 3 or 4", shape.size());
  const Value y = r.op("MaxPool", {r.reshape(x, shape)},
                       {{"kernel_shape", w.kernel},
                        {"strides", w.stride},
                        {"pads", Ints{w.pad[0], w.pad[1], w.pad[0], w.pad[1]}},
                        {"dilations", w.dilation},
                        {"ceil_mode", r.flag("ceilMode")}});
  r.out("out", r.reshape(y, r.shape("out")));
}

void max_pool_with_mask_backward(Recipe& r) {
  const DType type = computed_in(r.dtype("self"));
  const Ranges ranges = window_ranges(spatial(r.shape("self"), 2),
                                      spatial(r.shape("gradOutput"), 2), max_window(r, 2));
  const Value places = region_max(r, r.in("self"), ranges)[1];
  add_at_places(r, r.cast(r.in("gradOutput"), type), places, 2, "gradInput");
}

void adaptive_max_pool(Recipe& r) {
  const auto axes = static_cast<size_t>(r.row().number);
  const auto sizes = per_axis(r, "outputSize", axes, {});
  const auto made =
      region_max(r, r.in("self"), adaptive_ranges(spatial(r.shape("self"), axes), sizes));
  r.out("outputOut", made[0]);
  r.out_if("indicesOut", made[1]);
}

// Gradients to the places that the forward operator wrote. number: axes.
void max_backward_by_indices(Recipe& r) {
  const auto axes = static_cast<size_t>(r.row().number);
  const DType type = computed_in(r.dtype("gradOutput"));
  const Value places = r.cast(r.in("indices"), DType::i64);
  add_at_places(r, r.cast(r.in("gradOutput"), type), places, axes, "gradInput");
}

// Elements put back where they came from; the others are 0.
void max_unpool(Recipe& r) {
  const auto axes = static_cast<size_t>(r.row().number);
  const Param out = r.result();
  const Shape wide = r.shape(out), given = r.shape("self");
  const int64_t plane = element_count(spatial(wide, axes)),
                each = element_count(spatial(given, axes));
  const int64_t planes = element_count(wide) / std::max<int64_t>(plane, 1);
  const Value places = r.reshape(r.cast(r.in("indices"), DType::i64), {planes, each});
  const Value y = r.op("ScatterElements",
                       {r.filled(r.dtype("self"), {planes, plane}, 0), places,
                        r.reshape(r.in("self"), {planes, each})},
                       {{"axis", 1}});
  r.out(out, r.reshape(y, wide));
}

// The other way: the gradients of the elements that were put there.
void max_unpool_backward(Recipe& r) {
  const auto axes = static_cast<size_t>(r.row().number);
  const Shape wide = r.shape("gradOutput"), given = r.shape("self");
  const int64_t plane = element_count(spatial(wide, axes)),
                each = element_count(spatial(given, axes));
  const int64_t planes = element_count(wide) / std::max<int64_t>(plane, 1);
  const Value places = r.reshape(r.cast(r.in("indices"), DType::i64), {planes, each});
  const Value y = r.op("GatherElements", {r.reshape(r.in("gradOutput"), {planes, plane}), places},
                       {{"axis", 1}});
  r.out("out", r.reshape(y, r.shape("out")));
}

// As ONNX has it: pads of both ends, autoPad 0.
void max_pool_with_pads(Recipe& r) {
  const int64_t automatic = r.integer("autoPad");
  if (automatic != 0) refuse("autoPad is {}; expected 0 (by pads)", automatic);
  const auto kernel = r.ints("kernelShape");
  Attrs attrs{{"kernel_shape", kernel},
              {"strides", per_axis(r, "strides", kernel.size(), {1})},
              {"pads", per_axis(r, "pads", 2 * kernel.size(), {0})},
              {"dilations", per_axis(r, "dilations", kernel.size(), {1})},
              {"ceil_mode", r.integer("ceilMode") != 0}};
  r.out("out", r.op("MaxPool", {r.in("self")}, attrs));
}

// --- averages

// Along each axis; gradients go the other way. `self` has the shape of the input.
void average(Recipe& r, size_t axes, bool gradient, Param source, Param out) {
  const Shape in = spatial(r.shape("self"), axes);
  const Shape sizes = spatial(gradient ? r.shape(source) : r.shape(out), axes);
  const auto kernel = per_axis(r, "kernelSize", axes, {});
  const auto stride = per_axis(r, r.has_parameter("stride") ? "stride" : "strides", axes, kernel);
  const auto pad =
      per_axis(r, r.has_parameter("padding") ? "padding" : "paddings", axes, Ints(axes, 0));
  const bool count_pads = r.flag("countIncludePad");
  const int64_t divisor = r.integer("divisorOverride");
  const bool whole = is_integer(r.dtype(source));
  Value x = r.cast(r.in(source), whole ? DType::f64 : computed_in(r.dtype(source)));
  const auto first = static_cast<int64_t>(r.shape(x).size() - axes);
  for (size_t d = 0; d < axes; ++d) {
    const AxisWeights map =
        averaged(in[d], sizes[d], {kernel[d], stride[d], pad[d], count_pads}, divisor != 0);
    x = apply(r, x, first + static_cast<int64_t>(d), gradient ? map.transposed() : map);
  }
  if (divisor != 0) x = r.op("Div", {x, r.constant(r.dtype(x), static_cast<double>(divisor))});
  // Integers are cut, after what binary fractions lose.
  if (whole) x = r.op("Add", {x, r.op("Mul", {r.op("Sign", {x}), r.constant(DType::f64, 1e-9)})});
  r.out(out, x);
}

void average_pool(Recipe& r) {
  average(r, static_cast<size_t>(r.row().number), false, "self", r.result());
}
void average_pool_backward(Recipe& r) {
  average(r, static_cast<size_t>(r.row().number), true, 0, r.result());
}

void adaptive_average(Recipe& r, bool gradient) {
  const auto axes = static_cast<size_t>(r.row().number);
  const Param source = gradient ? Param("gradOutput") : Param("self");
  const Shape in = spatial(r.shape("self"), axes);
  const Shape sizes =
      gradient ? spatial(r.shape(source), axes) : per_axis(r, "outputSize", axes, {});
  Value x = r.cast(r.in(source), computed_in(r.dtype(source)));
  const auto first = static_cast<int64_t>(r.shape(x).size() - axes);
  for (size_t d = 0; d < axes; ++d) {
    const AxisWeights map = averaged_adaptive(in[d], sizes[d]);
    x = apply(r, x, first + static_cast<int64_t>(d), gradient ? map.transposed() : map);
  }
  r.out("out", x);
}

void adaptive_average_pool(Recipe& r) { adaptive_average(r, false); }
void adaptive_average_pool_backward(Recipe& r) { adaptive_average(r, true); }

const Row kRows[] = {
    {"aclnnMaxPool2dWithMask", max_pool_with_mask},
    {"aclnnMaxPool2dWithMaskBackward", max_pool_with_mask_backward},
    {"aclnnMaxPool2dWithIndices", max_pool, "", false, 2},
    {"aclnnMaxPool2dWithIndicesBackward", max_backward_by_indices, "", false, 2},
    {"aclnnMaxPool", max_pool_with_pads},
    {"aclnnMaxUnpool2dBackward", max_unpool_backward, "", false, 2},
    {"aclnnMaxUnpool3dBackward", max_unpool_backward, "", false, 3},
    {"aclnnMaxPool3dWithArgmax", max_pool, "", false, 3},
    {"aclnnMaxPool3dWithArgmaxBackward", max_backward_by_indices, "", false, 3},
    {"aclnnAdaptiveMaxPool2d", adaptive_max_pool, "", false, 2},
    {"aclnnAdaptiveMaxPool2dBackward", max_backward_by_indices, "", false, 2},
    {"aclnnAdaptiveMaxPool3d", adaptive_max_pool, "", false, 3},
    {"aclnnAdaptiveMaxPool3dBackward", max_backward_by_indices, "", false, 3},
    {"aclnnMaxUnpool2d", max_unpool, "", false, 2},
    {"aclnnMaxUnpool3d", max_unpool, "", false, 3},
    {"aclnnAvgPool2d", average_pool, "", false, 2},
    {"aclnnAvgPool2dBackward", average_pool_backward, "", false, 2},
    {"aclnnAvgPool3d", average_pool, "", false, 3},
    {"aclnnAvgPool3dBackward", average_pool_backward, "", false, 3},
    {"aclnnAdaptiveAvgPool2d", adaptive_average_pool, "", false, 2},
    {"aclnnAdaptiveAvgPool2dBackward", adaptive_average_pool_backward, "", false, 2},
    {"aclnnAdaptiveAvgPool3d", adaptive_average_pool, "", false, 3},
    {"aclnnAdaptiveAvgPool3dBackward", adaptive_average_pool_backward, "", false, 3},
};

}  // namespace

std::span<const Row> pool_rows() { return kRows; }

}  // namespace anynpu::aclnn
