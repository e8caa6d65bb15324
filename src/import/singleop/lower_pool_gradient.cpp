// SPDX-License-Identifier: Apache-2.0
// Gradients of pooling: those of maxima go to the places where they were found, those of averages
// are maps along each axis.
#include "import/singleop/lower.h"
#include "ops/resize/axis_weights.h"

namespace anynpu::singleop {

namespace {

// Windows along the two axes of a picture.
struct Windows {
  int64_t kernel[2], stride[2], pad[2];
};

// Height and width of an attribute of four or two numbers.
void read_pair(Builder& b, const char* name, bool channels_last, int64_t (&pair)[2]) {
  const auto list = b.ints(name);
  if (list.size() != 4 && list.size() != 2) {
    return b.refuse(Code::invalid_argument, "{} has {} numbers, expected 4 or 2", name,
                    list.size());
  }
  const size_t at = list.size() == 2 ? 0 : channels_last ? 1 : 2;
  for (size_t d = 0; d < 2; ++d) pair[d] = list[at + d];
  if (pair[0] < 1 || pair[1] < 1) {
    b.refuse(Code::invalid_argument, "{} is {}, {}; expected at least 1", name, pair[0], pair[1]);
  }
}

// `in` and `out` are pictures as N, C, H, W.
Windows read_windows(Builder& b, const Shape& in, const Shape& out) {
  Windows w{};
  const bool last = b.s("data_format", "NHWC") == "NHWC";
  read_pair(b, "ksize", last, w.kernel);
  read_pair(b, "strides", last, w.stride);
  const bool same = b.word("padding", "VALID", {"SAME", "VALID"}) == "SAME";
  for (size_t d = 0; b.ok() && same && d < 2; ++d) {
    const int64_t need = (out[d + 2] - 1) * w.stride[d] + w.kernel[d] - in[d + 2];
    w.pad[d] = std::max<int64_t>(need, 0) / 2;
  }
  return w;
}

ValueId apply(Builder& b, ValueId x, int64_t axis, const ops::AxisWeights& map) {
  const auto taps = map.taps();
  const Shape shape{static_cast<int64_t>(map.rows.size()), taps.per_output};
  const std::vector<float> weights(taps.weights.begin(), taps.weights.end());
  return b.node(
      "anynpu.WeightedAxis", 1,
      {x, b.reshape(b.list(taps.places), shape), b.cast(b.table(shape, weights), DType::f64)},
      {{"axis", axis}});
}

}  // namespace

// x, the maxima and their gradients.
void lower_max_pool_gradient(Builder& b) {
  const ValueId x = b.in_nchw(0), y = b.in_nchw(1), dy = b.in_nchw(2);
  if (!b.has_rank(x, "x", 4, 4) || !b.has_rank(y, "y", 4, 4)) return;
  const Shape in = b.shape(x), out = b.shape(y);
  const Windows w = read_windows(b, in, out);
  if (!b.ok()) return;
  std::vector<int64_t> begins, ends;
  for (size_t d = 0; d < 2; ++d) {
    for (int64_t o = 0; o < out[d + 2]; ++o) {
      const int64_t begin = o * w.stride[d] - w.pad[d];
      begins.push_back(std::max<int64_t>(begin, 0));
      ends.push_back(std::min(begin + w.kernel[d], in[d + 2]));
    }
  }
  const ValueId places = b.nodes("anynpu.RegionMax", 1, {x}, 2,
                                 {{"sizes", std::vector<int64_t>{out[2], out[3]}},
                                  {"begins", begins},
                                  {"ends", ends},
                                  {"dilations", std::vector<int64_t>{1, 1}}})[1];
  if (!b.ok()) return;
  const int64_t planes = in[0] * in[1], plane = in[2] * in[3], each = out[2] * out[3];
  const ValueId wide = widened(b, dy);  // sums are rounded once
  const ValueId none = b.node("Expand", 13, {b.scalar(b.dtype(wide), 0), b.list({planes, plane})});
  const ValueId sums =
      b.node("ScatterElements", 18,
             {none, b.reshape(places, {planes, each}), b.reshape(wide, {planes, each})},
             {{"axis", int64_t{1}}, {"reduction", std::string("add")}});
  b.out_nchw(0, b.reshape(b.cast(sums, b.dtype(dy)), in));
}

// The shape of x and the gradient.
void lower_avg_pool_gradient(Builder& b) {
  const auto given = b.in_values(0);
  const ValueId dy = b.in_nchw(1);
  if (!b.has_rank(dy, "the gradient", 4, 4)) return;
  if (given.size() != 4) {
    return b.refuse(Code::unsupported_shape, "orig_input_shape has {} numbers, expected 4",
                    given.size());
  }
  const bool last = b.op().inputs[1].format == Format::nhwc;
  const Shape in =
      last ? Shape{given[0], given[3], given[1], given[2]} : Shape(given.begin(), given.end());
  const Shape out = b.shape(dy);
  const Windows w = read_windows(b, in, out);
  ValueId x = dy;
  for (size_t d = 0; b.ok() && d < 2; ++d) {
    ops::AxisWeights map{in[d + 2], {}};
    for (int64_t o = 0; o < out[d + 2]; ++o) {
      const int64_t start = o * w.stride[d] - w.pad[d];
      const int64_t first = std::max<int64_t>(start, 0),
                    end = std::min(start + w.kernel[d], in[d + 2]);
      auto& row = map.rows.emplace_back();
      for (int64_t i = first; i < end; ++i)
        row.emplace_back(i, 1 / static_cast<double>(end - first));
    }
    x = apply(b, x, static_cast<int64_t>(d) + 2, map.transposed());
  }
  b.out_nchw(0, x);
}

// Means of as many equal parts of each axis as the output has elements, and their gradient.
void lower_adaptive_average(Builder& b) {
  const bool gradient = b.type().ends_with("Grad");
  ValueId x = b.in(0);
  for (size_t i = 1; i < b.input_count(); ++i) b.leave(i);
  const Shape& made = b.op().outputs[0].shape;
  const size_t pooled = b.type() == "AdaptiveAvgPool3d" ? 3 : 2;
  if (!b.has_rank(x, "x", static_cast<int64_t>(pooled) + 1, static_cast<int64_t>(pooled) + 2))
    return;
  if (!is_static(made) || static_cast<int64_t>(made.size()) != b.rank(x)) {
    return b.refuse(Code::unsupported_shape, "output 0 is described as {}, expected {} known axes",
                    to_string(made), b.rank(x));
  }
  for (size_t axis = made.size() - pooled; b.ok() && axis < made.size(); ++axis) {
    const int64_t given = b.shape(x)[axis];
    const int64_t in = gradient ? made[axis] : given, out = gradient ? given : made[axis];
    ops::AxisWeights map{in, {}};
    for (int64_t o = 0; o < out; ++o) {
      const int64_t first = o * in / out, end = ((o + 1) * in + out - 1) / out;
      auto& row = map.rows.emplace_back();
      for (int64_t i = first; i < end; ++i)
        row.emplace_back(i, 1 / static_cast<double>(end - first));
    }
    x = apply(b, x, static_cast<int64_t>(axis), gradient ? map.transposed() : map);
  }
  b.out(0, x);
}

}  // namespace anynpu::singleop
