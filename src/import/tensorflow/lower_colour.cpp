// SPDX-License-Identifier: Apache-2.0
// Colours of pictures: the last axis is red, green, blue, or hue, saturation, value.
#include "import/tensorflow/lower.h"

namespace anynpu::tensorflow {

namespace {

struct Colours {
  ValueId a, b, c;
};

ValueId one_channel(Builder& b, ValueId x, int64_t at) { return b.slice(x, -1, at, at + 1); }

Colours channels_of(Builder& b, ValueId x) {
  return {one_channel(b, x, 0), one_channel(b, x, 1), one_channel(b, x, 2)};
}

ValueId joined(Builder& b, const Colours& c) {
  return b.node("Concat", 13, {c.a, c.b, c.c}, {{"axis", int64_t{-1}}});
}

ValueId of_like(Builder& b, ValueId like, double value) { return b.scalar(b.dtype(like), value); }

Colours to_hsv(Builder& b, const Colours& rgb) {
  const ValueId most = b.node("Max", 13, {rgb.a, rgb.b, rgb.c});
  const ValueId least = b.node("Min", 13, {rgb.a, rgb.b, rgb.c});
  const ValueId range = sub(b, most, least), zero = of_like(b, most, 0), one = of_like(b, most, 1);
  const auto above = [&](ValueId x) { return b.node("Greater", 13, {x, zero}); };
  const auto guarded = [&](ValueId x) { return b.node("Where", 16, {above(x), x, one}); };
  const ValueId saturation = b.node("Where", 16, {above(most), div(b, range, guarded(most)), zero});
  const ValueId norm = div(b, of_like(b, most, 1.0 / 6), guarded(range));
  const auto hue = [&](ValueId x, ValueId y, double turn) {
    return add(b, mul(b, norm, sub(b, x, y)), of_like(b, most, turn));
  };
  const ValueId of_green = b.node("Equal", 13, {rgb.b, most}),
                of_red = b.node("Equal", 13, {rgb.a, most});
  ValueId h =
      b.node("Where", 16, {of_green, hue(rgb.c, rgb.a, 2.0 / 6), hue(rgb.a, rgb.b, 4.0 / 6)});
  h = b.node("Where", 16, {of_red, hue(rgb.b, rgb.c, 0), h});
  h = b.node("Where", 16, {above(range), h, zero});
  h = b.node("Where", 16, {b.node("Less", 13, {h, zero}), add(b, h, one), h});
  return {h, saturation, most};
}

Colours to_rgb(Builder& b, const Colours& hsv) {
  const auto number = [&](double value) { return of_like(b, hsv.a, value); };
  const ValueId angle = mul(b, hsv.a, number(6));
  const auto clipped = [&](ValueId x) { return b.node("Clip", 13, {x, number(0), number(1)}); };
  const auto away = [&](double from) { return b.node("Abs", 13, {sub(b, angle, number(from))}); };
  const auto mixed = [&](ValueId part) {
    const ValueId grey = sub(b, number(1), hsv.b);
    return mul(b, add(b, grey, mul(b, hsv.b, part)), hsv.c);
  };
  return {mixed(clipped(sub(b, away(3), number(1)))), mixed(clipped(sub(b, number(2), away(2)))),
          mixed(clipped(sub(b, number(2), away(4))))};
}

}  // namespace

void lower_rgb_to_hsv(Builder& b) {
  const ValueId x = b.in(0);
  if (b.ok()) b.out(0, joined(b, to_hsv(b, channels_of(b, x))));
}

void lower_hsv_to_rgb(Builder& b) {
  const ValueId x = b.in(0);
  if (b.ok()) b.out(0, joined(b, to_rgb(b, channels_of(b, x))));
}

void lower_adjust_hue(Builder& b) {
  const ValueId x = b.in(0), delta = b.cast(b.in(1), b.dtype(b.in(0)));
  if (!b.ok()) return;
  Colours hsv = to_hsv(b, channels_of(b, x));
  const ValueId turned = add(b, hsv.a, delta);
  hsv.a = sub(b, turned, b.node("Floor", 13, {turned}));
  b.out(0, joined(b, to_rgb(b, hsv)));
}

void lower_adjust_saturation(Builder& b) {
  const ValueId x = b.in(0), factor = b.cast(b.in(1), b.dtype(b.in(0)));
  if (!b.ok()) return;
  Colours hsv = to_hsv(b, channels_of(b, x));
  hsv.b = b.node("Clip", 13, {mul(b, hsv.b, factor), of_like(b, x, 0), of_like(b, x, 1)});
  b.out(0, joined(b, to_rgb(b, hsv)));
}

// Away from the mean of each channel, or towards it.
void lower_adjust_contrast(Builder& b) {
  const ValueId x = b.in(0), factor = b.cast(b.in(1), b.dtype(b.in(0)));
  if (!b.has_rank(x, "the picture", 3)) return;
  const ValueId mean = b.node("ReduceMean", 18, {x, b.list({b.rank(x) - 3, b.rank(x) - 2})},
                              {{"keepdims", int64_t{1}}});
  b.out(0, add(b, mul(b, sub(b, x, mean), factor), mean));
}

}  // namespace anynpu::tensorflow
