// SPDX-License-Identifier: Apache-2.0
// Row kernels for Isa::baseline; see tile_avx512.cpp on why headers stay outside the region.
#include <cstddef>
#include <cstdint>

#include "ops/simd/rows.h"

namespace anynpu::ops {
namespace rows_baseline {

constexpr int kWidth = 4;
#include "ops/simd/rows_body.inc"
#include "ops/simd/scaled_body.inc"
#include "ops/simd/softmax_body.inc"
#if defined(__x86_64__)
#define ANYNPU_VECTOR_ROOT(x) __builtin_ia32_sqrtps(x)
#endif
#include "ops/simd/steps_body.inc"
#undef ANYNPU_VECTOR_ROOT

}  // namespace rows_baseline

constinit const RowSet kRowsBaseline{rows_baseline::find,
                                     rows_baseline::find_scaled,
                                     rows_baseline::softmax,
                                     rows_baseline::layer_norm,
                                     rows_baseline::log_softmax,
                                     rows_baseline::softmax_columns<false>,
                                     rows_baseline::softmax_columns<true>,
                                     rows_baseline::sum,
                                     rows_baseline::deviations,
                                     rows_baseline::affine,
                                     rows_baseline::find_step};

}  // namespace anynpu::ops
