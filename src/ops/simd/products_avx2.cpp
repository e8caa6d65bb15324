// SPDX-License-Identifier: Apache-2.0
// Products of few rows for Isa::avx2; see tile_avx512.cpp on why headers stay outside the region.
#include <cstddef>
#include <cstdint>

#include "ops/simd/products.h"

#if defined(__x86_64__)
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif
namespace anynpu::ops {
namespace products_avx2 {

constexpr int kWidth = 8;
#include "ops/simd/products_body.inc"

}  // namespace products_avx2

constinit const ProductSet kProductsAvx2{products_avx2::dots, products_avx2::add_rows,
                                         products_avx2::transpose};

}  // namespace anynpu::ops
#if defined(__x86_64__)
#pragma GCC pop_options
#endif
