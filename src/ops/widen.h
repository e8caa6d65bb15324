// SPDX-License-Identifier: Apache-2.0
// float16 and bfloat16 through the float32 kernels of the same operator: operands are widened into
// the workspace, the result is rounded once. The accumulation is that of float32. For operators
// whose arithmetic outweighs the conversions; kernels of their own stand before it in the list.
#pragma once

#include "ops/kernel.h"

namespace anynpu::ops {

constexpr DTypeSet kShortFloats{DType::f16, DType::bf16};

// Refuses where the float32 list has the reference only: the short types have that themselves.
Status can_run_widened(const OpContext& context);
Result<std::unique_ptr<Kernel>> create_widened(const OpContext& context);

}  // namespace anynpu::ops
