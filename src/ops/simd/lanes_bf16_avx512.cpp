// SPDX-License-Identifier: Apache-2.0
// See tile_avx512.cpp on why headers stay outside the regions.
#include "ops/simd/lanes_bf16.h"
#include "ops/simd/tile_bf16.h"

#if defined(__x86_64__)
#include <immintrin.h>

namespace anynpu::ops {

// What shuffles read from where.
struct ShortOrders {
  // Words 0-3 and 8-11 of a first copy of a pixel and the others of a second, above zeros: the
  // order of short_lane().
  alignas(64) uint8_t widening[64];
  alignas(64) uint16_t narrowing[32];    // the way back, of one pixel whose low halves are zero
  alignas(64) uint16_t high_halves[32];  // of the words of two registers

  constexpr ShortOrders() : widening(), narrowing(), high_halves() {
    for (int i = 0; i < 64; ++i) {
      const int word = i % 16 / 4 + i / 32 * 4;  // inside of 128 bits
      widening[i] = static_cast<uint8_t>(i % 4 < 2 ? 0x80 : word * 2 + i % 2);  // 0x80: zero
    }
    for (int i = 0; i < 16; ++i) narrowing[i] = static_cast<uint16_t>(short_lane(i) * 2 + 1);
    for (int i = 0; i < 32; ++i) high_halves[i] = static_cast<uint16_t>(i * 2 + 1);
  }
};
constexpr ShortOrders kShortOrders;

}  // namespace anynpu::ops

#pragma GCC push_options
#pragma GCC target("avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")
namespace anynpu::ops {
namespace short_lanes_avx512 {

// Shifts and masks in the compiler's own vectors, and forms with a mask here and in the body: GCC
// 12 warns of what its other intrinsics leave undefined.
typedef uint32_t Words __attribute__((vector_size(64)));

// The bits of values rounded to bfloat16, in the high halves; NaN stays NaN.
inline __m512i rounded_words(__m512 value) {
  const Words bits = reinterpret_cast<Words>(value);
  const Words sum = bits + (bits >> 16 & 1u) + 0x7fffu;
  const Words quiet = bits | 0x400000u;
  const __mmask16 nan = _mm512_cmp_ps_mask(value, value, _CMP_UNORD_Q);
  return _mm512_mask_mov_epi32(reinterpret_cast<__m512i>(sum), nan,
                               reinterpret_cast<__m512i>(quiet));
}

// Two pixels rounded to bfloat16, the first in the low half.
inline __m512i rounded(__m512 first, __m512 second) {
  return _mm512_maskz_permutex2var_epi16(0xffffffff, rounded_words(first),
                                         _mm512_load_si512(kShortOrders.high_halves),
                                         rounded_words(second));
}

#include "ops/simd/lanes_bf16_body.inc"

}  // namespace short_lanes_avx512
}  // namespace anynpu::ops
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx512bf16,avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")
namespace anynpu::ops {
namespace short_lanes_bf16 {

inline __m512i rounded(__m512 first, __m512 second) {
  return reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(second, first));
}

#include "ops/simd/lanes_bf16_body.inc"

}  // namespace short_lanes_bf16
}  // namespace anynpu::ops
#pragma GCC pop_options

namespace anynpu::ops {
constinit const ShortLaneSet kShortLanesAvx512{short_lanes_avx512::max_rows,
                                               short_lanes_avx512::average_rows,
                                               short_lanes_avx512::depthwise_rows};
constinit const ShortLaneSet kShortLanesBf16{
    short_lanes_bf16::max_rows, short_lanes_bf16::average_rows, short_lanes_bf16::depthwise_rows};
}  // namespace anynpu::ops
#else
namespace anynpu::ops {
constinit const ShortLaneSet kShortLanesAvx512{}, kShortLanesBf16{};  // no kernel asks for them
}  // namespace anynpu::ops
#endif

namespace anynpu::ops {

const ShortLaneSet& short_lane_set() {
  static const bool bf16 = check_bf16().ok();
  return bf16 ? kShortLanesBf16 : kShortLanesAvx512;
}

}  // namespace anynpu::ops
