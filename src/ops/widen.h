// SPDX-License-Identifier: Apache-2.0
// float16 and bfloat16 through the float32 kernels of the same operator: operands are converted
// into the workspace, sums are float32, the result is rounded once. For operators whose arithmetic
// costs more than the conversions. Kernels made for these types come before it in the list.
#pragma once

#include "ops/kernel.h"

namespace anynpu::ops {

constexpr DTypeSet kShortFloats{DType::f16, DType::bf16};

// Refuses if the float32 list has only the reference: the short types have that themselves.
Status can_run_widened(const OpContext& context);
Result<std::unique_ptr<Kernel>> create_widened(const OpContext& context);

}  // namespace anynpu::ops
