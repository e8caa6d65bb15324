// SPDX-License-Identifier: Apache-2.0
// Matrix products on register tiles (simd/tile.h): f32. A constant B is packed once; otherwise both
// matrices are packed into the workspace on every run.
#pragma once

#include <functional>
#include <memory>

#include "ops/elements/epilogue.h"
#include "ops/gemm/gemm.h"
#include "ops/simd/isa.h"

namespace anynpu::ops::gemm {

template <Isa isa>
Status can_run_packed_gemm(const OpContext& context);
template <Isa isa>
Result<std::unique_ptr<Kernel>> create_packed_gemm(const OpContext& context);

// A few rows times a matrix that is an input of the run: read once, in place (few_rows.cpp).
Status can_run_few_rows(const OpContext& context);
Result<std::unique_ptr<Kernel>> create_few_rows(const OpContext& context);

// bf16 on AVX512-BF16 (bf16_avx512.cpp).
Status can_run_bf16_gemm(const OpContext& context);
Result<std::unique_ptr<Kernel>> create_bf16_gemm(const OpContext& context);

// The GEMM engine for other kernels that multiply matrices. The plan takes A, B, C and Z as inputs
// 0 to 3; with RightSide::packed, args.packed is the result of pack_right_side for the one B that
// the whole batch shares. It runs on at most `threads` threads, only on the caller's if that is 1;
// results do not depend on the number.
enum class RightSide : uint8_t { plain, packed };
size_t packed_right_bytes(const GemmShape& g, Isa isa);
void pack_right_side(const GemmShape& g, Isa isa, const float* b, std::byte* packed);
// With `widen`, the right side is in another form in args.packed: each run asks for it in pieces,
// rows [begin, end) of block `block` of 16 columns (zeros beyond n), `step` floats from row to row.
using WidenPanel = std::function<void(const std::byte* packed, int64_t block, int64_t begin,
                                      int64_t end, float* to, int64_t step)>;
std::unique_ptr<KernelPlan> plan_packed_gemm(GemmShape g, RightSide right, Isa isa, size_t threads,
                                             StepsEpilogue epilogue = {}, WidenPanel widen = {});

// If all matrices of a contiguous batch share B, merges them into one tall matrix.
void join_batch(GemmShape& g);

}  // namespace anynpu::ops::gemm
