// SPDX-License-Identifier: Apache-2.0
// See tile_avx512.cpp on why headers stay outside the region.
#include <utility>

#include "ops/simd/isa.h"
#include "ops/simd/tile_int8.h"

#if defined(__x86_64__)
#include <immintrin.h>
#pragma GCC push_options
#pragma GCC target("avx512vnni,avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")

namespace anynpu::ops {
namespace tile_int8 {

// Apart from the products: together they would not fit the registers.
__attribute__((noinline)) void finish(const Int8TileArgs& t, const __m512i* sums, int rows) {
  const uint32_t mask = t.columns >= 32 ? ~0u : (1u << t.columns) - 1;
  for (int b = 0; b < 2; ++b) {
    const __m512i column_sums = _mm512_loadu_si512(t.column_sums + b * 16);
    const __m512i column_zeros = _mm512_loadu_si512(t.column_zeros + b * 16);
    for (int r = 0; r < rows; ++r) {
      const __m512i x = _mm512_mullo_epi32(_mm512_set1_epi32(t.row_zeros[r]), column_sums);
      const __m512i y = _mm512_mullo_epi32(_mm512_set1_epi32(t.row_sums[r]), column_zeros);
      _mm512_mask_storeu_epi32(t.out + r * t.out_row + b * 16,
                               static_cast<__mmask16>(mask >> b * 16),
                               _mm512_sub_epi32(sums[r * 2 + b], _mm512_add_epi32(x, y)));
    }
  }
}

template <int rows>
void tile(const Int8TileArgs& t) {
  __m512i sum[rows][2];
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r) sum[r][0] = sum[r][1] = _mm512_setzero_si512();
  const uint8_t* in = t.in;
  const int8_t* w = t.weights;
  for (int64_t step = 0; step < t.steps; ++step, in += rows * 4, w += kInt8Columns * 4) {
    const __m512i first = _mm512_loadu_si512(w), second = _mm512_loadu_si512(w + 64);
    _mm_prefetch(reinterpret_cast<const char*>(w + 12 * 128), _MM_HINT_T0);
    _mm_prefetch(reinterpret_cast<const char*>(w + 12 * 128 + 64), _MM_HINT_T0);
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) {
      int32_t four;
      __builtin_memcpy(&four, in + r * 4, sizeof(four));
      const __m512i x = _mm512_set1_epi32(four);
      // As assembly: the compiler copies the sums before and after its intrinsic.
      asm("vpdpbusd %2, %1, %0" : "+v"(sum[r][0]) : "v"(x), "v"(first));
      asm("vpdpbusd %2, %1, %0" : "+v"(sum[r][1]) : "v"(x), "v"(second));
    }
  }
  alignas(64) __m512i sums[rows * 2];
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r) {
    sums[r * 2] = sum[r][0];
    sums[r * 2 + 1] = sum[r][1];
  }
  finish(t, sums, rows);
}

template <int... rows>
Int8TileFunction pick(int64_t wanted, std::integer_sequence<int, rows...>) {
  static constexpr Int8TileFunction table[] = {tile<rows + 1>...};
  return wanted >= 1 && wanted <= kInt8Rows ? table[wanted - 1] : nullptr;
}

}  // namespace tile_int8

Int8TileFunction find_int8_tile(int64_t rows) {
  return tile_int8::pick(rows, std::make_integer_sequence<int, kInt8Rows>{});
}

}  // namespace anynpu::ops
#pragma GCC pop_options

namespace anynpu::ops {

Status check_vnni() {
  ANYNPU_TRY(check_isa(Isa::avx512));
  static const bool present = __builtin_cpu_supports("avx512vnni");
  return present ? Status{} : fail(Code::unsupported_feature, "the processor lacks avx512_vnni");
}

void interleave_four(const uint8_t* const rows[4], uint8_t flip, uint8_t* to) {
  const __m128i mask = _mm_set1_epi8(static_cast<char>(flip));
  __m128i x[4];
  for (int r = 0; r < 4; ++r) {
    x[r] = rows[r] ? _mm_xor_si128(_mm_loadu_si128(reinterpret_cast<const __m128i*>(rows[r])), mask)
                   : _mm_setzero_si128();
  }
  const __m128i low01 = _mm_unpacklo_epi8(x[0], x[1]), high01 = _mm_unpackhi_epi8(x[0], x[1]);
  const __m128i low23 = _mm_unpacklo_epi8(x[2], x[3]), high23 = _mm_unpackhi_epi8(x[2], x[3]);
  auto* out = reinterpret_cast<__m128i*>(to);
  _mm_storeu_si128(out, _mm_unpacklo_epi16(low01, low23));
  _mm_storeu_si128(out + 1, _mm_unpackhi_epi16(low01, low23));
  _mm_storeu_si128(out + 2, _mm_unpacklo_epi16(high01, high23));
  _mm_storeu_si128(out + 3, _mm_unpackhi_epi16(high01, high23));
}

}  // namespace anynpu::ops
#else
namespace anynpu::ops {

Status check_vnni() { return fail(Code::unsupported_feature, "the processor lacks avx512_vnni"); }
Int8TileFunction find_int8_tile(int64_t) { return nullptr; }
void interleave_four(const uint8_t* const rows[4], uint8_t flip, uint8_t* to) {
  for (int j = 0; j < 16; ++j) {
    for (int r = 0; r < 4; ++r) {
      to[4 * j + r] = rows[r] ? static_cast<uint8_t>(rows[r][j] ^ flip) : uint8_t{0};
    }
  }
}

}  // namespace anynpu::ops
#endif
