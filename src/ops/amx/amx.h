// SPDX-License-Identifier: Apache-2.0
// Kernels on tiles (tiles.h), for the list: bf16 with sums in f32 and one rounding.
#pragma once

#include <memory>

#include "ops/amx/tiles.h"
#include "ops/kernel.h"

namespace anynpu::ops::amx {

Status can_run_gemm(const OpContext& context);
Status can_run_conv(const OpContext& context);
Status can_run_attention(const OpContext& context);
Status can_run_bottleneck(const OpContext& context);

// With amx_engine() after can_run_*(), which asks for it; the tests also with software_engine().
template <const Engine& (*engine)()>
Result<std::unique_ptr<Kernel>> create_gemm(const OpContext& context);
template <const Engine& (*engine)()>
Result<std::unique_ptr<Kernel>> create_conv(const OpContext& context);
template <const Engine& (*engine)()>
Result<std::unique_ptr<Kernel>> create_attention(const OpContext& context);
template <const Engine& (*engine)()>
Result<std::unique_ptr<Kernel>> create_bottleneck(const OpContext& context);

// What a kernel takes, whatever the processor has.
Status check_gemm(const OpContext& context);
Status check_conv(const OpContext& context);
Status check_attention(const OpContext& context);
Status check_bottleneck(const OpContext& context);

}  // namespace anynpu::ops::amx
