// SPDX-License-Identifier: Apache-2.0
// Matrix products on AMX tiles: bf16 with sums in f32 and one rounding.
#pragma once

#include <memory>

#include "ops/amx/tiles.h"
#include "ops/kernel.h"

namespace anynpu::ops::gemm {

// Whether the kernel takes the case, regardless of the processor.
Status check_amx_gemm(const OpContext& context);
// The same, and the processor has the instructions.
Status can_run_amx_gemm(const OpContext& context);
// With amx_engine() after can_run_amx_gemm(); the tests also with software_engine().
template <const amx::Engine& (*engine)()>
Result<std::unique_ptr<Kernel>> create_amx_gemm(const OpContext& context);

}  // namespace anynpu::ops::gemm
