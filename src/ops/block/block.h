// SPDX-License-Identifier: Apache-2.0
// The families of the block engine, one register function per file.
#pragma once

#include "ops/schema.h"
#include "tensor/float8.h"

namespace anynpu::ops {

class Registry;

void register_block_unary(Registry& registry);
void register_block_nary(Registry& registry);
void register_cast(Registry& registry);
void register_where(Registry& registry);

// The type for an attribute that holds a TensorProto.DataType.
Result<DType> dtype_of_onnx(const OpContext& context, int64_t number);

// The attribute saturate of Cast and QuantizeLinear; opsets without it saturate.
Overflow overflow_of(const OpContext& context);

}  // namespace anynpu::ops
