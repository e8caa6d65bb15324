// SPDX-License-Identifier: Apache-2.0
// Pictures of another size, blocks of pictures, patches.
#include <algorithm>
#include <limits>

#include "graph/tensor_value.h"
#include "import/tensorflow/lower.h"

namespace anynpu::tensorflow {

namespace {

struct ResizeRule {
  bool corners, half;
  std::string coordinates() const {
    return corners ? "align_corners" : half ? "half_pixel" : "asymmetric";
  }
};

ResizeRule resize_rule(Builder& b) {
  return {b.flag("align_corners", false), b.flag("half_pixel_centers", false)};
}

// The extents of the result: those of the picture, with the size that the second input tells.
ValueId resized_extents(Builder& b, ValueId x) {
  const ValueId size = b.in_row(1);
  const auto known = b.known(size);
  if (known && known->size() == 2 && b.shape(x)[0] >= 0 && b.shape(x)[1] >= 0)
    return b.list({b.shape(x)[0], b.shape(x)[1], (*known)[0], (*known)[1]});
  return b.node("Concat", 13, {b.slice(b.shape_of(x), 0, 0, 2), size}, {{"axis", int64_t{0}}});
}

ValueId resize(Builder& b, ValueId x, NodeAttrs attrs) {
  if (!b.has_rank(x, "the picture", 4, 4)) return kNoValue;
  const ValueId extents = resized_extents(b, x);
  const ValueId y = b.node("Resize", 13, {x, kNoValue, kNoValue, extents}, std::move(attrs));
  const auto known = b.known(b.in_row(1));
  if (b.ok() && !b.has_shape(y)) {
    const bool sized = known && known->size() == 2;
    graph::Value& value = b.graph().values[static_cast<size_t>(y)];
    value.shape = {b.shape(x)[0], b.shape(x)[1], sized ? (*known)[0] : kDynamicDim,
                   sized ? (*known)[1] : kDynamicDim};
    value.has_shape = true;
  }
  return y;
}

}  // namespace

void lower_resize_bilinear(Builder& b) {
  const ValueId x = b.cast(b.in_first(0), DType::f32);
  const ResizeRule rule = resize_rule(b);
  b.out_first(0, resize(b, x,
                        {{"mode", std::string("linear")},
                         {"coordinate_transformation_mode", rule.coordinates()}}));
}

void lower_resize_nearest(Builder& b) {
  const ValueId x = b.in_first(0);
  const ResizeRule rule = resize_rule(b);
  // With half-pixel centres the pixel under the centre: floor((o + 0.5) * scale).
  const std::string nearest = rule.corners || rule.half ? "round_prefer_ceil" : "floor";
  b.out_first(0, resize(b, x,
                        {{"mode", std::string("nearest")},
                         {"coordinate_transformation_mode", rule.coordinates()},
                         {"nearest_mode", nearest}}));
}

void lower_resize_cubic(Builder& b) {
  const ValueId x = b.cast(b.in_first(0), DType::f32);
  const ResizeRule rule = resize_rule(b);
  b.out_first(0, resize(b, x,
                        {{"mode", std::string("cubic")},
                         {"coordinate_transformation_mode", rule.coordinates()},
                         {"cubic_coeff_a", rule.half ? -0.5f : -0.75f},
                         {"exclude_outside", int64_t{rule.half}}}));
}

void lower_depth_to_space(Builder& b) {
  const ValueId x = b.in_picture(0);
  b.out_picture(0, b.node("DepthToSpace", 13, {x},
                          {{"blocksize", b.i("block_size", 2)}, {"mode", std::string("DCR")}}));
}

void lower_space_to_depth(Builder& b) {
  const ValueId x = b.in_picture(0);
  b.out_picture(0, b.node("SpaceToDepth", 13, {x}, {{"blocksize", b.i("block_size", 2)}}));
}

namespace {

// The windows of a picture N, C, H, W, one tensor for each place inside the window: strided parts
// of the padded picture.
struct Taps {
  std::vector<ValueId> parts;  // by rows of the window
  int64_t height = 0, width = 0;
};

Taps window_taps(Builder& b, ValueId x, const Ints& window, const Ints& strides, const Ints& rates,
                 bool same, ValueId fill) {
  Taps taps;
  constexpr int64_t kMostTaps = 1024;
  if (!b.has_rank(x, "the picture", 4, 4) || !b.need_fixed(x, "the picture")) return taps;
  Ints pads(8, 0), count(2), reach(2);
  for (size_t a = 0; a < 2; ++a) {
    const int64_t in = b.shape(x)[a + 2];
    const int64_t span = (window[a] - 1) * rates[a] + 1;
    count[a] = same ? (in + strides[a] - 1) / strides[a] : (in - span + strides[a]) / strides[a];
    count[a] = std::max<int64_t>(count[a], 0);
    const int64_t missing = std::max<int64_t>((count[a] - 1) * strides[a] + span - in, 0);
    if (same) {
      pads[a + 2] = missing / 2;
      pads[a + 6] = missing - missing / 2;
    }
    reach[a] = (count[a] - 1) * strides[a] + 1;
  }
  taps.height = count[0];
  taps.width = count[1];
  if (window[0] * window[1] > kMostTaps || count[0] == 0 || count[1] == 0) {
    b.refuse(Code::unsupported_shape, "a window of {} over a picture of {} is not taken", window,
             to_string(b.shape(x)));
    return taps;
  }
  if (std::any_of(pads.begin(), pads.end(), [](int64_t pad) { return pad != 0; }))
    x = b.node("Pad", 18, {x, b.list(pads), fill});
  for (int64_t r = 0; r < window[0]; ++r) {
    for (int64_t c = 0; c < window[1]; ++c) {
      const Ints from = {r * rates[0], c * rates[1]};
      const Ints to = {from[0] + reach[0], from[1] + reach[1]};
      taps.parts.push_back(
          b.node("Slice", 13, {x, b.list(from), b.list(to), b.list({2, 3}), b.list(strides)}));
    }
  }
  return taps;
}

Ints inner_two(Builder& b, const char* name) {
  const Ints list = b.ints(name);
  if (list.size() == 4 && list[1] > 0 && list[2] > 0 && list[1] < (1 << 20) && list[2] < (1 << 20))
    return {list[1], list[2]};
  b.refuse(Code::invalid_argument, "'{}' is {}, expected four numbers above 0", name, list);
  return {1, 1};
}

}  // namespace

void lower_extract_patches(Builder& b) {
  const ValueId x = b.in_first(0);
  const Ints window = inner_two(b, "ksizes"), strides = inner_two(b, "strides"),
             rates = inner_two(b, "rates");
  const bool same = b.word("padding", "VALID", {"SAME", "VALID"}) == "SAME";
  const ValueId fill = b.ok() ? b.scalar(b.dtype(x), 0) : kNoValue;
  const Taps taps = window_taps(b, x, window, strides, rates, same, fill);
  if (b.ok()) b.out_first(0, b.node("Concat", 13, taps.parts, {{"axis", int64_t{1}}}));
}

// The largest of picture plus filter in each window.
void lower_dilation(Builder& b) {
  const ValueId x = b.in_first(0), filter = b.in(1);
  const Ints strides = inner_two(b, "strides"), rates = inner_two(b, "rates");
  const bool same = b.word("padding", "VALID", {"SAME", "VALID"}) == "SAME";
  if (!b.has_rank(filter, "the filter", 3, 3) || !b.need_fixed(filter, "the filter")) return;
  const Shape s = b.shape(filter);
  const ValueId lowest = b.scalar(b.dtype(x), -std::numeric_limits<double>::infinity());
  const Taps taps = window_taps(b, x, {s[0], s[1]}, strides, rates, same, lowest);
  if (!b.ok()) return;
  ValueId most = kNoValue;
  for (size_t t = 0; t < taps.parts.size(); ++t) {
    const auto row = static_cast<int64_t>(t) / s[1], column = static_cast<int64_t>(t) % s[1];
    const ValueId weights = b.slice(b.slice(filter, 0, row, row + 1), 1, column, column + 1);
    const ValueId sum = add(b, taps.parts[t], b.reshape(weights, {1, s[2], 1, 1}));
    most = most == kNoValue ? sum : b.node("Max", 13, {most, sum});
  }
  b.out_first(0, most);
}

}  // namespace anynpu::tensorflow
