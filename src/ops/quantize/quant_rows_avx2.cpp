// SPDX-License-Identifier: Apache-2.0
// Quantising row kernels for Isa::avx2; see tile_avx512.cpp on why headers stay outside the region.
#include <cstdint>

#include "ops/quantize/quant_rows.h"

#if defined(__x86_64__)
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif
namespace anynpu::ops::quantize {
namespace quant_rows_avx2 {

constexpr int kWidth = 8;
#include "ops/quantize/quant_rows_body.inc"

}  // namespace quant_rows_avx2

constinit const QuantRowSet kQuantRowsAvx2 = quant_rows_avx2::kSet;

}  // namespace anynpu::ops::quantize
#if defined(__x86_64__)
#pragma GCC pop_options
#endif
