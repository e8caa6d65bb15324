// SPDX-License-Identifier: Apache-2.0
// Window: the geometry that convolution and pooling share: kernel, strides, dilations, pads and the
// resulting output extents, one entry per spatial dimension.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/schema.h"

namespace anynpu::ops {

struct Window {
  std::vector<int64_t> kernel, stride, dilation, pad_begin, pad_end;
  std::vector<int64_t> in, out;  // -1 where the input extent is -1

  size_t dims() const { return kernel.size(); }
  // Extent of the dilated kernel.
  int64_t reach(size_t dim) const { return (kernel[dim] - 1) * dilation[dim] + 1; }
  // Offset in the input plane of tap `tap` for output `position`; -1: in the padding.
  int64_t tap_offset(int64_t position, int64_t tap) const {
    int64_t offset = 0, scale = 1;
    for (size_t i = dims(); i-- > 0;) {
      const int64_t at =
          (position % out[i]) * stride[i] + (tap % kernel[i]) * dilation[i] - pad_begin[i];
      position /= out[i];
      tap /= kernel[i];
      if (at < 0 || at >= in[i]) return -1;
      offset += at * scale;
      scale *= in[i];
    }
    return offset;
  }
};

// Reads strides, dilations, pads, auto_pad and ceil_mode of the node. `in` are the spatial extents
// of the input, `kernel` those of the kernel. Fails on lists of the wrong length, extents under 1,
// negative pads and kernels larger than the padded input.
Result<Window> window_of(const OpContext& context, std::vector<int64_t> in,
                         std::vector<int64_t> kernel);

}  // namespace anynpu::ops
