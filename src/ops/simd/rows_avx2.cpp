// SPDX-License-Identifier: Apache-2.0
// Row kernels for Isa::avx2; see tile_avx512.cpp on why headers stay outside the region.
#include <cstddef>
#include <cstdint>

#include "ops/simd/rows.h"

#if defined(__x86_64__)
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif
namespace anynpu::ops {
namespace rows_avx2 {

constexpr int kWidth = 8;
#include "ops/simd/rows_body.inc"
#include "ops/simd/scaled_body.inc"
#include "ops/simd/softmax_body.inc"
#if defined(__x86_64__)
#define ANYNPU_VECTOR_ROOT(x) __builtin_ia32_sqrtps256(x)
#endif
#include "ops/simd/steps_body.inc"
#undef ANYNPU_VECTOR_ROOT

}  // namespace rows_avx2

constinit const RowSet kRowsAvx2{rows_avx2::find,
                                 rows_avx2::find_scaled,
                                 rows_avx2::softmax,
                                 rows_avx2::layer_norm,
                                 rows_avx2::log_softmax,
                                 rows_avx2::softmax_columns<false>,
                                 rows_avx2::softmax_columns<true>,
                                 rows_avx2::sum,
                                 rows_avx2::deviations,
                                 rows_avx2::affine,
                                 rows_avx2::find_step};

}  // namespace anynpu::ops
#if defined(__x86_64__)
#pragma GCC pop_options
#endif
