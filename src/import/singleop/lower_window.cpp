// SPDX-License-Identifier: Apache-2.0
// Convolution, pooling and resizing. The vendor lists strides, windows and dilations for all four
// axes in the order of data_format; ours take those of the picture.
#include <algorithm>

#include "import/singleop/lower.h"

namespace anynpu::singleop {

namespace {

using Type = Builder::Type;

// The most that a stride, a window or a padding can be.
constexpr int64_t kMostSteps = 1 << 30;

// What a tensor's description says, unless the attribute does.
bool channels_last(Builder& b, const char* otherwise) {
  if (!b.ok()) return false;
  const Format format = b.op().inputs[0].format;
  const char* stated =
      format == Format::nhwc || format == Format::ndhwc                                ? "NHWC"
      : format == Format::nchw || format == Format::ncdhw || format == Format::nc1hwc0 ? "NCHW"
                                                                                       : otherwise;
  const std::string word =
      b.word("data_format", stated, {"NCHW", "NHWC", "NCDHW", "NDHWC", "ND", "NC1HWC0"});
  // The description wins: samples leave the attribute at its default.
  return stated == otherwise ? word.back() == 'C' : std::string(stated) == "NHWC";
}

// The entries of the picture's axes; lists of as many entries as the picture has axes pass through.
std::vector<int64_t> spatial(Builder& b, const char* name, bool last, int64_t rank,
                             std::vector<int64_t> otherwise) {
  std::vector<int64_t> given = b.ints(name, {});
  if (given.empty()) return otherwise;
  const auto count = static_cast<size_t>(rank);
  for (int64_t entry : given) {
    if (entry < 1 || entry > kMostSteps)
      b.refuse(Code::invalid_argument, "'{}' has the entry {}, expected 1 to {}", name, entry,
               kMostSteps);
  }
  if (given.size() == count) {
    const int64_t batch = given[0], channels = given[last ? count - 1 : 1];
    if (batch != 1 || channels != 1)
      b.refuse(Code::invalid_argument, "'{}' is {} and {} for batch and channels, expected 1", name,
               batch, channels);
    given.erase(given.begin());
    given.erase(last ? given.end() - 1 : given.begin());
  }
  if (given.size() == 1) given.assign(count - 2, given[0]);
  if (given.size() != count - 2) {
    b.refuse(Code::invalid_argument, "'{}' has {} entries, expected {} or {}", name, given.size(),
             count, count - 2);
  }
  return given;
}

// top, bottom, left, right -> top, left, bottom, right.
std::vector<int64_t> pads_of(Builder& b, const char* name, size_t axes) {
  const std::vector<int64_t> given = b.ints(name, std::vector<int64_t>(axes * 2, 0));
  if (given.size() != axes * 2) {
    b.refuse(Code::invalid_argument, "'{}' has {} entries, expected {}", name, given.size(),
             axes * 2);
    return std::vector<int64_t>(axes * 2, 0);
  }
  for (int64_t pad : given) {
    if (pad < 0 || pad > kMostSteps)
      b.refuse(Code::invalid_argument, "'{}' has the entry {}, expected 0 to {}", name, pad,
               kMostSteps);
  }
  std::vector<int64_t> pads;
  for (size_t end = 0; end < 2; ++end) {
    for (size_t a = 0; a < axes; ++a) pads.push_back(given[a * 2 + end]);
  }
  return pads;
}

ValueId filter_of(Builder& b, size_t index) {
  ValueId w = b.in(index);
  if (!b.ok()) return kNoValue;
  const TensorDesc& desc = b.op().inputs[index];
  if (desc.format == Format::fractal_z && b.rank(w) == 4) {
    b.refuse(Code::unsupported_feature,
             "the filter is described in FRACTAL_Z alone; describe its origin too "
             "(aclSetTensorFormat, aclSetTensorShape)");
    return kNoValue;
  }
  return b.in_nchw(index);
}

NodeAttrs window_attrs(Builder& b, bool last, int64_t rank) {
  const auto axes = static_cast<size_t>(rank) - 2;
  const std::vector<int64_t> ones(axes, 1);
  NodeAttrs attrs;
  if (!b.has_attr("strides"))
    b.refuse(Code::invalid_argument, "attribute 'strides' (list_int) is missing");
  attrs["strides"] = spatial(b, "strides", last, rank, ones);
  attrs["dilations"] = spatial(b, "dilations", last, rank, ones);
  const std::string padding =
      b.word(b.has_attr("padding") ? "padding" : "auto_pad", "",
             {"", "NOTSET", "EXPLICIT", "VALID", "SAME", "SAME_UPPER", "SAME_LOWER"});
  if (padding.starts_with("SAME")) {
    attrs["auto_pad"] = padding == "SAME" ? "SAME_UPPER" : padding;
  } else {
    if (padding.empty() && !b.has_attr("pads"))
      b.refuse(Code::invalid_argument, "attribute 'pads' (list_int) is missing");
    attrs["pads"] = pads_of(b, "pads", axes);
  }
  return attrs;
}

// int8 convolutions are exact, into int32.
void convolve(Builder& b, ValueId x, ValueId w, NodeAttrs attrs) {
  if (!b.ok()) return;
  const bool bytes = b.dtype(x) == DType::i8 || b.dtype(x) == DType::u8;
  ValueId y;
  if (bytes) {
    y = b.node("ConvInteger", 10, {x, w}, std::move(attrs));
  } else {
    if (b.op().outputs[0].dtype == DType::f32) {
      x = widened(b, x);
      w = widened(b, w);
    }
    y = b.node("Conv", 11, {x, w}, std::move(attrs));
  }
  if (b.ok() && b.has(2)) {
    Shape shape(static_cast<size_t>(b.rank(y)), 1);
    shape[1] = -1;
    y = b.node("Add", 13, {y, b.reshape(b.cast(b.in(2), b.dtype(y)), shape)});
  }
  b.out_nchw(0, y, bytes ? Type::any : Type::same);
}

void pool(Builder& b, bool max, ValueId x, NodeAttrs attrs) {
  b.out_nchw(0, b.node(max ? "MaxPool" : "AveragePool", max ? 12 : 11, {x}, std::move(attrs)));
}

}  // namespace

// Programs leave `groups` out (ONNX Runtime does): it follows from the channels.
int64_t groups_of(Builder& b, ValueId x, ValueId w) {
  const int64_t given = b.i("groups", 1);
  if (b.rank(w) < 2) return given;  // Conv refuses it
  const int64_t channels = b.shape(x)[1], of_filter = b.shape(w)[1];
  if (given != 1 || of_filter < 1 || channels < 1 || channels % of_filter != 0) return given;
  return channels / of_filter;
}

void lower_conv(Builder& b) {
  const ValueId x = b.in_nchw(0);
  if (!b.has_rank(x, "x", 3, 5)) return;
  const ValueId w = filter_of(b, 1);
  if (!b.ok()) return;
  NodeAttrs attrs = window_attrs(b, channels_last(b, "NHWC"), b.rank(x));
  attrs["group"] = groups_of(b, x, w);
  convolve(b, x, w, std::move(attrs));
}

void lower_depthwise_conv(Builder& b) {
  const ValueId x = b.in_nchw(0);
  ValueId w = b.in_nchw(1);  // HWCN [h, w, c, m] has become [m, c, h, w]
  if (!b.has_rank(x, "x", 4, 4) || !b.has_rank(w, "the filter", 4, 4)) return;
  const int64_t channels = b.shape(x)[1];
  if (b.shape(w)[1] != 1) {
    const Shape s = b.shape(w);
    w = b.reshape(b.transpose(w, {1, 0, 2, 3}), {s[0] * s[1], 1, s[2], s[3]});
  }
  NodeAttrs attrs = window_attrs(b, channels_last(b, "NHWC"), 4);
  attrs["group"] = channels;
  convolve(b, x, w, std::move(attrs));
}

void lower_deconvolution(Builder& b) {
  const ValueId x = b.in_nchw(0), w = b.in_nchw(1);
  if (!b.has_rank(x, "x", 3, 5)) return;
  NodeAttrs attrs = window_attrs(b, channels_last(b, "NCHW"), b.rank(x));
  attrs["group"] = b.i("groups", 1);
  ValueId bias = kNoValue;
  if (b.has(2)) bias = b.in(2);
  b.out_nchw(0, b.node("ConvTranspose", 11, {x, w, bias}, std::move(attrs)));
}

// The way back of a convolution to an input of a given size: (size), x, filter, bias, or with the
// filter in front (Conv2DBackpropInput); the D forms have the size as an attribute.
void lower_conv_transpose(Builder& b) {
  const bool attribute = b.type().ends_with("D"), back = b.type().starts_with("Conv2DBackprop");
  const size_t first = attribute ? 0 : 1, at_x = back ? first + 1 : first;
  const ValueId x = b.in_nchw(at_x), w = b.in_nchw(back ? first : first + 1);
  std::vector<int64_t> size = attribute ? b.ints("input_size") : b.in_values(0);
  if (!b.ok()) return;
  const bool last = b.op().inputs[at_x].format == Format::nhwc;
  if (b.rank(x) != 4 || b.rank(w) != 4 || size.size() != 4)
    return b.refuse(Code::unsupported_shape,
                    "x, the filter and input_size have {}, {} and {} axes, expected 4 of each",
                    b.rank(x), b.rank(w), size.size());
  NodeAttrs attrs = window_attrs(b, last, 4);
  attrs["group"] = b.i("groups", 1);
  if (!b.ok()) return;
  if (last) size = {size[0], size[3], size[1], size[2]};
  const auto strides = std::get<std::vector<int64_t>>(attrs["strides"]);
  const auto dilations = std::get<std::vector<int64_t>>(attrs["dilations"]);
  const std::vector<int64_t> none(4, 0);
  const auto pads = attrs.count("pads") ? std::get<std::vector<int64_t>>(attrs["pads"]) : none;
  std::vector<int64_t> more;
  for (size_t a = 0; a < 2; ++a) {
    const int64_t least = (b.shape(x)[a + 2] - 1) * strides[a] +
                          dilations[a] * (b.shape(w)[a + 2] - 1) + 1 - pads[a] - pads[a + 2];
    more.push_back(attrs.count("auto_pad") ? 0 : size[a + 2] - least);
    if (more.back() < 0 || more.back() >= std::max(strides[a], dilations[a]))
      return b.refuse(Code::shape_mismatch, "input_size asks for {}, expected {} to {}",
                      size[a + 2], least, least + strides[a] - 1);
  }
  if (attrs.count("auto_pad")) {
    attrs["output_shape"] = std::vector<int64_t>{size[2], size[3]};
  } else {
    attrs["output_padding"] = more;
  }
  const ValueId bias = back ? kNoValue : b.in_or_none(first + 2);
  b.out_nchw(0, b.node("ConvTranspose", 11, {x, w, bias}, std::move(attrs)));
}

// x, the filter's shape, the gradient: a product over all positions of the batch, (group, out,
// N * positions) by (group, N * positions, in * taps).
void lower_conv_weight_gradient(Builder& b) {
  const bool attribute = b.type().ends_with("D");
  const size_t at_grad = attribute ? 1 : 2;
  const ValueId x = b.in_nchw(0), grad = b.in_nchw(at_grad);
  const auto size = attribute ? b.ints("filter_size") : b.in_values(1);
  if (!b.has_rank(x, "x", 4, 4) || !b.has_rank(grad, "the gradient", 4, 4)) return;
  if (size.size() != 4)
    return b.refuse(Code::unsupported_shape, "filter_size has {} numbers, expected 4", size.size());
  const bool last = b.op().inputs[0].format == Format::nhwc;
  NodeAttrs attrs = window_attrs(b, last, 4);
  const int64_t groups = b.i("groups", 1);
  if (!b.ok()) return;
  const Shape in = b.shape(x), out = b.shape(grad);
  if (groups < 1 || in[1] != size[1] * groups || out[1] != size[0] || out[1] % groups != 0)
    return b.refuse(Code::shape_mismatch,
                    "filter_size is {}, x {} and the gradient {}; expected channels of {} groups",
                    to_string(Shape(size.begin(), size.end())), to_string(in), to_string(out),
                    groups);
  const auto strides = std::get<std::vector<int64_t>>(attrs["strides"]);
  const auto dilations = std::get<std::vector<int64_t>>(attrs["dilations"]);
  std::vector<int64_t> pads(4, 0);
  if (attrs.count("pads")) pads = std::get<std::vector<int64_t>>(attrs["pads"]);
  for (size_t a = 0; attrs.count("auto_pad") && a < 2; ++a) {
    const int64_t need =
        (out[a + 2] - 1) * strides[a] + dilations[a] * (size[a + 2] - 1) + 1 - in[a + 2];
    pads[a] = std::max<int64_t>(need, 0) / 2;
    pads[a + 2] = std::max<int64_t>(need, 0) - pads[a];
  }
  const ValueId columns = b.node("anynpu.Im2Col", 1, {x},
                                 {{"kernel_shape", std::vector<int64_t>{size[2], size[3]}},
                                  {"strides", strides},
                                  {"pads", pads},
                                  {"dilations", dilations},
                                  {"by_channel", int64_t{1}}});
  const int64_t positions = out[2] * out[3], all = out[0] * positions,
                rows = size[1] * size[2] * size[3];
  const ValueId turned = b.transpose(b.reshape(grad, {out[0], out[1], positions}), {1, 0, 2});
  const ValueId seen = b.transpose(b.reshape(columns, {groups, rows, all}), {0, 2, 1});
  const ValueId sums =
      b.node("MatMul", 13, {b.reshape(turned, {groups, out[1] / groups, all}), seen});
  b.out_nchw(0, b.reshape(sums, Shape(size.begin(), size.end())), Type::any);
}

// Caffe's pooling: mode 0 max, 1 average; ceil_mode 0 rounds the output up.
void lower_pooling(Builder& b) {
  const ValueId x = b.in_nchw(0);
  const bool max = b.i_between("mode", 0, 0, 1) == 0;
  if (b.flag("global_pooling", false)) {
    b.out_nchw(0, b.node(max ? "GlobalMaxPool" : "GlobalAveragePool", 1, {x}));
    return;
  }
  NodeAttrs attrs;
  attrs["kernel_shape"] = b.ints("window", {1, 1});
  attrs["strides"] = b.ints("stride", {1, 1});
  attrs["pads"] = pads_of(b, "pad", 2);
  attrs["ceil_mode"] = int64_t{b.i_between("ceil_mode", 0, 0, 1) == 0};
  if (!max) attrs["count_include_pad"] = int64_t{1};
  pool(b, max, x, std::move(attrs));
}

namespace {

NodeAttrs pool_attrs(Builder& b, const char* padding_name, const char* format, ValueId x) {
  NodeAttrs attrs;
  if (!b.has_rank(x, "x", 3, 5)) return attrs;
  const bool last = channels_last(b, format);
  const int64_t rank = b.rank(x);
  attrs["kernel_shape"] = spatial(b, "ksize", last, rank, {1, 1});
  attrs["strides"] = spatial(b, "strides", last, rank, {1, 1});
  const std::string padding = b.word(padding_name, "VALID", {"VALID", "SAME", "CALCULATED"});
  if (padding == "SAME") attrs["auto_pad"] = std::string("SAME_UPPER");
  if (padding == "CALCULATED") attrs["pads"] = pads_of(b, "pads", static_cast<size_t>(rank) - 2);
  return attrs;
}

}  // namespace

void lower_max_pool(Builder& b) {
  const ValueId x = b.in_nchw(0);
  pool(b, true, x, pool_attrs(b, "padding", "NHWC", x));
}

void lower_max_pool_v3(Builder& b) {
  const ValueId x = b.in_nchw(0);
  if (b.flag("global_pooling", false)) return b.out_nchw(0, b.node("GlobalMaxPool", 1, {x}));
  NodeAttrs attrs = pool_attrs(b, "padding_mode", "NCHW", x);
  attrs["ceil_mode"] = int64_t{b.flag("ceil_mode", false)};
  pool(b, true, x, std::move(attrs));
}

void lower_avg_pool(Builder& b) {
  const ValueId x = b.in_nchw(0);
  const bool v2 = b.type() == "AvgPoolV2";
  if (v2 && b.flag("global_pooling", false))
    return b.out_nchw(0, b.node("GlobalAveragePool", 1, {x}));
  NodeAttrs attrs = pool_attrs(b, v2 ? "padding_mode" : "padding", v2 ? "NCHW" : "NHWC", x);
  if (v2) {
    attrs["ceil_mode"] = int64_t{b.flag("ceil_mode", false)};
    attrs["count_include_pad"] = int64_t{!b.flag("exclusive", true)};
  }
  pool(b, false, x, std::move(attrs));
}

void lower_global_pool(Builder& b) {
  b.out_nchw(0, b.node(b.type() == "GlobalAveragePool" ? "GlobalAveragePool" : "GlobalMaxPool", 1,
                       {b.in_nchw(0)}));
}

// The size of the picture is an attribute of the D forms and an input of the others.
void lower_resize(Builder& b) {
  const ValueId x = b.in_nchw(0);
  const std::vector<int64_t> size = b.type().ends_with("D") ? b.ints("size") : b.in_values(1);
  if (!b.has_rank(x, "x", 4, 4)) return;
  if (size.size() != 2)
    return b.refuse(Code::invalid_argument, "size has {} numbers, expected height and width",
                    size.size());
  const bool linear = b.type().starts_with("ResizeBilinear");
  const bool corners = b.flag("align_corners", false), half = b.flag("half_pixel_centers", false);
  NodeAttrs attrs{{"mode", std::string(linear ? "linear" : "nearest")},
                  {"coordinate_transformation_mode", std::string(corners ? "align_corners"
                                                                 : half  ? "half_pixel"
                                                                         : "asymmetric")}};
  if (!linear) attrs["nearest_mode"] = std::string(corners ? "round_prefer_ceil" : "floor");
  const Shape& s = b.shape(x);
  b.out_nchw(
      0,
      b.node("Resize", 13, {x, kNoValue, kNoValue, b.list({s[0], s[1], size[0], size[1]})}, attrs),
      Type::any);
}

namespace {

// Pictures N, C, H, W as float32 and the size they get, for what computes between pixels.
struct Picture {
  ValueId x = kNoValue;
  int64_t height = 0, width = 0;
  bool corners = false, half = false;
};

Picture picture_of(Builder& b) {
  Picture p;
  p.x = b.cast(b.in_nchw(0), DType::f32);
  const std::vector<int64_t> size = b.in_values(1);
  p.corners = b.flag("align_corners", false);
  p.half = b.flag("half_pixel_centers", false);
  if (!b.has_rank(p.x, "images", 4, 4)) return p;
  if (size.size() != 2 || size[0] < 1 || size[1] < 1) {
    b.refuse(Code::invalid_argument, "size has {} numbers, expected a height and a width above 0",
             size.size());
    return p;
  }
  p.height = size[0];
  p.width = size[1];
  return p;
}

// Row o holds the share that each of `in` pixels has in pixel o of `out`.
std::vector<float> area_shares(int64_t in, int64_t out, bool corners) {
  const double scale = corners && out > 1
                           ? static_cast<double>(in - 1) / static_cast<double>(out - 1)
                           : static_cast<double>(in) / static_cast<double>(out);
  std::vector<float> shares(static_cast<size_t>(in * out), 0.0f);
  for (int64_t o = 0; o < out; ++o) {
    const double begin = static_cast<double>(o) * scale, end = begin + scale;
    for (auto i = static_cast<int64_t>(begin); static_cast<double>(i) < end; ++i) {
      const double share =
          std::min(end, static_cast<double>(i + 1)) - std::max(begin, static_cast<double>(i));
      const int64_t pixel = std::min(i, in - 1);
      shares[static_cast<size_t>(o * in + pixel)] += static_cast<float>(share / scale);
    }
  }
  return shares;
}

}  // namespace

// Every pixel is the mean of the area that it covers.
void lower_resize_area(Builder& b) {
  const Picture p = picture_of(b);
  if (!b.ok()) return;
  const int64_t height = b.shape(p.x)[2], width = b.shape(p.x)[3];
  const ValueId rows = b.table({p.height, height}, area_shares(height, p.height, p.corners));
  const ValueId columns = b.table({p.width, width}, area_shares(width, p.width, p.corners));
  const ValueId y =
      b.node("MatMul", 13, {b.node("MatMul", 13, {rows, p.x}), b.transpose(columns, {1, 0})});
  b.out_nchw(0, y, Type::any);
}

// With half-pixel centres the curve of Keys, whose taps outside the picture do not count.
void lower_resize_bicubic(Builder& b) {
  const Picture p = picture_of(b);
  if (!b.ok()) return;
  const NodeAttrs attrs{{"mode", std::string("cubic")},
                        {"coordinate_transformation_mode", std::string(p.corners ? "align_corners"
                                                                       : p.half  ? "half_pixel"
                                                                                 : "asymmetric")},
                        {"cubic_coeff_a", p.half ? -0.5f : -0.75f},
                        {"exclude_outside", int64_t{p.half}}};
  const Shape& s = b.shape(p.x);
  const ValueId sizes = b.list({s[0], s[1], p.height, p.width});
  b.out_nchw(0, b.node("Resize", 13, {p.x, kNoValue, kNoValue, sizes}, attrs), Type::any);
}

// The elements of each window: [n, channels, taps, windows].
void lower_im2col(Builder& b) {
  const ValueId x = b.in_nchw(0);
  const auto two = [&](const char* name, int64_t otherwise) {
    auto list = b.ints(name, {otherwise, otherwise});
    if (list.size() == 1) list.push_back(list[0]);
    return list;
  };
  const auto kernel = two("ksizes", 1), strides = two("strides", 1),
             dilations = two("dilations", 1);
  auto pads = b.ints("pads", {0, 0, 0, 0});
  b.word("padding_mode", "CALCULATED", {"CALCULATED"});
  if (!b.has_rank(x, "x", 4, 4)) return;
  if (pads.size() == 1) pads.assign(4, pads[0]);
  if (kernel.size() != 2 || strides.size() != 2 || dilations.size() != 2 || pads.size() != 4) {
    return b.refuse(Code::invalid_argument,
                    "ksizes, strides, dilations and pads have {}, {}, {} and {} numbers; expected "
                    "2, 2, 2 and 4",
                    kernel.size(), strides.size(), dilations.size(), pads.size());
  }
  // Top, bottom, left, right; ours are all starts, then all ends.
  const std::vector<int64_t> around{pads[0], pads[2], pads[1], pads[3]};
  const ValueId made = b.node("anynpu.Im2Col", 1, {x},
                              {{"kernel_shape", kernel},
                               {"strides", strides},
                               {"pads", around},
                               {"dilations", dilations},
                               {"by_channel", int64_t{0}}});
  if (!b.ok()) return;
  const int64_t taps = kernel[0] * kernel[1];
  const Shape in = b.shape(x);
  b.out(
      0,
      b.reshape(made, {in[0], in[1], taps,
                       element_count(b.shape(made)) / std::max<int64_t>(1, in[0] * in[1] * taps)}),
      Type::any);
}

// The largest element of each window of a volume and its place in the volume.
void lower_max_pool_3d_argmax(Builder& b) {
  const ValueId x = b.in(0);
  b.word("data_format", "NCDHW", {"NCDHW"});
  const auto kernel = b.ints("ksize"), strides = b.ints("strides", kernel),
             pads = b.ints("pads", {0, 0, 0});
  const auto dilation = b.ints("dilation", {1, 1, 1});
  if (!b.has_rank(x, "x", 5, 5)) return;
  if (kernel.size() != 3 || strides.size() != 3 || pads.size() != 3 || dilation.size() != 3) {
    return b.refuse(Code::invalid_argument,
                    "ksize, strides, pads and dilation have {}, {}, {} and {} numbers, expected 3",
                    kernel.size(), strides.size(), pads.size(), dilation.size());
  }
  const auto made =
      b.nodes("MaxPool", 12, {x}, 2,
              {{"kernel_shape", kernel},
               {"strides", strides},
               {"dilations", dilation},
               {"pads", std::vector<int64_t>{pads[0], pads[1], pads[2], pads[0], pads[1], pads[2]}},
               {"ceil_mode", int64_t{b.flag("ceil_mode", false)}}});
  if (!b.ok()) return;
  const Shape in = b.shape(x);
  const ValueId place = b.node(
      "Mod", 13, {made[1], b.whole(DType::i64, std::max<int64_t>(1, in[2] * in[3] * in[4]))});
  const DType described = b.op().outputs.size() > 1 ? b.op().outputs[1].dtype : DType::i64;
  b.out(0, made[0], Type::any);
  b.out(1, b.cast(place, described == DType::i32 ? DType::i32 : DType::i64), Type::any);
}

void lower_depth_to_space(Builder& b) {
  const ValueId x = b.in_nchw(0);
  NodeAttrs attrs{{"blocksize", b.i("block_size")}};
  const bool to_space = b.type() == "DepthToSpace";
  if (to_space) attrs["mode"] = b.s("mode", "DCR");
  b.out_nchw(0, b.node(b.type().c_str(), 13, {x}, std::move(attrs)));
}

}  // namespace anynpu::singleop
