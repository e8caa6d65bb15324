// SPDX-License-Identifier: Apache-2.0
// Transposed convolutions: the way back of a convolution to an input of a given size.
#include <algorithm>

#include "graph/tensor_value.h"
#include "import/tensorflow/lower.h"
#include "import/tensorflow/window.h"

namespace anynpu::tensorflow {

namespace {

// pads and output_padding that make an axis `size` long.
struct WayBack {
  int64_t before = 0, after = 0, more = 0;
};

WayBack way_back(Builder& b, int64_t in, int64_t size, int64_t span, int64_t stride,
                 const std::string& padding) {
  WayBack way;
  const int64_t full = (in - 1) * stride + span;
  if (padding == "SAME") {
    const int64_t missing = std::max<int64_t>((in - 1) * stride + span - size, 0);
    way.before = missing / 2;
    way.after = missing - way.before;
  }
  way.more = size - (full - way.before - way.after);
  if (way.more < 0 || way.more >= stride + span)
    b.refuse(Code::shape_mismatch,
             "{} rows with stride {} and a window of {} cannot be the convolution of {} rows", in,
             stride, span, size);
  return way;
}

}  // namespace

void lower_conv_backprop(Builder& b) {
  const bool last = b.channels_last();
  const ValueId x = b.in_picture(2);
  ValueId w = b.in(1);
  if (!b.has_rank(x, "the picture", 4, 5) || !b.has_rank(w, "the filter", b.rank(x), b.rank(x)) ||
      !b.need_fixed(w, "the filter"))
    return;
  const auto rank = static_cast<size_t>(b.rank(x));
  NodeAttrs attrs = window_attrs(b, rank, Window::with_dilations);
  const auto sizes = b.partly_known(b.in(0));
  if (!b.ok()) return;
  const Ints strides = std::get<Ints>(attrs["strides"]), rates = std::get<Ints>(attrs["dilations"]);
  const std::string padding = b.s("padding", "VALID");
  // [spatial..., out, in] -> [in, out, spatial...]
  Ints order = {static_cast<int64_t>(rank) - 1, static_cast<int64_t>(rank) - 2};
  for (size_t i = 0; i + 2 < rank; ++i) order.push_back(static_cast<int64_t>(i));
  w = b.transpose(w, order);
  Ints pads((rank - 2) * 2, 0), more(rank - 2, 0);
  if (padding == "EXPLICIT") pads = std::get<Ints>(attrs["pads"]);
  for (size_t a = 0; a + 2 < rank; ++a) {
    const int64_t in = b.shape(x)[a + 2];
    const int64_t span = (b.shape(w)[a + 2] - 1) * rates[a] + 1;
    // Sizes may be of the picture alone.
    int64_t size = -1;
    if (sizes && sizes->size() == rank) size = (*sizes)[a + (last ? 1 : 2)];
    if (sizes && sizes->size() == rank - 2) size = (*sizes)[a];
    if (padding == "EXPLICIT") {
      if (in >= 0 && size >= 0)
        more[a] = size - ((in - 1) * strides[a] + span - pads[a] - pads[rank - 2 + a]);
      continue;
    }
    if (in < 0 || size < 0) {
      // Open extents: the size that frameworks ask for, in * stride.
      if (padding == "SAME") {
        const int64_t missing = std::max<int64_t>(span - strides[a], 0);
        pads[a] = missing / 2;
        pads[rank - 2 + a] = missing - missing / 2;
        more[a] = std::max<int64_t>(strides[a] - span, 0);
      }
      continue;
    }
    const WayBack way = way_back(b, in, size, span, strides[a], padding);
    pads[a] = way.before;
    pads[rank - 2 + a] = way.after;
    more[a] = way.more;
  }
  if (!b.ok()) return;
  const int64_t channels = b.shape(x)[1];
  attrs.erase("auto_pad");
  attrs["pads"] = pads;
  // More rows than a stride at the end lie outside every window: they are zeros.
  bool fits = true;
  for (size_t a = 0; a < more.size(); ++a) fits = fits && more[a] < std::max(strides[a], rates[a]);
  if (fits) attrs["output_padding"] = more;
  if (channels > 0 && b.shape(w)[0] != channels)
    return b.refuse(Code::shape_mismatch, "the picture has {} channels, the filter takes {}",
                    channels, b.shape(w)[0]);
  ValueId y = b.node("ConvTranspose", 11, {x, w}, std::move(attrs));
  if (!fits) {
    Ints behind(rank * 2, 0);
    for (size_t a = 0; a < more.size(); ++a) behind[rank + 2 + a] = more[a];
    y = b.node("Pad", 18, {y, b.list(behind)});
  }
  b.out_picture(0, y);
}

// The filter [h, w, channels, multiplier] works on each channel alone.
void lower_depthwise_backprop(Builder& b) {
  const ValueId x = b.in_picture(2);
  ValueId w = b.in(1);
  const Ints sizes = b.in_values(0);
  if (!b.has_rank(x, "the picture", 4, 4) || !b.has_rank(w, "the filter", 4, 4) ||
      !b.need_fixed(w, "the filter") || !b.need_fixed(x, "the picture"))
    return;
  const bool last = b.channels_last();
  NodeAttrs attrs = window_attrs(b, 4, Window::with_dilations);
  if (!b.ok() || sizes.size() != 4)
    return b.refuse(Code::shape_mismatch, "input_sizes has {} entries, expected 4", sizes.size());
  const Ints strides = std::get<Ints>(attrs["strides"]), rates = std::get<Ints>(attrs["dilations"]);
  const Shape s = b.shape(w);
  w = b.reshape(b.transpose(w, {2, 3, 0, 1}), {s[2] * s[3], 1, s[0], s[1]});
  Ints pads(4, 0), more(2, 0);
  for (size_t a = 0; a < 2; ++a) {
    const WayBack way = way_back(b, b.shape(x)[a + 2], sizes[a + (last ? 1 : 2)],
                                 (s[a] - 1) * rates[a] + 1, strides[a], b.s("padding", "VALID"));
    pads[a] = way.before;
    pads[a + 2] = way.after;
    more[a] = way.more;
  }
  attrs.erase("auto_pad");
  attrs["pads"] = pads;
  attrs["output_padding"] = more;
  attrs["group"] = s[2];
  b.out_picture(0, b.node("ConvTranspose", 11, {x, w}, std::move(attrs)));
}

// Each gradient is shared by the elements of its window that lie inside the picture.
void lower_avg_pool_grad(Builder& b) {
  const ValueId y = b.in_picture(1);
  const Ints sizes = b.in_values(0);
  if (!b.has_rank(y, "the gradient", 4, 5) || !b.need_fixed(y, "the gradient")) return;
  const auto rank = static_cast<size_t>(b.rank(y));
  const bool last = b.channels_last();
  NodeAttrs attrs = window_attrs(b, rank, Window::of_pooling);
  if (!b.ok()) return;
  if (sizes.size() != rank)
    return b.refuse(Code::shape_mismatch, "orig_input_shape has {} entries, expected {}",
                    sizes.size(), rank);
  const Ints strides = std::get<Ints>(attrs["strides"]),
             window = std::get<Ints>(attrs["kernel_shape"]);
  const int64_t channels = b.shape(y)[1];
  Ints pads(2 * (rank - 2), 0), more(rank - 2, 0);
  Shape weights = {channels, 1};
  ValueId share = y;
  for (size_t a = 0; a + 2 < rank; ++a) {
    const int64_t count = b.shape(y)[a + 2], size = sizes[a + (last ? 1 : 2)];
    const WayBack way = way_back(b, count, size, window[a], strides[a], b.s("padding", "VALID"));
    if (!b.ok()) return;
    pads[a] = way.before;
    pads[rank - 2 + a] = way.after;
    more[a] = way.more;
    weights.push_back(window[a]);
    std::vector<double> inside;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t begin = i * strides[a] - way.before;
      const int64_t held = std::min(begin + window[a], size) - std::max<int64_t>(begin, 0);
      inside.push_back(static_cast<double>(std::max<int64_t>(held, 1)));
    }
    Ints shape(rank, 1);
    shape[a + 2] = count;
    const ValueId counts = b.constant(DType::f64, {count}, graph::constant_of(std::move(inside)));
    share = div(b, share, b.reshape(b.cast(counts, b.dtype(y)), shape));
  }
  const ValueId x =
      b.node("ConvTranspose", 11, {share, b.filled(b.dtype(y), weights, 1)},
             {{"strides", strides}, {"pads", pads}, {"output_padding", more}, {"group", channels}});
  b.out_picture(0, x);
}

