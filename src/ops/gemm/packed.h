// SPDX-License-Identifier: Apache-2.0
// Matrix products on register tiles (cpu/tile.h): f32. A constant B is packed once; otherwise both
// matrices are packed into the workspace on every run.
#pragma once

#include <memory>

#include "ops/cpu/isa.h"
#include "ops/gemm/gemm.h"

namespace anynpu::ops {

template <Isa isa>
Status can_run_packed_gemm(const OpContext& context);
template <Isa isa>
Result<std::unique_ptr<Kernel>> create_packed_gemm(const OpContext& context);

// bf16 on AVX512-BF16 (bf16.cpp).
Status can_run_bf16_gemm(const OpContext& context);
Result<std::unique_ptr<Kernel>> create_bf16_gemm(const OpContext& context);

// One B for all matrices of the batch, and these lie behind one another: one tall matrix.
void join_batch(GemmShape& g);

}  // namespace anynpu::ops
