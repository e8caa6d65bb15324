// SPDX-License-Identifier: Apache-2.0
// QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear: what their kernels share.
#pragma once

#include "ops/quantize/quantize.h"

namespace anynpu::ops::quantize {

// Finds the scale (and zero point) of element i of the input. Elements come in rows that share one
// scale, or have consecutive scales.
struct ScaleWalk {
  struct ScaleRow {
    int64_t end = 0;    // the element after the row
    int64_t place = 0;  // index of the element's scale
    bool each = false;  // the next element has the next scale
  };

  int64_t count = 0;              // elements of the input
  int64_t inner = 1, extent = 1;  // of the axis, in the input
  int64_t block = 1, scales = 1;  // elements of the axis per scale; scales along the axis
  bool per_tensor = true, blocked = false;

  int64_t place(int64_t i) const { return row(i).place; }
  ScaleRow row(int64_t i) const;
};
Result<ScaleWalk> scale_walk(const OpContext& context);

// The type that x / y_scale is computed in: the attribute's, else from opset 23 on that of the
// scale, where it is a type to compute in.
Result<DType> division_type(const OpContext& context);

// Scale and zero point for values between `low` <= 0 and `high` >= 0.
struct DynamicScale {
  float scale = 0, zero = 0;
};
DynamicScale dynamic_scale(float low, float high);

// Vectorised row kernels (linear_rows.cpp) for the three operators.
std::vector<KernelLine> row_kernels(std::string_view op);

void add_schemas(Registry& registry);
void register_byte_table(Registry& registry);
// The kernels that take every case (linear.cpp).
KernelLine reference_kernel(std::string_view op);

}  // namespace anynpu::ops::quantize
