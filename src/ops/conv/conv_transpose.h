// SPDX-License-Identifier: Apache-2.0
// ConvTranspose: the problem as every kernel sees it.
#pragma once

#include <vector>

#include "ops/kernel.h"

namespace anynpu::ops::conv {

struct TransposeShape {
  std::vector<int64_t> in, kernel, stride, dilation, pad, out;  // pad: in front
  int64_t batch = 0, in_channels = 0, out_channels = 0, group = 1;
};

// All extents known.
Result<TransposeShape> transpose_shape_of(const OpContext& context);

}  // namespace anynpu::ops::conv
