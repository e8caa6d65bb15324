// SPDX-License-Identifier: Apache-2.0
// See tile_avx512.cpp on why headers stay outside the region.
#include "ops/cpu/tile_conv8.h"

#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#pragma GCC push_options
#pragma GCC target("avx512vnni,avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")

namespace anynpu::ops {
namespace tile_conv8 {

template <int rows, int vectors>
void tile(const Conv8Tile& t) {
  __m512i sum[rows][vectors];
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) sum[r][v] = _mm512_setzero_si512();
  }
  const int8_t* w = t.weights;
  for (int64_t step = 0; step < t.steps; ++step, w += rows * 4) {
    const uint8_t* in = t.in + t.offsets[step];
    __m512i x[vectors];
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) x[v] = _mm512_loadu_si512(in + v * 64);
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) {
      int32_t four;
      __builtin_memcpy(&four, w + r * 4, sizeof(four));
      const __m512i y = _mm512_set1_epi32(four);
      // As assembly: the compiler copies the sums before and after its intrinsic.
#pragma GCC unroll 8
      for (int v = 0; v < vectors; ++v) {
        asm("vpdpbusd %2, %1, %0" : "+v"(sum[r][v]) : "v"(x[v]), "v"(y));
      }
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) {
      _mm512_storeu_si512(t.sums + (r * vectors + v) * kConv8Lanes, sum[r][v]);
    }
  }
}

template <int vectors, int... rows>
Conv8TileFunction pick(int64_t wanted, std::integer_sequence<int, rows...>) {
  static constexpr Conv8TileFunction table[] = {tile<rows + 1, vectors>...};
  return table[wanted - 1];
}

inline __m512i totals(const Conv8Row& row, int64_t at, __mmask16 mask) {
  __m512i total =
      _mm512_add_epi32(_mm512_maskz_loadu_epi32(mask, row.sums + at), _mm512_set1_epi32(row.add));
  if (row.pixel_sums) {
    const __m512i pixels = _mm512_maskz_loadu_epi32(mask, row.pixel_sums + at);
    total = _mm512_sub_epi32(total, _mm512_mullo_epi32(pixels, _mm512_set1_epi32(row.weight_zero)));
  }
  return total;
}
inline __mmask16 mask_of(int64_t count) {
  return static_cast<__mmask16>(count >= kConv8Lanes ? 0xffff : (1u << count) - 1);
}

}  // namespace tile_conv8

Conv8TileFunction find_conv8_tile(int64_t rows, int64_t width) {
  using tile_conv8::pick;
  if (rows < 1 || rows > kConv8Rows || width > conv8_width(rows)) return nullptr;
  if (width == 128) return pick<8>(rows, std::make_integer_sequence<int, 2>{});
  if (width == 64) return pick<4>(rows, std::make_integer_sequence<int, 6>{});
  return pick<2>(rows, std::make_integer_sequence<int, kConv8Rows>{});
}

void store_conv8_sums(const Conv8Row& row, int32_t* out) {
  for (int64_t i = 0; i < row.count; i += kConv8Lanes) {
    const __mmask16 mask = tile_conv8::mask_of(row.count - i);
    _mm512_mask_storeu_epi32(out + i, mask, tile_conv8::totals(row, i, mask));
  }
}

void store_conv8_bytes(const Conv8Row& row, uint8_t* out) {
  const __m512d factor = _mm512_set1_pd(row.factor), low = _mm512_set1_pd(row.low - row.zero),
                high = _mm512_set1_pd(row.high - row.zero);
  const __m512i zero = _mm512_set1_epi32(row.zero);
  for (int64_t i = 0; i < row.count; i += kConv8Lanes) {
    const __mmask16 mask = tile_conv8::mask_of(row.count - i);
    const __m512i total = tile_conv8::totals(row, i, mask);
    __m256i halves[2] = {_mm512_castsi512_si256(total), _mm512_extracti64x4_epi64(total, 1)};
    __mmask8 ordered[2];
    for (int h = 0; h < 2; ++h) {
      __m512d value = _mm512_mul_pd(_mm512_cvtepi32_pd(halves[h]), factor);
      ordered[h] = _mm512_cmp_pd_mask(value, value, _CMP_ORD_Q);
      value = _mm512_min_pd(_mm512_max_pd(value, low), high);
      halves[h] = _mm512_cvt_roundpd_epi32(value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    }
    const __m512i rounded = _mm512_inserti64x4(_mm512_castsi256_si512(halves[0]), halves[1], 1);
    const auto numbers = static_cast<__mmask16>(ordered[0] | ordered[1] << 8);
    _mm_mask_storeu_epi8(out + i, mask,
                         _mm512_cvtepi32_epi8(_mm512_maskz_add_epi32(numbers, rounded, zero)));
  }
}

}  // namespace anynpu::ops
#pragma GCC pop_options
#else
namespace anynpu::ops {

Conv8TileFunction find_conv8_tile(int64_t, int64_t) { return nullptr; }
void store_conv8_sums(const Conv8Row&, int32_t*) {}
void store_conv8_bytes(const Conv8Row&, uint8_t*) {}

}  // namespace anynpu::ops
#endif
