// SPDX-License-Identifier: Apache-2.0
// Windows that slide over pictures: convolution and pooling. TensorFlow lists strides, windows and
// dilations for all axes in the order of data_format; ours take those of the picture.
#include <algorithm>

#include "import/tensorflow/lower.h"
#include "import/tensorflow/window.h"

namespace anynpu::tensorflow {

namespace {

// [spatial..., in, out] -> [out, in, spatial...]
Ints filter_order(size_t rank) {
  Ints order = {static_cast<int64_t>(rank) - 1, static_cast<int64_t>(rank) - 2};
  for (size_t i = 0; i + 2 < rank; ++i) order.push_back(static_cast<int64_t>(i));
  return order;
}

// A Pad with zeros in front of a convolution without padding is the convolution's padding.
ValueId without_pad(Builder& b, ValueId x, NodeAttrs& attrs) {
  const auto found = attrs.find("pads");
  const auto padding = found == attrs.end() ? nullptr : std::get_if<Ints>(&found->second);
  if (!padding) return x;
  const graph::Node* node = b.maker(x);
  if (!node || node->op != "Pad" || node->string_attr("mode", "constant") != "constant") return x;
  const auto pads = b.known(node->inputs[1]);
  const auto fill = node->inputs.size() > 2 ? b.known_number(node->inputs[2]) : 0.0;
  if (!pads || !fill || *fill != 0) return x;
  const size_t rank = pads->size() / 2;
  if (rank != padding->size() / 2 + 2) return x;
  for (size_t i : {size_t{0}, size_t{1}, rank, rank + 1}) {
    if ((*pads)[i] != 0) return x;
  }
  if (std::any_of(pads->begin(), pads->end(), [](int64_t pad) { return pad < 0; })) return x;
  for (size_t i = 0; i + 2 < rank; ++i) {
    (*padding)[i] += (*pads)[i + 2];
    (*padding)[rank - 2 + i] += (*pads)[rank + i + 2];
  }
  return node->inputs[0];
}

}  // namespace

void lower_conv(Builder& b) {
  ValueId x = b.in_picture(0), w = b.in(1);
  if (!b.has_rank(x, "the picture", 3, 5) || !b.has_rank(w, "the filter", b.rank(x), b.rank(x)))
    return;
  NodeAttrs attrs = window_attrs(b, static_cast<size_t>(b.rank(x)), Window::with_dilations);
  w = b.transpose(w, filter_order(static_cast<size_t>(b.rank(w))));
  if (!b.ok()) return;
  const int64_t channels = b.shape(x)[1], of_filter = b.shape(w)[1];
  if (channels > 0 && (of_filter <= 0 || channels % of_filter != 0)) {
    b.refuse(Code::shape_mismatch,
             "the picture has {} channels, the filter takes {}; expected a multiple of those",
             channels, of_filter);
    return;
  }
  if (channels > 0) attrs["group"] = channels / of_filter;
  x = without_pad(b, x, attrs);
  // Whole numbers are summed in double, which holds them, and wrap as they do in TensorFlow.
  const DType type = b.dtype(x);
  if (!is_floating(type)) {
    const ValueId y =
        b.node("Conv", 11, {b.cast(x, DType::f64), b.cast(w, DType::f64)}, std::move(attrs));
    return b.out_picture(0, b.cast(b.cast(y, DType::i64), type));
  }
  b.out_picture(0, b.node("Conv", 11, {x, w}, std::move(attrs)));
}

// Filter [h, w, channels, multiplier] -> [channels * multiplier, 1, h, w].
void lower_depthwise_conv(Builder& b) {
  ValueId x = b.in_picture(0), w = b.in(1);
  if (!b.has_rank(x, "the picture", 4, 4) || !b.has_rank(w, "the filter", 4, 4)) return;
  NodeAttrs attrs = window_attrs(b, 4, Window::with_dilations);
  const Shape s = b.shape(w);
  if (!b.need_fixed(w, "the filter")) return;
  attrs["group"] = s[2];
  w = b.reshape(b.transpose(w, {2, 3, 0, 1}), {s[2] * s[3], 1, s[0], s[1]});
  x = without_pad(b, x, attrs);
  b.out_picture(0, b.node("Conv", 11, {x, w}, std::move(attrs)));
}

namespace {

// The largest of each group of channels: a window over them alone.
bool pools_channels(Builder& b) {
  if (!b.channels_last() || !b.ok()) return false;
  const Ints window = b.ints("ksize"), strides = b.ints("strides");
  if (window.size() != 4 || window[3] <= 1 || window[0] != 1 || window[1] != 1 || window[2] != 1 ||
      strides != window)
    return false;
  const ValueId x = b.in(0);
  if (!b.has_rank(x, "the picture", 4, 4)) return true;
  const Shape s = b.shape(x);
  if (s[3] < 0 || s[3] % window[3] != 0) {
    b.refuse(Code::shape_mismatch, "groups of {} channels are asked for, the picture is {}",
             window[3], to_string(s));
    return true;
  }
  const ValueId groups = b.node("Reshape", 13, {x, b.list({0, 0, 0, s[3] / window[3], window[3]})});
  b.out(0, b.node("ReduceMax", 18, {groups, b.list({4})}, {{"keepdims", int64_t{0}}}));
  return true;
}

// Types that MaxPool has kernels for are taken as they are, other integers as double: those above
// 2^53 lose their last digits.
ValueId for_pooling(Builder& b, ValueId x) {
  const DType type = b.dtype(x);
  const bool direct = is_floating(type) || type == DType::i8 || type == DType::u8;
  return b.ok() && !direct ? b.cast(x, DType::f64) : x;
}

}  // namespace

void lower_max_pool(Builder& b) {
  if (pools_channels(b)) return;
  const ValueId x = b.in_picture(0);
  if (!b.has_rank(x, "the picture", 4, 5)) return;
  NodeAttrs attrs = window_attrs(b, static_cast<size_t>(b.rank(x)), Window::of_pooling);
  const ValueId y = b.node("MaxPool", 12, {for_pooling(b, x)}, std::move(attrs));
  b.out_picture(0, b.cast(y, b.dtype(x)));
}

// The mean of what lies inside the picture: padding does not count.
void lower_avg_pool(Builder& b) {
  const ValueId x = b.in_picture(0);
  if (!b.has_rank(x, "the picture", 4, 5)) return;
  NodeAttrs attrs = window_attrs(b, static_cast<size_t>(b.rank(x)), Window::of_pooling);
  b.out_picture(0, b.node("AveragePool", 11, {x}, std::move(attrs)));
}

// The gradient of each window goes to the first of its largest elements.
void lower_max_pool_grad(Builder& b) {
  const ValueId x = b.in_picture(0), y = b.in_picture(2);
  if (!b.has_rank(x, "the picture", 4, 5) || !b.need_fixed(x, "the picture")) return;
  const NodeAttrs attrs = window_attrs(b, static_cast<size_t>(b.rank(x)), Window::of_pooling);
  const auto made = b.nodes("MaxPool", 12, {for_pooling(b, x)}, 2, attrs);
  if (!b.ok()) return;
  const ValueId zeros = b.filled(b.dtype(y), {element_count(b.shape(x))}, 0);
  const ValueId summed =
      b.node("ScatterElements", 18, {zeros, b.reshape(made[1], {-1}), b.reshape(y, {-1})},
             {{"axis", int64_t{0}}, {"reduction", std::string("add")}});
  b.out_picture(0, b.reshape(summed, b.shape(x)));
}

// The place of each largest element counts over height, width and channels of the model's order.
void lower_max_pool_argmax(Builder& b) {
  const ValueId x = b.in_first(0);
  if (!b.has_rank(x, "the picture", 4, 4) || !b.need_fixed(x, "the picture")) return;
  const DType type = b.type("Targmax", DType::i64);
  const bool batches = b.flag("include_batch_in_index", false);
  const NodeAttrs attrs = window_attrs(b, 4, Window::of_pooling);
  const auto made = b.nodes("MaxPool", 12, {for_pooling(b, x)}, 2, attrs);
  if (!b.ok()) return;
  const Shape s = b.shape(x);
  const auto number = [&](int64_t value) { return b.whole(DType::i64, value); };
  const auto counted = [&](int64_t count, Ints shape) {
    Ints numbers;
    for (int64_t i = 0; i < count; ++i) numbers.push_back(i);
    return b.reshape(b.list(numbers), shape);
  };
  const ValueId pixel = b.node("Mod", 13, {made[1], number(s[2] * s[3])});
  ValueId place = add(b, mul(b, pixel, number(s[1])), counted(s[1], {s[1], 1, 1}));
  if (batches)
    place = add(b, place, mul(b, counted(s[0], {s[0], 1, 1, 1}), number(s[1] * s[2] * s[3])));
  b.out_first(0, b.cast(made[0], b.dtype(x)));
  b.out_first(1, b.cast(place, type));
}

}  // namespace anynpu::tensorflow
