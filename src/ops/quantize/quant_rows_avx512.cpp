// SPDX-License-Identifier: Apache-2.0
// Quantising row kernels for Isa::avx512; see tile_avx512.cpp on why headers stay outside the
// region.
#include <cstdint>

#include "ops/quantize/quant_rows.h"

#if defined(__x86_64__)
#pragma GCC push_options
#pragma GCC target("avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,prefer-vector-width=512")
#endif
namespace anynpu::ops::quantize {
namespace quant_rows_avx512 {

constexpr int kWidth = 16;
#include "ops/quantize/quant_rows_body.inc"

}  // namespace quant_rows_avx512

constinit const QuantRowSet kQuantRowsAvx512 = quant_rows_avx512::kSet;

}  // namespace anynpu::ops::quantize
#if defined(__x86_64__)
#pragma GCC pop_options
#endif
