// SPDX-License-Identifier: Apache-2.0
// Products of few rows for Isa::avx512; see tile_avx512.cpp on why headers stay outside the region.
#include <cstddef>
#include <cstdint>

#include "ops/simd/products.h"

#if defined(__x86_64__)
#pragma GCC push_options
#pragma GCC target("avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,prefer-vector-width=512")
#endif
namespace anynpu::ops {
namespace products_avx512 {

constexpr int kWidth = 16;
#include "ops/simd/products_body.inc"

}  // namespace products_avx512

constinit const ProductSet kProductsAvx512{products_avx512::dots, products_avx512::add_rows,
                                           products_avx512::transpose};

}  // namespace anynpu::ops
#if defined(__x86_64__)
#pragma GCC pop_options
#endif
