// SPDX-License-Identifier: Apache-2.0
// See tile_avx512.cpp on why headers stay outside the region.
#include <utility>

#include "ops/conv/int8_tile.h"

#if defined(__x86_64__)
#include <immintrin.h>
#pragma GCC push_options
#pragma GCC target("avx512vnni,avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")

namespace anynpu::ops::conv {
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

inline __m512i totals(const Conv8Store& store, int64_t row, int64_t at, __mmask16 mask) {
  const Conv8Channel& channel = store.channels[row];
  const __m512i sums = _mm512_maskz_loadu_epi32(mask, store.sums + row * store.sums_row + at);
  const __m512i total = _mm512_add_epi32(sums, _mm512_set1_epi32(channel.add));
  if (!store.pixel_sums) return total;
  const __m512i pixels = _mm512_maskz_loadu_epi32(mask, store.pixel_sums + at);
  return _mm512_sub_epi32(total,
                          _mm512_mullo_epi32(pixels, _mm512_set1_epi32(channel.weight_zero)));
}
inline __mmask16 mask_of(int64_t count) {
  return static_cast<__mmask16>(count >= kConv8Lanes ? 0xffff : (1u << count) - 1);
}

// A mask of the `most` positions from `at` on that are within [0, extent).
inline uint32_t places_within(int64_t at, int64_t extent, int64_t most) {
  const int64_t begin = at >= 0 ? 0 : at <= -most ? most : -at;
  const int64_t end = extent - at >= most ? most : extent - at < 0 ? 0 : extent - at;
  if (begin >= end) return 0;
  return static_cast<uint32_t>(((int64_t{1} << end) - 1) & ~((int64_t{1} << begin) - 1));
}

inline __m128i sixteen(const Conv8Source& source, int64_t at, int64_t stride, uint8_t pad) {
  if (!source.row) return _mm_setzero_si128();
  const int64_t first = source.first + at * stride;
  const auto filling = static_cast<char>(pad);
  if (stride == 1) {
    const auto mask = static_cast<__mmask16>(places_within(first, source.extent, 16));
    return _mm_mask_loadu_epi8(_mm_set1_epi8(filling), mask, source.row + first);
  }
  if (stride == 2) {
    const __mmask32 mask = places_within(first, source.extent, 32);
    return _mm256_cvtepi16_epi8(
        _mm256_mask_loadu_epi8(_mm256_set1_epi8(filling), mask, source.row + first));
  }
  alignas(16) uint8_t cells[16];
  for (int64_t j = 0; j < 16; ++j) {
    const int64_t place = first + j * stride;
    cells[j] = place >= 0 && place < source.extent ? source.row[place] : pad;
  }
  return _mm_load_si128(reinterpret_cast<const __m128i*>(cells));
}

}  // namespace tile_conv8

void interleave_conv8_row(const Conv8Source sources[4], int64_t stride, uint8_t pad, uint8_t flip,
                          int64_t count, uint8_t* to) {
  const __m128i moved = _mm_set1_epi8(static_cast<char>(flip));
  for (int64_t i = 0; i < count; i += kConv8Lanes, to += 64) {
    __m128i x[4];
#pragma GCC unroll 4
    for (int s = 0; s < 4; ++s) {
      x[s] = tile_conv8::sixteen(sources[s], i, stride, pad);
      if (sources[s].row) x[s] = _mm_xor_si128(x[s], moved);
    }
    const __m128i low01 = _mm_unpacklo_epi8(x[0], x[1]), high01 = _mm_unpackhi_epi8(x[0], x[1]);
    const __m128i low23 = _mm_unpacklo_epi8(x[2], x[3]), high23 = _mm_unpackhi_epi8(x[2], x[3]);
    const __m128i quarters[4] = {_mm_unpacklo_epi16(low01, low23), _mm_unpackhi_epi16(low01, low23),
                                 _mm_unpacklo_epi16(high01, high23),
                                 _mm_unpackhi_epi16(high01, high23)};
    const int mask = tile_conv8::mask_of(count - i);
#pragma GCC unroll 4
    for (int q = 0; q < 4; ++q) {
      _mm_mask_storeu_epi32(to + q * 16, static_cast<__mmask8>(mask >> q * 4 & 15), quarters[q]);
    }
  }
}

Conv8TileFunction find_conv8_tile(int64_t rows, int64_t width) {
  using tile_conv8::pick;
  if (rows < 1 || rows > kConv8Rows || width > conv8_width(rows)) return nullptr;
  if (width == 128) return pick<8>(rows, std::make_integer_sequence<int, 2>{});
  if (width == 64) return pick<4>(rows, std::make_integer_sequence<int, 6>{});
  return pick<2>(rows, std::make_integer_sequence<int, kConv8Rows>{});
}

void store_conv8_sums(const Conv8Store& store, int32_t* out) {
  for (int64_t row = 0; row < store.rows; ++row, out += store.out_row) {
    for (int64_t i = 0; i < store.count; i += kConv8Lanes) {
      const __mmask16 mask = tile_conv8::mask_of(store.count - i);
      _mm512_mask_storeu_epi32(out + i, mask, tile_conv8::totals(store, row, i, mask));
    }
  }
}

void store_conv8_bytes(const Conv8Store& store, uint8_t* out) {
  const __m512d low = _mm512_set1_pd(store.low - store.zero),
                high = _mm512_set1_pd(store.high - store.zero);
  const __m512i zero = _mm512_set1_epi32(store.zero);
  for (int64_t row = 0; row < store.rows; ++row, out += store.out_row) {
    const __m512d factor = _mm512_set1_pd(store.channels[row].factor);
    for (int64_t i = 0; i < store.count; i += kConv8Lanes) {
      const __mmask16 mask = tile_conv8::mask_of(store.count - i);
      const __m512i total = tile_conv8::totals(store, row, i, mask);
      __m256i halves[2] = {_mm512_castsi512_si256(total), _mm512_extracti64x4_epi64(total, 1)};
      __mmask8 ordered[2];
#pragma GCC unroll 2
      for (int h = 0; h < 2; ++h) {
        __m512d value = _mm512_mul_pd(_mm512_cvtepi32_pd(halves[h]), factor);
        ordered[h] = _mm512_cmp_pd_mask(value, value, _CMP_ORD_Q);
        value = _mm512_min_pd(_mm512_max_pd(value, low), high);
        halves[h] = _mm512_cvt_roundpd_epi32(value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
      }
      const __m512i rounded = _mm512_inserti64x4(_mm512_castsi256_si512(halves[0]), halves[1], 1);
      const auto numbers = static_cast<__mmask16>(ordered[0] | ordered[1] << 8);
      const __m128i bytes = _mm512_cvtepi32_epi8(_mm512_maskz_add_epi32(numbers, rounded, zero));
      if (mask == 0xffff) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), bytes);
      } else {
        _mm_mask_storeu_epi8(out + i, mask, bytes);
      }
    }
  }
}

}  // namespace anynpu::ops::conv
#pragma GCC pop_options
#else
namespace anynpu::ops::conv {

Conv8TileFunction find_conv8_tile(int64_t, int64_t) { return nullptr; }
void interleave_conv8_row(const Conv8Source[4], int64_t, uint8_t, uint8_t, int64_t, uint8_t*) {}
void store_conv8_sums(const Conv8Store&, int32_t*) {}
void store_conv8_bytes(const Conv8Store&, uint8_t*) {}

}  // namespace anynpu::ops::conv
#endif
