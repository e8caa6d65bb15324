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
};

// Reads strides, dilations, pads, auto_pad and ceil_mode of the node. `in` are the spatial extents
// of the input, `kernel` those of the kernel. Fails on lists of the wrong length, extents under 1,
// negative pads and kernels larger than the padded input.
Result<Window> window_of(const OpContext& context, std::vector<int64_t> in,
                         std::vector<int64_t> kernel);

}  // namespace anynpu::ops
