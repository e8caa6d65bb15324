// SPDX-License-Identifier: Apache-2.0
// Deformable convolutions: every tap of a window reads at a place of its own and is scaled. The
// channels of `offset` say by how much all taps move along x, then along y, then the scales.
#include <algorithm>

#include "aclnn/arithmetic.h"

namespace anynpu::aclnn {

namespace {

constexpr DType kType = DType::f32;

struct Taps {
  int64_t batch = 0, channels = 0, height = 0, width = 0;  // of the picture
  int64_t rows = 0, columns = 0;                           // of the result
  int64_t tall = 0, wide = 0;                              // taps of a window
  int64_t groups = 1, parts = 1;                           // parts: channels that move together
  Ints down, across;  // where each tap of each window lies without an offset

  int64_t taps() const { return tall * wide; }
};

constexpr int64_t kMost = int64_t{1} << 30;

// Four numbers of at least `least`.
Ints four(Recipe& r, const char* name, int64_t least) {
  const Ints list = r.ints(name);
  const auto fits = [&](int64_t v) { return v >= least && v <= kMost; };
  if (list.size() != 4 || !std::all_of(list.begin(), list.end(), fits)) {
    refuse("{} is {}; expected 4 numbers of {} to {}", name, list.plain(), least, kMost);
  }
  return list;
}

// For axes N, C, H, W, of which the first two do nothing.
Ints of_axes(Recipe& r, const char* name) {
  const Ints list = four(r, name, 1);
  if (list[0] != 1 || list[1] != 1)
    refuse("{} is {}; expected 1 for the first two axes", name, list.plain());
  return {list[2], list[3]};
}

Ints places(int64_t windows, int64_t taps, int64_t stride, int64_t pad, int64_t dilation) {
  Ints found;
  for (int64_t w = 0; w < windows; ++w) {
    for (int64_t t = 0; t < taps; ++t) found.push_back(w * stride - pad + t * dilation);
  }
  return found;
}

Taps taps_of(Recipe& r, const char* picture) {
  const Shape x = r.shape(picture), weight = r.shape("weight"), offset = r.shape("offset");
  if (x.size() != 4 || weight.size() != 4 || offset.size() != 4) {
    refuse("{}, weight and offset have {}, {} and {} axes; expected 4", picture, x.size(),
           weight.size(), offset.size());
  }
  if (!r.flag("modulated")) refuse("modulated is false; expected true, with scales in offset");
  const Ints stride = of_axes(r, "stride"), dilation = of_axes(r, "dilation");
  const Ints pad = four(r, "padding", 0), kernel = r.ints("kernelSize");
  Taps t{x[0],
         x[1],
         x[2],
         x[3],
         0,
         0,
         weight[2],
         weight[3],
         r.integer("groups"),
         r.integer("deformableGroups"),
         {},
         {}};
  if (kernel.size() != 2 || kernel[0] != t.tall || kernel[1] != t.wide) {
    refuse("kernelSize is {} and weight {}; expected its last two extents", kernel.plain(),
           to_string(weight));
  }
  if (t.height < 1 || t.width < 1 || t.tall < 1 || t.wide < 1) {
    refuse("{} is {} and weight {}; expected pixels and taps", picture, to_string(x),
           to_string(weight));
  }
  if (t.groups < 1 || t.parts < 1 || t.channels % t.groups != 0 || t.channels % t.parts != 0 ||
      weight[0] % t.groups != 0 || weight[1] != t.channels / t.groups) {
    refuse(
        "{} is {} and weight {} with groups {} and deformableGroups {}; expected divisors of the "
        "channels",
        picture, to_string(x), to_string(weight), t.groups, t.parts);
  }
  t.rows = (t.height + pad[0] + pad[1] - dilation[0] * (t.tall - 1) - 1) / stride[0] + 1;
  t.columns = (t.width + pad[2] + pad[3] - dilation[1] * (t.wide - 1) - 1) / stride[1] + 1;
  const Shape expected{t.batch, 3 * t.parts * t.taps(), t.rows, t.columns};
  if (offset != expected)
    refuse("offset is {}; expected {}", to_string(offset), to_string(expected));
  check_items(t.rows * t.tall);
  check_items(t.columns * t.wide);
  t.down = places(t.rows, t.tall, stride[0], pad[0], dilation[0]);
  t.across = places(t.columns, t.wide, stride[1], pad[2], dilation[1]);
  return t;
}

// A third of the offset's channels, with taps beside each other as the convolution walks them:
// one plane a part.
Value third(Recipe& r, const Taps& t, Value offset, int64_t which) {
  const int64_t each = t.parts * t.taps();
  const Value own = r.slice(offset, 1, which * each, (which + 1) * each);
  const Value cut = r.reshape(own, {t.batch * t.parts, t.tall, t.wide, t.rows, t.columns});
  return r.reshape(r.transpose(cut, {0, 3, 1, 4, 2}),
                   {t.batch * t.parts, t.rows * t.tall, t.columns * t.wide});
}

// The way back.
Value channels_of(Recipe& r, const Taps& t, Value plane) {
  const Value cut = r.reshape(plane, {t.batch * t.parts, t.rows, t.tall, t.columns, t.wide});
  return r.reshape(r.transpose(cut, {0, 2, 4, 1, 3}),
                   {t.batch, t.parts * t.taps(), t.rows, t.columns});
}

struct Read {
  Value x, grid, scales, values;  // by parts
};

// -1 and 1 are the outer edges of the first and the last pixel.
Value normal(Recipe& r, Value moved, const Ints& base, const Shape& lie, int64_t extent) {
  const Value at = r.op("Add", {moved, r.reshape(r.cast(r.constant(base), kType), lie)});
  const Value twice = r.op("Add", {r.op("Mul", {at, r.constant(kType, 2)}), r.constant(kType, 1)});
  const Value scaled = r.op("Div", {twice, r.constant(kType, static_cast<double>(extent))});
  const Value y = r.op("Sub", {scaled, r.constant(kType, 1)});
  Shape one = r.shape(y);
  one.push_back(1);
  return r.reshape(y, one);
}

Read read(Recipe& r, const Taps& t, const char* picture) {
  Read made;
  const int64_t each = t.channels / t.parts, tall = t.rows * t.tall, wide = t.columns * t.wide;
  const Value offset = r.cast(r.in("offset"), kType);
  made.x = r.reshape(r.cast(r.in(picture), kType), {t.batch * t.parts, each, t.height, t.width});
  const Value across = normal(r, third(r, t, offset, 0), t.across, {1, 1, wide}, t.width);
  const Value down = normal(r, third(r, t, offset, 1), t.down, {1, tall, 1}, t.height);
  made.grid = r.op("Concat", {across, down}, {{"axis", 3}});
  made.scales = r.reshape(third(r, t, offset, 2), {t.batch * t.parts, 1, tall, wide});
  made.values = r.op("GridSample", {made.x, made.grid},
                     {{"mode", "linear"}, {"padding_mode", "zeros"}, {"align_corners", 0}});
  return made;
}

void convolve(Recipe& r) {
  const Taps t = taps_of(r, "x");
  const Read seen = read(r, t, "x");
  const Value columns = r.reshape(r.op("Mul", {seen.values, seen.scales}),
                                  {t.batch, t.channels, t.rows * t.tall, t.columns * t.wide});
  const Value bias = r.given("biasOptional") ? r.cast(r.in("biasOptional"), kType) : Value{};
  r.out("out", r.op("Conv", {columns, r.cast(r.in("weight"), kType), bias},
                    {{"strides", Ints{t.tall, t.wide}}, {"group", t.groups}}));
  r.out_if("deformOutOptional", columns);
}

void gradient(Recipe& r) {
  const Taps t = taps_of(r, "input");
  const Shape kernel = r.shape("weight"), grad_shape{t.batch, kernel[0], t.rows, t.columns};
  if (r.shape("gradOutput") != grad_shape) {
    refuse("gradOutput is {}; expected {}", to_string(r.shape("gradOutput")),
           to_string(grad_shape));
  }
  const int64_t positions = t.rows * t.columns, out = kernel[0] / t.groups, in = kernel[1];
  const Value grad = r.cast(r.in("gradOutput"), kType);
  r.out_if("gradBias", r.op("ReduceSum", {grad, r.constant({0, 2, 3})}, {{"keepdims", 0}}));
  // By groups: (out, all positions) of the gradient, (in * taps, all positions) of what was read.
  const Value turned =
      r.reshape(r.transpose(r.reshape(grad, {t.batch, kernel[0], positions}), {1, 0, 2}),
                {t.groups, out, t.batch * positions});
  const Value columns = r.cast(r.in("offsetOut"), kType);
  const Value cut = r.reshape(columns, {t.batch, t.channels, t.rows, t.tall, t.columns, t.wide});
  const Value by_taps = r.reshape(r.transpose(cut, {1, 3, 5, 0, 2, 4}),
                                  {t.groups, in * t.taps(), t.batch * positions});
  r.out_if("gradWeight",
           r.reshape(r.op("FusedMatMul", {turned, by_taps}, {{"transB", 1}}), kernel));
  const Value weight = r.reshape(r.cast(r.in("weight"), kType), {t.groups, out, in * t.taps()});
  const Value pulled = r.reshape(r.op("FusedMatMul", {weight, turned}, {{"transA", 1}}),
                                 {t.channels, t.tall, t.wide, t.batch, t.rows, t.columns});
  const Read seen = read(r, t, "input");
  const Value of_columns = r.reshape(r.transpose(pulled, {3, 0, 4, 1, 5, 2}), r.shape(seen.values));
  const auto both =
      r.ops("GridSampleGrad", {r.op("Mul", {of_columns, seen.scales}), seen.x, seen.grid}, 2,
            {{"mode", "linear"}, {"padding_mode", "zeros"}, {"align_corners", 0}});
  r.out_if("gradInput", r.reshape(both[0], {t.batch, t.channels, t.height, t.width}));
  const auto moved = [&](int64_t which, int64_t extent) {
    const Value pixels = r.constant(kType, 2.0 / static_cast<double>(extent));
    return channels_of(r, t, r.op("Mul", {r.slice(both[1], 3, which, which + 1), pixels}));
  };
  const Value scales = r.op("ReduceSum", {r.op("Mul", {of_columns, seen.values}), r.constant({1})},
                            {{"keepdims", 0}});
  r.out_if("gradOffset",
           r.op("Concat", {moved(0, t.width), moved(1, t.height), channels_of(r, t, scales)},
                {{"axis", 1}}));
}

const Row kRows[] = {
    {"aclnnDeformableConv2d", convolve},
    {"aclnnDeformableConv2dBackward", gradient},
};

}  // namespace

std::span<const Row> deformable_conv_rows() { return kRows; }

}  // namespace anynpu::aclnn
