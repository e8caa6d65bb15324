// SPDX-License-Identifier: Apache-2.0
// See tile_avx512.cpp on why headers stay outside the region.
#include "ops/cpu/lanes_bf16.h"

#if defined(__x86_64__)
#include <immintrin.h>
#pragma GCC push_options
#pragma GCC target("avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")

namespace anynpu::ops {
namespace lanes_bf16 {

constexpr int64_t kPixel = 16;  // channels
// Shifts and masks in the compiler's own vectors, and forms with a mask below: GCC 12 warns of what
// its other intrinsics leave undefined.
typedef uint32_t Words __attribute__((vector_size(64)));
constexpr __mmask16 kAll = 0xffff;

// Even and odd channels of two pixels.
struct Pair {
  __m512 even, odd;
};

inline Pair split(__m512i both) {
  const Words words = reinterpret_cast<Words>(both);
  return {reinterpret_cast<__m512>(words << 16), reinterpret_cast<__m512>(words & 0xffff0000u)};
}

inline __m512 twice(const float* eight) {
  return _mm512_maskz_broadcast_f32x8(kAll, _mm256_loadu_ps(eight));
}

// The bits of values rounded to bfloat16, in the high halves; NaN stays NaN.
inline Words rounded(__m512 value) {
  const Words bits = reinterpret_cast<Words>(value);
  const Words sum = bits + (bits >> 16 & 1u) + 0x7fffu;
  const Words quiet = bits | 0x400000u;
  const __mmask16 nan = _mm512_cmp_ps_mask(value, value, _CMP_UNORD_Q);
  return reinterpret_cast<Words>(
      _mm512_mask_mov_epi32(reinterpret_cast<__m512i>(sum), nan, reinterpret_cast<__m512i>(quiet)));
}

// Comparisons in this order keep NaN.
inline __m512 clamped(__m512 value, __m512 low, __m512 high) {
  value = _mm512_mask_mov_ps(value, _mm512_cmp_ps_mask(value, low, _CMP_LT_OQ), low);
  return _mm512_mask_mov_ps(value, _mm512_cmp_ps_mask(value, high, _CMP_GT_OQ), high);
}

// Pixels at `from` and `step` elements after it; the first alone where `both` is off.
template <bool both>
inline __m512i load(const BF16* from, int64_t step) {
  if constexpr (!both) {
    return _mm512_castsi256_si512(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
  }
  if (step == kPixel) return _mm512_loadu_si512(from);
  const __m256i first = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  const __m256i second = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + step));
  return _mm512_maskz_inserti64x4(0xff, _mm512_castsi256_si512(first), second, 1);
}

struct Window {
  int64_t top, bottom, left, right;  // taps inside the input
};

// Output pixels [o, o + 2 * pairs), or pixel o alone.
template <int pairs, bool both>
void pixels(const ShortLaneRow& r, const Window& w, int64_t o) {
  const int64_t step = r.stride_w * kPixel;
  Pair sum[pairs];
  const Pair bias{twice(r.bias), twice(r.bias + 8)};
#pragma GCC unroll 4
  for (int p = 0; p < pairs; ++p) sum[p] = bias;
  for (int64_t i = w.top; i < w.bottom; ++i) {
    const BF16* line = r.in + ((r.y + i * r.dilation_h) * r.in_w + r.x) * kPixel + o * step;
    for (int64_t j = w.left; j < w.right; ++j) {
      const float* weight = r.weights + (i * r.kernel_w + j) * kPixel;
      const __m512 even = twice(weight), odd = twice(weight + 8);
      const BF16* from = line + j * r.dilation_w * kPixel;
#pragma GCC unroll 4
      for (int p = 0; p < pairs; ++p) {
        const Pair x = split(load<both>(from + p * 2 * step, step));
        sum[p].even = _mm512_fmadd_ps(x.even, even, sum[p].even);
        sum[p].odd = _mm512_fmadd_ps(x.odd, odd, sum[p].odd);
      }
    }
  }
  const __m512 low = _mm512_set1_ps(r.min), high = _mm512_set1_ps(r.max);
#pragma GCC unroll 4
  for (int p = 0; p < pairs; ++p) {
    Pair y = sum[p];
    const int64_t at = (o + p * 2) * kPixel;
    if (r.residual) {
      const Pair z = split(load<both>(r.residual + at, kPixel));
      y = {_mm512_add_ps(y.even, z.even), _mm512_add_ps(y.odd, z.odd)};
    }
    if (r.clamp) y = {clamped(y.even, low, high), clamped(y.odd, low, high)};
    const __m512i words =
        reinterpret_cast<__m512i>(rounded(y.even) >> 16 | (rounded(y.odd) & 0xffff0000u));
    if constexpr (both) {
      _mm512_storeu_si512(r.out + at, words);
    } else {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(r.out + at), _mm512_castsi512_si256(words));
    }
  }
}

}  // namespace lanes_bf16

void depthwise_row_bf16(const ShortLaneRow& r) {
  using namespace lanes_bf16;
  constexpr int kPairs = 3;
  Window w{0, r.kernel_h, 0, r.kernel_w};
  while (w.top < w.bottom && r.y + w.top * r.dilation_h < 0) ++w.top;
  while (w.bottom > w.top && r.y + (w.bottom - 1) * r.dilation_h >= r.in_h) --w.bottom;
  const int64_t reach = (r.kernel_w - 1) * r.dilation_w;
  for (int64_t o = 0; o < r.out_w;) {
    const int64_t x = r.x + o * r.stride_w;
    const auto inside = [&](int64_t count) {
      return x >= 0 && x + (count - 1) * r.stride_w + reach < r.in_w && o + count <= r.out_w;
    };
    if (inside(2 * kPairs)) {
      pixels<kPairs, true>(r, w, o);
      o += 2 * kPairs;
    } else if (inside(4)) {
      pixels<2, true>(r, w, o);
      o += 4;
    } else if (inside(2)) {
      pixels<1, true>(r, w, o);
      o += 2;
    } else {
      Window edge = w;
      while (edge.left < edge.right && x + edge.left * r.dilation_w < 0) ++edge.left;
      while (edge.right > edge.left && x + (edge.right - 1) * r.dilation_w >= r.in_w) --edge.right;
      pixels<1, false>(r, edge, o);
      ++o;
    }
  }
}

}  // namespace anynpu::ops
#pragma GCC pop_options
#else
namespace anynpu::ops {
void depthwise_row_bf16(const ShortLaneRow&) {}  // no kernel asks for it
}  // namespace anynpu::ops
#endif
