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

// The windows of a picture N, C and its spatial axes, one tensor for each place inside the window
// (by rows of it): strided parts of the padded picture.
std::vector<ValueId> window_taps(Builder& b, ValueId x, const Ints& window, const Ints& strides,
                                 const Ints& rates, bool same, ValueId fill) {
  std::vector<ValueId> taps;
  constexpr int64_t kMostTaps = 1024;
  const size_t axes = window.size();
  const auto rank = static_cast<int64_t>(axes) + 2;
  if (!b.has_rank(x, "the picture", rank, rank) || !b.need_fixed(x, "the picture")) return taps;
  Ints pads(2 * static_cast<size_t>(rank), 0), reach(axes), spatial(axes);
  int64_t places = 1;
  bool empty = false;
  for (size_t a = 0; a < axes; ++a) {
    const int64_t in = b.shape(x)[a + 2];
    const int64_t span = (window[a] - 1) * rates[a] + 1;
    const int64_t count =
        same ? (in + strides[a] - 1) / strides[a] : (in - span + strides[a]) / strides[a];
    const int64_t missing = std::max<int64_t>((count - 1) * strides[a] + span - in, 0);
    if (same) {
      pads[a + 2] = missing / 2;
      pads[a + 2 + static_cast<size_t>(rank)] = missing - missing / 2;
    }
    reach[a] = (count - 1) * strides[a] + 1;
    spatial[a] = static_cast<int64_t>(a) + 2;
    places = std::min(places * window[a], kMostTaps + 1);
    empty = empty || count < 1;
  }
  if (places > kMostTaps || empty) {
    b.refuse(
        Code::unsupported_shape,
        "a window of {} over a picture of {}; expected one that fits inside and has at most {} "
        "elements",
        window, to_string(b.shape(x)), kMostTaps);
    return taps;
  }
  if (std::any_of(pads.begin(), pads.end(), [](int64_t pad) { return pad != 0; }))
    x = b.node("Pad", 18, {x, b.list(pads), fill});
  for (int64_t place = 0; place < places; ++place) {
    Ints from(axes), to(axes);
    int64_t rest = place;
    for (size_t a = axes; a-- > 0; rest /= window[a]) {
      from[a] = rest % window[a] * rates[a];
      to[a] = from[a] + reach[a];
    }
    taps.push_back(
        b.node("Slice", 13, {x, b.list(from), b.list(to), b.list(spatial), b.list(strides)}));
  }
  return taps;
}

// The entries of the spatial axes, of a list that has one for each axis.
Ints inner_entries(Builder& b, const char* name, size_t axes) {
  constexpr int64_t kMost = 1 << 20;
  Ints list = b.ints(name);
  const auto fits = [](int64_t entry) { return entry > 0 && entry < kMost; };
  if (list.size() == axes + 2 && std::all_of(list.begin() + 1, list.end() - 1, fits))
    return {list.begin() + 1, list.end() - 1};
  b.refuse(Code::invalid_argument, "'{}' is {}, expected {} numbers above 0", name, list, axes + 2);
  return Ints(axes, 1);
}

}  // namespace

void lower_extract_patches(Builder& b) {
  const size_t axes = b.type() == "ExtractVolumePatches" ? 3 : 2;
  const ValueId x = b.in_first(0);
  const Ints window = inner_entries(b, "ksizes", axes), strides = inner_entries(b, "strides", axes);
  const Ints rates = axes == 2 ? inner_entries(b, "rates", axes) : Ints(axes, 1);
  const bool same = b.word("padding", "VALID", {"SAME", "VALID"}) == "SAME";
  const ValueId fill = b.ok() ? b.scalar(b.dtype(x), 0) : kNoValue;
  const auto taps = window_taps(b, x, window, strides, rates, same, fill);
  if (b.ok()) b.out_first(0, b.node("Concat", 13, taps, {{"axis", int64_t{1}}}));
}

// The largest of picture plus filter in each window.
void lower_dilation(Builder& b) {
  const ValueId x = b.in_first(0), filter = b.in(1);
  const Ints strides = inner_entries(b, "strides", 2), rates = inner_entries(b, "rates", 2);
  const bool same = b.word("padding", "VALID", {"SAME", "VALID"}) == "SAME";
  if (!b.has_rank(filter, "the filter", 3, 3) || !b.need_fixed(filter, "the filter")) return;
  const Shape s = b.shape(filter);
  const ValueId lowest = b.scalar(b.dtype(x), -std::numeric_limits<double>::infinity());
  const auto taps = window_taps(b, x, {s[0], s[1]}, strides, rates, same, lowest);
  if (!b.ok()) return;
  ValueId most = kNoValue;
  for (size_t t = 0; t < taps.size(); ++t) {
    const auto row = static_cast<int64_t>(t) / s[1], column = static_cast<int64_t>(t) % s[1];
    const ValueId weights = b.slice(b.slice(filter, 0, row, row + 1), 1, column, column + 1);
    const ValueId sum = add(b, taps[t], b.reshape(weights, {1, s[2], 1, 1}));
    most = most == kNoValue ? sum : b.node("Max", 13, {most, sum});
  }
  b.out_first(0, most);
}

}  // namespace anynpu::tensorflow
