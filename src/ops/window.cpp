// SPDX-License-Identifier: Apache-2.0
#include "ops/window.h"

#include <algorithm>

namespace anynpu::ops {

namespace {

// Far beyond what networks use; they keep a hostile file from making a kernel overflow or spin.
constexpr int64_t kMaxExtent = int64_t{1} << 20;
constexpr int64_t kMaxTaps = int64_t{1} << 24;

Result<std::vector<int64_t>> list_attr(const OpContext& context, std::string_view key,
                                       size_t length, int64_t otherwise, int64_t least) {
  std::vector<int64_t> list = context.ints_attr(key);
  if (list.empty()) list.assign(length, otherwise);
  if (list.size() != length) {
    return fail(Code::invalid_argument,
                "{}: attribute '{}' is {}, expected {} values; check the model", context.label(),
                key, list, length);
  }
  for (int64_t value : list) {
    if (value < least || value > kMaxExtent) {
      return fail(Code::invalid_argument,
                  "{}: attribute '{}' is {}, expected values from {} to {}; check the model",
                  context.label(), key, list, least, kMaxExtent);
    }
  }
  return list;
}

// SAME_UPPER and SAME_LOWER: out = ceil(in / stride), the odd pixel at the end or at the start.
void pad_same(Window& w, size_t dim, bool upper) {
  w.out[dim] = (w.in[dim] + w.stride[dim] - 1) / w.stride[dim];
  const int64_t needed = (w.out[dim] - 1) * w.stride[dim] + w.reach(dim) - w.in[dim];
  const int64_t total = std::max<int64_t>(0, needed);
  w.pad_begin[dim] = upper ? total / 2 : total - total / 2;
  w.pad_end[dim] = total - w.pad_begin[dim];
}

void count_windows(Window& w, size_t dim, bool ceil_mode) {
  const int64_t span = w.in[dim] + w.pad_begin[dim] + w.pad_end[dim] - w.reach(dim);
  if (span < 0) {  // rounded up, a kernel that reaches over the end still has its first window
    w.out[dim] = ceil_mode && span > -w.stride[dim] ? 1 : 0;
    return;
  }
  w.out[dim] = span / w.stride[dim] + 1;
  if (ceil_mode && span % w.stride[dim] != 0) {
    // A window more, unless it would begin in the padding at the end.
    if (w.out[dim] * w.stride[dim] < w.in[dim] + w.pad_begin[dim]) ++w.out[dim];
  }
}

}  // namespace

Result<Window> window_of(const OpContext& context, std::vector<int64_t> in,
                         std::vector<int64_t> kernel) {
  Window w;
  const size_t dims = in.size();
  w.in = std::move(in);
  w.kernel = std::move(kernel);
  if (dims == 0 || w.kernel.size() != dims) {
    return fail(
        Code::unsupported_shape,
        "{}: the input has {} spatial dimensions, the kernel {}; expected the same, at least 1",
        context.label(), dims, w.kernel.size());
  }
  int64_t taps = 1;
  for (size_t i = 0; i < dims; ++i) {
    const bool fits = w.kernel[i] >= 1 && w.kernel[i] <= kMaxExtent && w.in[i] < int64_t{1} << 40;
    taps = fits ? taps * w.kernel[i] : kMaxTaps + 1;
    if (taps > kMaxTaps) {
      return fail(Code::unsupported_shape,
                  "{}: kernel {} over input {}, expected extents of at least 1 and at most {} taps",
                  context.label(), w.kernel, w.in, kMaxTaps);
    }
  }
  ANYNPU_ASSIGN(w.stride, list_attr(context, "strides", dims, 1, 1));
  ANYNPU_ASSIGN(w.dilation, list_attr(context, "dilations", dims, 1, 1));
  ANYNPU_ASSIGN(auto pads, list_attr(context, "pads", 2 * dims, 0, 0));
  w.pad_begin.assign(pads.begin(), pads.begin() + static_cast<ptrdiff_t>(dims));
  w.pad_end.assign(pads.begin() + static_cast<ptrdiff_t>(dims), pads.end());
  w.out.assign(dims, kDynamicDim);

  const std::string auto_pad = context.string_attr("auto_pad");
  const bool same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
  if (!same && auto_pad != "VALID" && auto_pad != "NOTSET" && !auto_pad.empty()) {
    return fail(Code::invalid_argument,
                "{}: auto_pad is '{}', expected NOTSET, VALID, SAME_UPPER or SAME_LOWER",
                context.label(), auto_pad);
  }
  if (auto_pad == "VALID") {
    w.pad_begin.assign(dims, 0);
    w.pad_end.assign(dims, 0);
  }
  const bool ceil_mode = context.int_attr("ceil_mode") != 0;
  for (size_t i = 0; i < dims; ++i) {
    if (w.in[i] == kDynamicDim) continue;
    if (same) {
      pad_same(w, i, auto_pad == "SAME_UPPER");
    } else {
      count_windows(w, i, ceil_mode);
    }
    if (w.out[i] < 1 && w.in[i] > 0) {
      return fail(Code::unsupported_shape,
                  "{}: kernel {} with dilations {} does not fit into input {} with pads {}; check "
                  "the input shape",
                  context.label(), w.kernel, w.dilation, w.in, pads);
    }
  }
  return w;
}

}  // namespace anynpu::ops
