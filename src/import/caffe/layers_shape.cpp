// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "base/text.h"
#include "import/caffe/layers.h"

namespace anynpu::caffe {

namespace {

using Ints = std::vector<int64_t>;

// The extents of `shape`, with 0 ("as it is") for those known at run time only.
Ints kept(const Shape& shape) {
  Ints made = shape;
  for (int64_t& extent : made) extent = extent < 0 ? 0 : extent;
  return made;
}

// Row indices come as floats.
Result<ValueId> rows(Builder& b, ValueId table, ValueId indices) {
  ANYNPU_ASSIGN(const ValueId whole, b.add("Cast", {indices}, {{"to", int64_t{7}}}));
  return b.add("Gather", {table, whole}, {{"axis", int64_t{0}}});
}

}  // namespace

Status concat(Builder& b) {
  ANYNPU_TRY(b.expect_at_least(1, 1));
  Params params(b.layer(), "concat_param");
  const int64_t given = params.integer("axis", params.integer("concat_dim", 1), -8, 8);
  ANYNPU_TRY(params.status());
  ANYNPU_ASSIGN(const int64_t axis, b.axis(given, b.rank(b.bottom(0))));
  std::vector<ValueId> inputs;
  for (size_t i = 0; i < b.bottoms(); ++i) inputs.push_back(b.bottom(i));
  return b.set_top(0, b.add("Concat", inputs, {{"axis", axis}}));
}

Status slice(Builder& b) {
  ANYNPU_TRY(b.expect_at_least(1, 1));
  Params params(b.layer(), "slice_param");
  const int64_t given = params.integer("axis", params.integer("slice_dim", 1), -8, 8);
  const Ints points = params.integers("slice_point");
  ANYNPU_TRY(params.status());
  const ValueId x = b.bottom(0);
  ANYNPU_ASSIGN(const int64_t axis, b.axis(given, b.rank(x)));
  ANYNPU_ASSIGN(const int64_t extent, b.extent(x, axis));
  const auto tops = static_cast<int64_t>(b.layer().tops.size());
  Ints sizes;
  if (points.empty()) {
    if (extent % tops != 0) {
      return fail(Code::shape_mismatch,
                  "its axis has {} elements, which do not split into {} equal tops; give "
                  "slice_point",
                  extent, tops);
    }
    sizes.assign(static_cast<size_t>(tops), extent / tops);
  } else {
    int64_t before = 0;
    for (int64_t point : points) {
      sizes.push_back(point - before);
      before = point;
    }
    sizes.push_back(extent - before);
  }
  if (static_cast<int64_t>(sizes.size()) != tops ||
      std::any_of(sizes.begin(), sizes.end(), [](int64_t size) { return size < 1; })) {
    return fail(Code::invalid_argument,
                "slice_point {} of {} elements into {} tops; expected one point fewer than tops, "
                "growing",
                points, extent, tops);
  }
  if (tops == 1) return b.set_top(0, x);
  ANYNPU_ASSIGN(const auto made, b.add_several("Split", {x, b.integers(sizes)}, {{"axis", axis}},
                                               static_cast<size_t>(tops)));
  for (size_t i = 0; i < made.size(); ++i) ANYNPU_TRY(b.set_top(i, made[i]));
  return {};
}

Status flatten(Builder& b) {
  ANYNPU_TRY(b.expect(1, 1));
  Params params(b.layer(), "flatten_param");
  const ValueId x = b.bottom(0);
  ANYNPU_ASSIGN(const int64_t first, b.axis(params.integer("axis", 1, -8, 8), b.rank(x)));
  ANYNPU_ASSIGN(const int64_t last, b.axis(params.integer("end_axis", -1, -8, 8), b.rank(x)));
  ANYNPU_TRY(params.status());
  if (last < first) {
    return fail(Code::invalid_argument,
                "end_axis is {}; expected at least {}, the axis it starts at", last, first);
  }
  if (first == 1 && last == b.rank(x) - 1) {
    return b.set_top(0, b.add("Flatten", {x}, {{"axis", int64_t{1}}}));
  }
  Ints target(static_cast<size_t>(first), 0);
  target.push_back(-1);
  for (int64_t i = last + 1; i < b.rank(x); ++i) {
    ANYNPU_ASSIGN(const int64_t extent, b.extent(x, i));
    target.push_back(extent);
  }
  return b.set_top(0, b.reshape(x, target));
}

Status reshape_layer(Builder& b) {
  ANYNPU_TRY(b.expect(1, 1));
  Params params(b.layer(), "reshape_param");
  const TextField* text = params.message("shape");
  const ValueId x = b.bottom(0);
  const int64_t rank = b.rank(x);
  const int64_t axes = params.integer("num_axes", -1, -1, 8);
  int64_t first = params.integer("axis", 0, -8, 8);
  ANYNPU_TRY(params.status());
  if (first < 0) first += rank + 1;
  const int64_t end = axes < 0 ? rank : first + axes;
  if (first < 0 || end > rank || first > end) {
    return fail(Code::invalid_argument,
                "axis is {} and num_axes {} on a bottom of the shape {}; expected them to end "
                "within its axes (num_axes: -1 for all behind axis)",
                params.integer("axis", 0, -8, 8), axes, to_string(b.shape(x)));
  }
  Ints target;
  for (int64_t i = 0; i < first; ++i) target.push_back(0);
  for (const TextField* dim : text ? text->all("dim") : std::vector<const TextField*>{}) {
    int64_t extent = 0;
    ANYNPU_TRY(dim->to(extent));
    const auto index = static_cast<int64_t>(target.size());
    if (extent < -1 || (extent == 0 && index >= end)) {
      return fail(Code::invalid_argument, "{}: dim is {}; expected an extent, 0 (copy) or -1",
                  dim->where(), extent);
    }
    target.push_back(extent);
  }
  for (int64_t i = end; i < rank; ++i) {
    ANYNPU_ASSIGN(const int64_t extent, b.extent(x, i));
    target.push_back(extent);
  }
  return b.set_top(0, b.reshape(x, target));
}

Status permute(Builder& b) {
  ANYNPU_TRY(b.expect(1, 1));
  Params params(b.layer(), "permute_param");
  Ints order = params.integers("order");
  ANYNPU_TRY(params.status());
  // Axes that are not named follow in their own order.
  for (int64_t i = 0; i < b.rank(b.bottom(0)); ++i) {
    if (!contains(order, i)) order.push_back(i);
  }
  return b.set_top(0, b.add("Transpose", {b.bottom(0)}, {{"perm", order}}));
}

Status crop(Builder& b) {
  ANYNPU_TRY(b.expect(2, 1));
  Params params(b.layer(), "crop_param");
  const ValueId x = b.bottom(0), like = b.bottom(1);
  if (b.rank(x) != b.rank(like)) {
    return fail(Code::shape_mismatch, "its bottoms are {} and {}; expected the same rank",
                to_string(b.shape(x)), to_string(b.shape(like)));
  }
  ANYNPU_ASSIGN(const int64_t first, b.axis(params.integer("axis", 2, -8, 8), b.rank(x)));
  Ints offsets = params.integers("offset");
  ANYNPU_TRY(params.status());
  const auto count = static_cast<size_t>(b.rank(x) - first);
  if (offsets.empty()) offsets = {0};
  if (offsets.size() == 1) offsets.assign(count, offsets[0]);
  if (offsets.size() != count) {
    return fail(Code::invalid_argument, "it has {} offsets; expected 1 or {}", offsets.size(),
                count);
  }
  Ints ends, axes;
  for (size_t i = 0; i < count; ++i) {
    const int64_t axis = first + static_cast<int64_t>(i);
    ANYNPU_ASSIGN(const int64_t from, b.extent(x, axis));
    ANYNPU_ASSIGN(const int64_t to, b.extent(like, axis));
    if (offsets[i] + to > from) {
      return fail(Code::shape_mismatch,
                  "it takes {} elements from offset {} of axis {}, which has {}; expected offset "
                  "and extent of the second bottom to fit",
                  to, offsets[i], axis, from);
    }
    ends.push_back(offsets[i] + to);
    axes.push_back(axis);
  }
  return b.set_top(0, b.add("Slice", {x, b.integers(offsets), b.integers(ends), b.integers(axes)}));
}

Status tile(Builder& b) {
  ANYNPU_TRY(b.expect(1, 1));
  Params params(b.layer(), "tile_param");
  const ValueId x = b.bottom(0);
  ANYNPU_ASSIGN(const int64_t axis, b.axis(params.integer("axis", 1, -8, 8), b.rank(x)));
  Ints repeats(static_cast<size_t>(b.rank(x)), 1);
  repeats[static_cast<size_t>(axis)] = params.integer("tiles", 1, 1);
  ANYNPU_TRY(params.status());
  return b.set_top(0, b.add("Tile", {x, b.integers(repeats)}));
}

Status embed(Builder& b) {
  ANYNPU_TRY(b.expect(1, 1));
  Params params(b.layer(), "embed_param");
  const int64_t outputs = params.integer("num_output", 1, 1);
  const int64_t inputs = params.integer("input_dim", 1, 1);
  const bool has_bias = params.flag("bias_term", true);
  ANYNPU_TRY(params.status());
  ANYNPU_ASSIGN(const ValueId table, b.weight(0, {inputs, outputs}));
  ANYNPU_ASSIGN(ValueId y, rows(b, table, b.bottom(0)));
  if (has_bias) {
    ANYNPU_ASSIGN(const ValueId offsets, b.weight(1, {outputs}));
    ANYNPU_ASSIGN(y, b.add("Add", {y, offsets}));
  }
  return b.set_top(0, y);
}

Status batch_reindex(Builder& b) {
  ANYNPU_TRY(b.expect(2, 1));
  return b.set_top(0, rows(b, b.bottom(0), b.bottom(1)));
}

Status shuffle_channel(Builder& b) {
  ANYNPU_TRY(b.expect(1, 1));
  Params params(b.layer(), "shuffle_channel_param");
  const int64_t group = params.integer("group", 1, 1);
  ANYNPU_TRY(params.status());
  const ValueId x = b.bottom(0);
  ANYNPU_ASSIGN(const int64_t channels, b.extent(x, 1));
  if (channels % group != 0) {
    return fail(Code::shape_mismatch,
                "group is {}; expected a divisor of the {} channels of its bottom", group,
                channels);
  }
  const Ints whole = kept(b.shape(x));
  Ints split = {0, group, channels / group, -1};
  ANYNPU_ASSIGN(ValueId y, b.reshape(x, split));
  ANYNPU_ASSIGN(y, b.add("Transpose", {y}, {{"perm", Ints{0, 2, 1, 3}}}));
  return b.set_top(0, b.reshape(y, [&] {
    Ints target = {0, channels};
    for (size_t i = 2; i < whole.size(); ++i) target.push_back(whole[i]);
    return target;
  }()));
}

// N x C x H x W -> N x (C s s) x H/s x W/s: each block of s x s pixels becomes channels; reverse:
// C/(s s) x H s x W s.
Status reorg(Builder& b) {
  ANYNPU_TRY(b.expect(1, 1));
  Params params(b.layer(), "reorg_param");
  const int64_t stride = params.integer("stride", 2, 1, 1 << 12);
  const bool reverse = params.flag("reverse", false);
  ANYNPU_TRY(params.status());
  if (reverse) {
    return b.set_top(0, b.add("DepthToSpace", {b.bottom(0)},
                              {{"blocksize", stride}, {"mode", std::string("DCR")}}));
  }
  const ValueId x = b.bottom(0);
  ANYNPU_ASSIGN(const int64_t channels, b.extent(x, 1));
  ANYNPU_ASSIGN(const int64_t height, b.extent(x, 2));
  ANYNPU_ASSIGN(const int64_t width, b.extent(x, 3));
  const int64_t area = stride * stride;
  if (channels % area != 0 || height % stride != 0 || width % stride != 0) {
    return fail(Code::unsupported_shape, "its bottom is {}; expected multiples of the stride {}",
                to_string(b.shape(x)), stride);
  }
  // Darknet's order: it writes as if the output had C/(s s) channels of H s x W s pixels.
  const int64_t few = channels / area;
  ANYNPU_ASSIGN(ValueId y, b.reshape(x, {-1, few, height, stride, width, stride}));
  ANYNPU_ASSIGN(y, b.add("Transpose", {y}, {{"perm", Ints{0, 3, 5, 1, 2, 4}}}));
  return b.set_top(0, b.reshape(y, {-1, channels * area, height / stride, width / stride}));
}

Status silence(Builder&) { return {}; }

}  // namespace anynpu::caffe