// The gradient of a filter is a convolution of the picture by the gradient of the result, whose
// steps are the strides; pictures of the batch are summed, so they stand for channels. A depthwise
// filter does so for each channel alone.
void lower_filter_backprop(Builder& b) {
  const bool depthwise = b.type() == "DepthwiseConv2dNativeBackpropFilter";
  const ValueId x = b.in_picture(0), y = b.in_picture(2);
  const Ints sizes = b.in_values(1);
  if (!b.has_rank(x, "the picture", 4, 4) || !b.need_fixed(x, "the picture") ||
      !b.has_rank(y, "the gradient", 4, 4) || !b.need_fixed(y, "the gradient"))
    return;
  NodeAttrs attrs = window_attrs(b, 4, Window::with_dilations);
  if (!b.ok()) return;
  const Shape in = b.shape(x), out = b.shape(y);
  if (sizes.size() != 4 || sizes[2] < 1 || in[1] != sizes[2] ||
      out[1] != (depthwise ? sizes[2] * sizes[3] : sizes[3])) {
    return b.refuse(Code::shape_mismatch, "the filter is {}, the picture {} and the gradient {}",
                    sizes, to_string(in), to_string(out));
  }
  const Ints strides = std::get<Ints>(attrs["strides"]), rates = std::get<Ints>(attrs["dilations"]);
  Ints pads(4, 0);
  if (attrs.contains("pads")) pads = std::get<Ints>(attrs["pads"]);
  for (size_t a = 0; a < 2 && b.s("padding", "VALID") == "SAME"; ++a) {
    const int64_t span = (sizes[a] - 1) * rates[a] + 1;
    const int64_t missing = std::max<int64_t>((out[a + 2] - 1) * strides[a] + span - in[a + 2], 0);
    pads[a] = missing / 2;
    pads[a + 2] = missing - missing / 2;
  }
  ValueId pictures = b.transpose(x, {1, 0, 2, 3});
  if (depthwise) pictures = b.reshape(pictures, {1, in[1] * in[0], in[2], in[3]});
  ValueId made = b.node("Conv", 11, {pictures, b.transpose(y, {1, 0, 2, 3})},
                        {{"strides", rates},
                         {"dilations", strides},
                         {"pads", pads},
                         {"group", depthwise ? in[1] : int64_t{1}}});
  made = b.slice(b.slice(made, 2, 0, sizes[0]), 3, 0, sizes[1]);
  if (depthwise) made = b.reshape(made, {sizes[2], sizes[3], sizes[0], sizes[1]});
  if (b.ok()) b.out(0, b.transpose(made, {2, 3, 0, 1}));
}

}  // namespace anynpu::tensorflow
