// SPDX-License-Identifier: Apache-2.0
// Mean and largest element of windows. Means are maps along axes. For the largest element windows
// are gathered side by side: the place of an element of a window in its plane is known beforehand.
#include <algorithm>

#include "aclnn/arithmetic.h"
#include "aclnn/axis_map.h"

namespace anynpu::aclnn {

namespace window_pool {

namespace {

// One number may stand for all axes.
std::vector<int64_t> per_axis(std::vector<int64_t> list, size_t axes, const std::vector<int64_t>& otherwise) {
  if (list.empty()) return otherwise;
  while (list.size() < axes) list.push_back(list.front());
  return list;
}

// --- means

struct MeanPool {
  std::vector<AxisMap> maps;
  double divisor = 1;
};

MeanPool mean_pool(Recipe& r, const char* strides, const char* paddings, const Shape& in,
                   const Shape& out, size_t axes) {
  const auto kernel = per_axis(r.ints("kernelSize"), axes, {});
  const auto stride = per_axis(r.ints(strides), axes, kernel);
  const auto padding = per_axis(r.ints(paddings), axes, std::vector<int64_t>(axes, 0));
  const bool with_border = r.flag("countIncludePad");
  const int64_t fixed = r.integer("divisorOverride");
  MeanPool pool;
  for (size_t a = 0; a < axes; ++a) {
    const int64_t inputs = in[in.size() - axes + a], outputs = out[out.size() - axes + a];
    AxisMap map(inputs, outputs);
    for (int64_t o = 0; o < outputs; ++o) {
      const int64_t begin = o * stride[a] - padding[a];
      const int64_t end = std::min(begin + kernel[a], inputs + padding[a]);
      const int64_t first = std::max<int64_t>(begin, 0), last = std::min(end, inputs);
      const int64_t count = fixed != 0 ? 1 : with_border ? end - begin : last - first;
      for (int64_t i = first; i < last; ++i) map.at(o, i) = 1.0 / static_cast<double>(count);
    }
    pool.maps.push_back(std::move(map));
  }
  if (fixed != 0) pool.divisor = static_cast<double>(fixed);
  return pool;
}

void mean(Recipe& r) {
  const auto axes = static_cast<size_t>(r.row().number);
  const bool planes = axes == 2;
  const MeanPool pool = mean_pool(r, planes ? "strides" : "stride", planes ? "paddings" : "padding",
                                  r.shape("self"), r.shape("out"), axes);
  const Value x = r.cast(r.in("self"), computed_in(r.dtype("self")));
  const Value sum = map_axes(r, x, pool.maps);
  r.out("out", r.op("Div", {sum, r.constant(r.dtype(sum), pool.divisor)}));
}
void mean_gradient(Recipe& r) {
  const auto axes = static_cast<size_t>(r.row().number);
  MeanPool pool = mean_pool(r, "stride", "padding", r.shape("self"), r.shape(0), axes);
  for (AxisMap& map : pool.maps) map = map.transposed();
  const Value sum = map_axes(r, r.cast(r.in(0), computed_in(r.dtype(0))), pool.maps);
  r.out(axes == 2 ? "gradInput" : "output", r.op("Div", {sum, r.constant(r.dtype(sum), pool.divisor)}));
}

// Windows that share an axis of `inputs` out as evenly as they can.
int64_t even_begin(int64_t o, int64_t inputs, int64_t outputs) { return o * inputs / outputs; }
int64_t even_end(int64_t o, int64_t inputs, int64_t outputs) {
  return ((o + 1) * inputs + outputs - 1) / outputs;
}
std::vector<AxisMap> even_maps(const Shape& in, const Shape& out, size_t axes) {
  std::vector<AxisMap> maps;
  for (size_t a = 0; a < axes; ++a) {
    const int64_t inputs = in[in.size() - axes + a], outputs = out[out.size() - axes + a];
    AxisMap map(inputs, outputs);
    for (int64_t o = 0; o < outputs; ++o) {
      const int64_t begin = even_begin(o, inputs, outputs), end = even_end(o, inputs, outputs);
      for (int64_t i = begin; i < end; ++i) map.at(o, i) = 1.0 / static_cast<double>(end - begin);
    }
    maps.push_back(std::move(map));
  }
  return maps;
}
void even_mean(Recipe& r) {
  const auto axes = static_cast<size_t>(r.row().number);
  const Value x = r.cast(r.in("self"), computed_in(r.dtype("self")));
  r.out("out", map_axes(r, x, even_maps(r.shape("self"), r.shape("out"), axes)));
}
void even_mean_gradient(Recipe& r) {
  const auto axes = static_cast<size_t>(r.row().number);
  auto maps = even_maps(r.shape("self"), r.shape(0), axes);
  for (AxisMap& map : maps) map = map.transposed();
  r.out("out", map_axes(r, r.cast(r.in(0), computed_in(r.dtype(0))), maps));
}

// --- the largest element

// The elements of each window along one axis; windows that are cut off repeat an element.
struct AxisWindows {
  int64_t inputs = 0, outputs = 0, size = 0;
  std::vector<int64_t> elements;  // outputs x size
};

AxisWindows regular(int64_t inputs, int64_t outputs, int64_t kernel, int64_t stride, int64_t padding,
                    int64_t dilation) {
  AxisWindows w{inputs, outputs, kernel, {}};
  for (int64_t o = 0; o < outputs; ++o) {
    const int64_t begin = o * stride - padding;
    int64_t first = begin, last = begin + (kernel - 1) * dilation;
    while (first < 0) first += dilation;
    while (last >= inputs) last -= dilation;
    for (int64_t k = 0; k < kernel; ++k) {
      w.elements.push_back(std::clamp(begin + k * dilation, first, last));
    }
  }
  return w;
}
AxisWindows even(int64_t inputs, int64_t outputs) {
  AxisWindows w{inputs, outputs, 0, {}};
  for (int64_t o = 0; o < outputs; ++o) {
    w.size = std::max(w.size, even_end(o, inputs, outputs) - even_begin(o, inputs, outputs));
  }
  for (int64_t o = 0; o < outputs; ++o) {
    const int64_t begin = even_begin(o, inputs, outputs), end = even_end(o, inputs, outputs);
    for (int64_t k = 0; k < w.size; ++k) w.elements.push_back(std::min(begin + k, end - 1));
  }
  return w;
}

struct Largest {
  Value values, places;  // places in the plane, int64
};

// `x` is planes x axes...; the results are planes x outputs of the axes.
Largest largest(Recipe& r, Value x, const std::vector<AxisWindows>& windows) {
  const int64_t planes = r.shape(x)[0];
  const size_t axes = windows.size();
  std::vector<AxisIndex> index;
  Shape split{planes}, joined{planes};
  std::vector<int64_t> order{0};
  int64_t size = 1, outputs = 1;
  for (const AxisWindows& w : windows) {
    index.push_back(w.elements);
    split.push_back(w.outputs);
    split.push_back(w.size);
    size *= w.size;
    outputs *= w.outputs;
  }
  for (size_t a = 0; a < axes; ++a) order.push_back(static_cast<int64_t>(1 + 2 * a));
  for (size_t a = 0; a < axes; ++a) order.push_back(static_cast<int64_t>(2 + 2 * a));
  Value all = r.reshape(gather_axes(r, x, index), split);
  all = r.reshape(r.transpose(all, order), {planes, outputs, size});
  // The place in the plane of element k of window o.
  std::vector<int64_t> table;
  for (int64_t o = 0; o < outputs; ++o) {
    for (int64_t k = 0; k < size; ++k) {
      int64_t place = 0, o_left = o, k_left = k, o_unit = outputs, k_unit = size;
      for (const AxisWindows& w : windows) {
        o_unit /= w.outputs, k_unit /= w.size;
        const int64_t oa = o_left / o_unit, ka = k_left / k_unit;
        o_left %= o_unit, k_left %= k_unit;
        place = place * w.inputs + w.elements[static_cast<size_t>(oa * w.size + ka)];
      }
      table.push_back(place);
    }
  }
  const Value chosen = r.op("ArgMax", {all}, {{"axis", 2}, {"keepdims", 1}});
  const Value values = r.op("GatherElements", {all, chosen}, {{"axis", 2}});
  std::vector<int64_t> starts;
  for (int64_t o = 0; o < outputs; ++o) starts.push_back(o * size);
  const Value at = r.op("Add", {r.reshape(chosen, {planes, outputs}),
                                r.reshape(r.constant(starts), {1, outputs})});
  return {r.reshape(values, {planes, outputs}), r.op("Gather", {r.constant(table), at})};
}

int64_t product(const Shape& shape, size_t begin, size_t end) {
  int64_t count = 1;
  for (size_t i = begin; i < end; ++i) count *= shape[i];
  return count;
}

// Axes of pictures as planes x axes.
Value planes_of(Recipe& r, Value x, size_t axes) {
  const Shape shape = r.shape(x);
  Shape flat(shape.end() - static_cast<int64_t>(axes), shape.end());
  flat.insert(flat.begin(), product(shape, 0, shape.size() - axes));
  return r.reshape(x, flat);
}

void finish(Recipe& r, const Largest& found, const char* out, const char* indices) {
  r.out(out, r.reshape(found.values, r.shape(out)));
  r.out(indices, r.reshape(found.places, r.shape(indices)));
}

void max_pool(Recipe& r) {
  const auto axes = static_cast<size_t>(r.row().number);
  const Shape in = r.shape("self"), out = r.shape("out");
  const auto kernel = per_axis(r.ints("kernelSize"), axes, {});
  const auto stride = per_axis(r.ints("stride"), axes, kernel);
  const auto padding = per_axis(r.ints("padding"), axes, std::vector<int64_t>(axes, 0));
  const auto dilation = per_axis(r.ints("dilation"), axes, std::vector<int64_t>(axes, 1));
  std::vector<AxisWindows> windows;
  for (size_t a = 0; a < axes; ++a) {
    windows.push_back(regular(in[in.size() - axes + a], out[out.size() - axes + a], kernel[a],
                              stride[a], padding[a], dilation[a]));
  }
  finish(r, largest(r, planes_of(r, r.in("self"), axes), windows), "out", "indices");
}
void even_max_pool(Recipe& r) {
  const auto axes = static_cast<size_t>(r.row().number);
  const Shape in = r.shape("self"), out = r.shape("outputOut");
  std::vector<AxisWindows> windows;
  for (size_t a = 0; a < axes; ++a) {
    windows.push_back(even(in[in.size() - axes + a], out[out.size() - axes + a]));
  }
  finish(r, largest(r, planes_of(r, r.in("self"), axes), windows), "outputOut", "indicesOut");
}

// `values` put to the places of their plane that `indices` says, into zeros. Rows are planes.
Value spread(Recipe& r, Value values, Value indices, const Shape& shape, size_t axes,
             const char* reduction) {
  const int64_t planes = product(shape, 0, shape.size() - axes);
  const int64_t plane = product(shape, shape.size() - axes, shape.size());
  const int64_t each = product(r.shape(values), 0, r.shape(values).size()) / std::max<int64_t>(planes, 1);
  const Value zeros = r.filled(r.dtype(values), {planes, plane}, 0);
  const Value flat = r.op("ScatterElements",
                          {zeros, r.reshape(r.cast(indices, DType::i64), {planes, each}),
                           r.reshape(values, {planes, each})},
                          {{"axis", 1}, {"reduction", reduction}});
  return r.reshape(flat, shape);
}
void max_pool_gradient(Recipe& r) {
  const auto axes = static_cast<size_t>(r.row().number);
  const Value g = r.cast(r.in(0), computed_in(r.dtype(0)));
  r.out("gradInput", spread(r, g, r.in("indices"), r.shape("gradInput"), axes, "add"));
}
void max_unpool(Recipe& r) {
  const auto axes = static_cast<size_t>(r.row().number);
  const char* out = axes == 2 ? "out" : "outRef";
  r.out(out, spread(r, r.in("self"), r.in("indices"), r.shape(out), axes, "none"));
}
// Every element takes what lies at its place.
void max_unpool_gradient(Recipe& r) {
  const auto axes = static_cast<size_t>(r.row().number);
  const Shape shape = r.shape("self"), from = r.shape(0);
  const int64_t planes = product(shape, 0, shape.size() - axes);
  const int64_t each = product(shape, shape.size() - axes, shape.size());
  const Value g = r.reshape(r.in(0), {planes, product(from, from.size() - axes, from.size())});
  const Value at = r.reshape(r.cast(r.in("indices"), DType::i64), {planes, each});
  r.out("out", r.reshape(r.op("GatherElements", {g, at}, {{"axis", 1}}), shape));
}

const Row kRows[] = {
    {"aclnnAvgPool2d", mean, "", false, 2},
    {"aclnnAvgPool2dBackward", mean_gradient, "", false, 2},
    {"aclnnAvgPool3d", mean, "", false, 3},
    {"aclnnAvgPool3dBackward", mean_gradient, "", false, 3},
    {"aclnnAdaptiveAvgPool2d", even_mean, "", false, 2},
    {"aclnnAdaptiveAvgPool2dBackward", even_mean_gradient, "", false, 2},
    {"aclnnAdaptiveAvgPool3d", even_mean, "", false, 3},
    {"aclnnAdaptiveAvgPool3dBackward", even_mean_gradient, "", false, 3},
    {"aclnnMaxPool2dWithIndices", max_pool, "", false, 2},
    {"aclnnMaxPool2dWithIndicesBackward", max_pool_gradient, "", false, 2},
    {"aclnnMaxPool3dWithArgmax", max_pool, "", false, 3},
    {"aclnnMaxPool3dWithArgmaxBackward", max_pool_gradient, "", false, 3},
    {"aclnnAdaptiveMaxPool2d", even_max_pool, "", false, 2},
    {"aclnnAdaptiveMaxPool2dBackward", max_pool_gradient, "", false, 2},
    {"aclnnAdaptiveMaxPool3d", even_max_pool, "", false, 3},
    {"aclnnAdaptiveMaxPool3dBackward", max_pool_gradient, "", false, 3},
    {"aclnnMaxUnpool2d", max_unpool, "", false, 2},
    {"aclnnMaxUnpool2dBackward", max_unpool_gradient, "", false, 2},
    {"aclnnMaxUnpool3d", max_unpool, "", false, 3},
    {"aclnnMaxUnpool3dBackward", max_unpool_gradient, "", false, 3},
};

}  // namespace

}  // namespace window_pool

std::span<const Row> window_pool_rows() { return window_pool::kRows; }

}  // namespace anynpu::aclnn
