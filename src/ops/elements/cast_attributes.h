// SPDX-License-Identifier: Apache-2.0
// Attributes for the type and rounding of results, for all operators that have them (Cast,
// QuantizeLinear, Range, windows, random numbers).
#pragma once

#include "ops/schema.h"
#include "tensor/microscaling.h"

namespace anynpu::ops {

// The type for an attribute that holds a TensorProto.DataType.
Result<DType> dtype_of_onnx(const OpContext& context, int64_t number);

// The attributes saturate and round_mode of Cast and QuantizeLinear; opsets without them saturate
// and round scales up.
SmallFloatRule small_float_rule(const OpContext& context);

}  // namespace anynpu::ops
