// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "base/align.h"
#include "base/text.h"
#include "import/caffe/layers.h"

namespace anynpu::caffe {

namespace {

using Ints = std::vector<int64_t>;

// Caffe gives one number for all axes, one for each, or a pair of fields _h and _w.
Result<Ints> per_axis(Params& params, const std::string& field, const std::string& stem,
                      size_t dims, int64_t otherwise, int64_t least) {
  Ints values = params.integers(field, least);
  if (params.has(stem + "_h") || params.has(stem + "_w")) {
    if (dims != 2) {
      return fail(Code::invalid_argument,
                  "{}_h and {}_w are given for {} spatial axes; expected 2 of them, or {} for each",
                  stem, stem, dims, field);
    }
    return Ints{params.integer(stem + "_h", otherwise, least),
                params.integer(stem + "_w", otherwise, least)};
  }
  if (values.empty()) values = {otherwise};
  if (values.size() == 1) values.assign(dims, values[0]);
  if (values.size() != dims) {
    return fail(Code::invalid_argument, "{} has {} values; expected 1 or {}", field, values.size(),
                dims);
  }
  return values;
}

struct WindowParams {
  Ints kernel, stride, pad, dilation;
  Ints both_pads() const {
    Ints pads = pad;
    pads.insert(pads.end(), pad.begin(), pad.end());
    return pads;
  }
};

Result<WindowParams> window_params(const Builder& b, Params& params) {
  const ValueId x = b.bottom(0);
  if (b.rank(x) < 3) {
    return fail(Code::unsupported_shape, "its bottom is {}; expected N x C x spatial extents",
                to_string(b.shape(x)));
  }
  const auto dims = static_cast<size_t>(b.rank(x) - 2);
  WindowParams window;
  ANYNPU_ASSIGN(window.kernel, per_axis(params, "kernel_size", "kernel", dims, 0, 0));
  ANYNPU_ASSIGN(window.stride, per_axis(params, "stride", "stride", dims, 1, 1));
  ANYNPU_ASSIGN(window.pad, per_axis(params, "pad", "pad", dims, 0, 0));
  ANYNPU_ASSIGN(window.dilation, per_axis(params, "dilation", "dilation", dims, 1, 1));
  ANYNPU_TRY(params.status());
  return window;
}

Status check_kernel(const WindowParams& window) {
  if (!contains(window.kernel, 0)) return {};
  return fail(Code::invalid_argument,
              "kernel_size is missing or 0; expected kernel_size (or kernel_h and kernel_w) of at "
              "least 1");
}

Attrs window_attrs(const WindowParams& window) {
  return {{"kernel_shape", window.kernel},
          {"strides", window.stride},
          {"pads", window.both_pads()},
          {"dilations", window.dilation}};
}

// Several bottoms share the weights and have a top each.
Status convolve(Builder& b, bool transposed) {
  ANYNPU_TRY(b.expect_at_least(1, 1));
  ANYNPU_TRY(b.expect(b.bottoms(), b.bottoms()));
  Params params(b.layer(), "convolution_param");
  ANYNPU_ASSIGN(const WindowParams window, window_params(b, params));
  ANYNPU_TRY(check_kernel(window));
  const ValueId x = b.bottom(0);
  const int64_t outputs = params.integer("num_output", 0, 1);
  const int64_t group = params.integer("group", 1, 1);
  const bool has_bias = params.flag("bias_term", true);
  const int64_t axis = params.integer("axis", 1, -8, 8);
  ANYNPU_TRY(params.status());
  if (outputs == 0) {
    return fail(Code::invalid_argument,
                "convolution_param has no num_output; expected the number of its channels");
  }
  ANYNPU_ASSIGN(const int64_t channel_axis, b.axis(axis, b.rank(x)));
  if (channel_axis != 1) {
    return fail(Code::unsupported_feature, "axis is {}; expected 1, the channels", axis);
  }
  ANYNPU_ASSIGN(const int64_t channels, b.extent(x, 1));
  if (channels % group != 0 || outputs % group != 0) {
    return fail(Code::shape_mismatch,
                "{} channels in, {} out, group {}; expected both to be multiples of group",
                channels, outputs, group);
  }
  Shape shape = transposed ? Shape{channels, outputs / group} : Shape{outputs, channels / group};
  shape.insert(shape.end(), window.kernel.begin(), window.kernel.end());
  ANYNPU_ASSIGN(const ValueId weight, b.weight(0, shape));
  std::vector<ValueId> inputs = {x, weight};
  if (has_bias) {
    ANYNPU_ASSIGN(const ValueId bias_value, b.weight(1, {outputs}));
    inputs.push_back(bias_value);
  }
  Attrs attrs = window_attrs(window);
  attrs["group"] = group;
  for (size_t i = 0; i < b.bottoms(); ++i) {
    inputs[0] = b.bottom(i);
    ANYNPU_TRY(b.set_top(i, b.add(transposed ? "ConvTranspose" : "Conv", inputs, attrs)));
  }
  return {};
}

// Caffe has windows that begin behind the image when the stride is larger than the kernel; it drops
// them along all axes as soon as one has padding.
Status check_windows(const Builder& b, const WindowParams& window) {
  if (std::any_of(window.pad.begin(), window.pad.end(), [](int64_t pad) { return pad != 0; }))
    return {};
  for (size_t i = 0; i < window.kernel.size(); ++i) {
    const int64_t in = b.shape(b.bottom(0))[i + 2];
    const int64_t span = in - window.kernel[i];
    if (in < 0 || span < 0) continue;
    const int64_t last = (span + window.stride[i] - 1) / window.stride[i] * window.stride[i];
    if (last < in) continue;
    return fail(Code::unsupported_shape,
                "kernel {} with stride {} over {} leaves a window without elements, whose value "
                "Caffe does not define; use round_mode: FLOOR",
                window.kernel[i], window.stride[i], in);
  }
  return {};
}

}  // namespace

Status convolution(Builder& b) { return convolve(b, false); }
Status deconvolution(Builder& b) { return convolve(b, true); }

Status pooling(Builder& b) {
  ANYNPU_TRY(b.expect_at_least(1, 1));
  Params params(b.layer(), "pooling_param");
  ANYNPU_ASSIGN(const WindowParams window, window_params(b, params));
  const std::string kind = params.word("pool", "MAX");
  const std::string rounding = params.word("round_mode", "CEIL");
  const bool ceil = params.flag("ceil_mode", rounding == "CEIL" || rounding == "0");
  const bool global = params.flag("global_pooling", false);
  ANYNPU_TRY(params.status());
  const bool max = kind == "MAX" || kind == "0";
  if (!max && kind != "AVE" && kind != "1") {
    return fail(Code::unsupported_feature, "pool is '{}'; expected MAX or AVE", kind);
  }
  const bool with_mask = b.layer().tops.size() > 1;
  if (with_mask && (!max || global)) {
    return fail(Code::unsupported_feature,
                "it has a second top, the mask, with pool: {}{}; expected MAX without "
                "global_pooling: take the second top out",
                kind, global ? " and global_pooling" : "");
  }
  if (global) {
    return b.set_top(0, b.add(max ? "GlobalMaxPool" : "GlobalAveragePool", {b.bottom(0)}));
  }
  ANYNPU_TRY(check_kernel(window));
  if (ceil) ANYNPU_TRY(check_windows(b, window));
  Attrs attrs = window_attrs(window);
  attrs.erase("dilations");
  attrs["ceil_mode"] = int64_t{ceil};
  if (!max) attrs["count_include_pad"] = int64_t{1};  // Caffe divides by the padded window
  if (!with_mask) {
    return b.set_top(0, b.add(max ? "MaxPool" : "AveragePool", {b.bottom(0)}, attrs));
  }
  // The mask holds positions in the whole tensor, as Upsample takes them.
  ANYNPU_ASSIGN(const auto made, b.add_several("MaxPool", {b.bottom(0)}, attrs, 2));
  ANYNPU_TRY(b.set_top(0, made[0]));
  return b.set_top(1, made[1]);
}

Status inner_product(Builder& b) {
  ANYNPU_TRY(b.expect(1, 1));
  Params params(b.layer(), "inner_product_param");
  const int64_t outputs = params.integer("num_output", 0, 1);
  const bool has_bias = params.flag("bias_term", true);
  const bool transpose = params.flag("transpose", false);
  const int64_t given_axis = params.integer("axis", 1, -8, 8);
  ANYNPU_TRY(params.status());
  if (outputs == 0) {
    return fail(Code::invalid_argument,
                "inner_product_param has no num_output; expected the number of its results");
  }
  const ValueId x = b.bottom(0);
  ANYNPU_ASSIGN(const int64_t axis, b.axis(given_axis, b.rank(x)));
  int64_t inputs = 1;
  for (int64_t i = axis; i < b.rank(x); ++i) {
    ANYNPU_ASSIGN(const int64_t extent, b.extent(x, i));
    inputs *= extent;
  }
  const Shape shape = transpose ? Shape{inputs, outputs} : Shape{outputs, inputs};
  ANYNPU_ASSIGN(const ValueId weight, b.weight(0, shape));
  std::vector<ValueId> operands = {x, weight};
  if (has_bias) {
    ANYNPU_ASSIGN(const ValueId bias_value, b.weight(1, {outputs}));
    operands.push_back(bias_value);
  }
  if (axis == 1) {
    ANYNPU_ASSIGN(operands[0], b.add("Flatten", {x}, {{"axis", int64_t{1}}}));
    return b.set_top(0, b.add("Gemm", operands, {{"transB", int64_t{!transpose}}}));
  }
  Ints rows(static_cast<size_t>(axis), 0);
  rows.push_back(inputs);
  ANYNPU_ASSIGN(const ValueId left, b.reshape(x, rows));
  ValueId right = weight;
  if (!transpose) {
    ANYNPU_ASSIGN(right, b.add("Transpose", {weight}, {{"perm", Ints{1, 0}}}));
  }
  ANYNPU_ASSIGN(ValueId y, b.add("MatMul", {left, right}));
  if (has_bias) {
    ANYNPU_ASSIGN(y, b.add("Add", {y, operands[2]}));
  }
  return b.set_top(0, y);
}

// Each output channel copies one tap of the window: a convolution with one 1 in each filter.
Status im2col(Builder& b) {
  ANYNPU_TRY(b.expect(1, 1));
  Params params(b.layer(), "convolution_param");
  ANYNPU_ASSIGN(const WindowParams window, window_params(b, params));
  ANYNPU_TRY(check_kernel(window));
  ANYNPU_ASSIGN(const int64_t channels, b.extent(b.bottom(0), 1));
  constexpr int64_t kMostTaps = 4096, kMost = 1 << 24;
  int64_t taps = 1;
  for (int64_t extent : window.kernel) taps = std::min(taps * extent, kMostTaps + 1);
  if (taps > kMostTaps || channels * taps > kMost / taps) {
    return fail(Code::unsupported_shape,
                "{} channels with kernel {} make a matrix that is too large; use a smaller kernel",
                channels, window.kernel);
  }
  std::vector<float> filters(static_cast<size_t>(channels * taps * taps), 0.0f);
  for (int64_t i = 0; i < channels * taps; ++i) {
    filters[static_cast<size_t>(i * taps + i % taps)] = 1.0f;
  }
  Shape shape = {channels * taps, 1};
  shape.insert(shape.end(), window.kernel.begin(), window.kernel.end());
  Attrs attrs = window_attrs(window);
  attrs["group"] = channels;
  return b.set_top(0, b.add("Conv", {b.bottom(0), b.constant(shape, std::move(filters))}, attrs));
}

// Spatial pyramid: pooling into 1, 4, 16, ... bins, flattened and joined.
Status spp(Builder& b) {
  ANYNPU_TRY(b.expect(1, 1));
  Params params(b.layer(), "spp_param");
  const int64_t levels = params.integer("pyramid_height", 1, 1, 10);
  const std::string kind = params.word("pool", "MAX");
  ANYNPU_TRY(params.status());
  const ValueId x = b.bottom(0);
  ANYNPU_ASSIGN(const int64_t height, b.extent(x, 2));
  ANYNPU_ASSIGN(const int64_t width, b.extent(x, 3));
  const bool max = kind == "MAX" || kind == "0";
  if (!max && kind != "AVE" && kind != "1") {
    return fail(Code::unsupported_feature, "pool is '{}'; expected MAX or AVE", kind);
  }
  std::vector<ValueId> parts;
  for (int64_t level = 0; level < levels; ++level) {
    const int64_t bins = int64_t{1} << level;
    const auto kernel = [&](int64_t extent) { return ceil_div(extent, bins); };
    const auto pad = [&](int64_t extent) { return (kernel(extent) * bins - extent + 1) / 2; };
    const Ints size = {kernel(height), kernel(width)};
    Attrs attrs = {{"kernel_shape", size},
                   {"strides", size},
                   {"pads", Ints{pad(height), pad(width), pad(height), pad(width)}},
                   {"ceil_mode", int64_t{1}}};
    if (!max) attrs["count_include_pad"] = int64_t{1};
    ANYNPU_ASSIGN(const ValueId pooled, b.add(max ? "MaxPool" : "AveragePool", {x}, attrs));
    ANYNPU_ASSIGN(const ValueId flat, b.add("Flatten", {pooled}, {{"axis", int64_t{1}}}));
    parts.push_back(flat);
  }
  return b.set_top(0, b.add("Concat", parts, {{"axis", int64_t{1}}}));
}

}  // namespace anynpu::caffe
