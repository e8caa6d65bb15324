// SPDX-License-Identifier: Apache-2.0
// Products with narrow weights for Isa::avx512; see tile_avx512.cpp on why headers stay outside the
// region.
#include <cstddef>
#include <cstdint>

#include "ops/simd/weight_only.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#if defined(__x86_64__)
#pragma GCC push_options
#pragma GCC target("avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,prefer-vector-width=512")
#endif
namespace anynpu::ops {
namespace weight_only_avx512 {

constexpr int kWidth = 16;
#if defined(__x86_64__)
#define ANYNPU_SIGNED_BYTES(codes) \
  _mm512_maskz_cvtepi8_epi32(0xffff, _mm_loadu_si128(reinterpret_cast<const __m128i*>(codes)))
#endif
#include "ops/simd/weight_only_body.inc"
#undef ANYNPU_SIGNED_BYTES

}  // namespace weight_only_avx512

constinit const WeightOnlySet kWeightOnlyAvx512{weight_only_avx512::multiply,
                                                weight_only_avx512::widen};

}  // namespace anynpu::ops
#if defined(__x86_64__)
#pragma GCC pop_options
#endif
