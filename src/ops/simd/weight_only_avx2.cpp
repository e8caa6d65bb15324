// SPDX-License-Identifier: Apache-2.0
// Products with narrow weights for Isa::avx2; see tile_avx512.cpp on why headers stay outside the
// region.
#include <cstddef>
#include <cstdint>

#include "ops/simd/weight_only.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#if defined(__x86_64__)
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif
namespace anynpu::ops {
namespace weight_only_avx2 {

constexpr int kWidth = 8;
#if defined(__x86_64__)
#define ANYNPU_SIGNED_BYTES(codes) \
  _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(codes)))
#endif
#include "ops/simd/weight_only_body.inc"
#undef ANYNPU_SIGNED_BYTES

}  // namespace weight_only_avx2

constinit const WeightOnlySet kWeightOnlyAvx2{weight_only_avx2::multiply, weight_only_avx2::widen};

}  // namespace anynpu::ops
#if defined(__x86_64__)
#pragma GCC pop_options
#endif
