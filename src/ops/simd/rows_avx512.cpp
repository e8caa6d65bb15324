// SPDX-License-Identifier: Apache-2.0
// Row kernels for Isa::avx512; see tile_avx512.cpp on why headers stay outside the region.
#include <cstddef>
#include <cstdint>

#include "ops/simd/rows.h"

#if defined(__x86_64__)
#pragma GCC push_options
#pragma GCC target("avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,prefer-vector-width=512")
#endif
namespace anynpu::ops {
namespace rows_avx512 {

constexpr int kWidth = 16;
#include "ops/simd/rows_body.inc"
#include "ops/simd/scaled_body.inc"
#include "ops/simd/softmax_body.inc"
#if defined(__x86_64__)
#define ANYNPU_VECTOR_ROOT(x) __builtin_ia32_sqrtps512_mask(x, x, static_cast<short>(-1), 4)
#endif
#include "ops/simd/steps_body.inc"
#undef ANYNPU_VECTOR_ROOT

}  // namespace rows_avx512

constinit const RowSet kRowsAvx512{rows_avx512::find,
                                   rows_avx512::find_scaled,
                                   rows_avx512::softmax,
                                   rows_avx512::layer_norm,
                                   rows_avx512::log_softmax,
                                   rows_avx512::softmax_columns<false>,
                                   rows_avx512::softmax_columns<true>,
                                   rows_avx512::sum,
                                   rows_avx512::deviations,
                                   rows_avx512::affine,
                                   rows_avx512::find_step};

}  // namespace anynpu::ops
#if defined(__x86_64__)
#pragma GCC pop_options
#endif
