// SPDX-License-Identifier: Apache-2.0
// The families of the block engine, one register function per file.
#pragma once

#include "ops/schema.h"
#include "tensor/microscaling.h"

namespace anynpu::ops {

class Registry;

void register_typed_unary(Registry& registry);
void register_typed_nary(Registry& registry);
void register_typed_cast(Registry& registry);
void register_block_unary(Registry& registry);
void register_block_nary(Registry& registry);
void register_cast(Registry& registry);
void register_where(Registry& registry);

// The type for an attribute that holds a TensorProto.DataType.
Result<DType> dtype_of_onnx(const OpContext& context, int64_t number);

// The attributes saturate and round_mode of Cast and QuantizeLinear; opsets without them saturate
// and round scales up.
SmallFloatRule small_float_rule(const OpContext& context);

}  // namespace anynpu::ops
