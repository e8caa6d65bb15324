// SPDX-License-Identifier: Apache-2.0
// A scale or a zero point as kernels of quantised operators read it.
#pragma once

#include "ops/plain_kernel.h"

namespace anynpu::ops {
class Registry;
}

namespace anynpu::ops::quantize {

// A scale or zero point: one value, or one per row, column or channel.
struct QuantParameter {
  int input = -1;  // -1: absent
  DType type = DType::f32;
  bool each = false;
  double at(const RunArgs& args, int64_t index, double otherwise) const;
};

}  // namespace anynpu::ops::quantize
