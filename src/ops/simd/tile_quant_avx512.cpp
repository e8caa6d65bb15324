// SPDX-License-Identifier: Apache-2.0
// See tile_avx512.cpp on why headers stay outside the region.
#include <cmath>
#include <utility>

#include "ops/simd/isa.h"
#include "ops/simd/tile_quant.h"

#if defined(__x86_64__)
#include <immintrin.h>
#pragma GCC push_options
#pragma GCC target("avx512vnni,avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")

namespace anynpu::ops {
namespace tile_quant {

#include "ops/simd/quant_finish.inc"

// Apart from the products: together they would not fit the registers.
template <int kAdds, bool kFloats>
void finish_all(const QuantTileArgs& t, const __m512i* sums, int64_t pixels, int64_t blocks) {
  const Finish finish(*t.epilogue);
  constexpr int64_t kBytes = kFloats ? 4 : 1;
  for (int64_t b = 0; b < blocks; ++b) {
    const __m512 scale = _mm512_loadu_ps(t.scale + b * 16);
    const __m512 bias = _mm512_loadu_ps(t.bias + b * 16);
    const int64_t lanes = b == blocks - 1 ? t.lanes : 16;
    const auto mask = static_cast<__mmask16>((1u << lanes) - 1);
    int64_t p = 0;
    if constexpr (!kFloats) {
      for (; t.out_pixel == 16 && lanes == 16 && p + 4 <= pixels; p += 4) {
        const int64_t at = p * 16 + b * t.out_block;
        finish.store_four<kAdds>(sums + p * blocks + b, blocks, scale, bias, t.residual + at,
                                 static_cast<uint8_t*>(t.out) + at);
      }
    }
    for (; p < pixels; ++p) {
      const int64_t at = p * t.out_pixel + b * t.out_block;
      finish.store<kAdds, kFloats>(sums[p * blocks + b], scale, bias, t.residual + at,
                                   static_cast<std::byte*>(t.out) + at * kBytes, mask);
    }
  }
}

__attribute__((noinline)) void finish(const QuantTileArgs& t, const __m512i* sums, int64_t pixels,
                                      int64_t blocks) {
  const bool floats = t.epilogue->floats;
  if (!t.residual) {
    return floats ? finish_all<0, true>(t, sums, pixels, blocks)
                  : finish_all<0, false>(t, sums, pixels, blocks);
  }
  if (t.epilogue->first_scale == 0) {
    return floats ? finish_all<1, true>(t, sums, pixels, blocks)
                  : finish_all<1, false>(t, sums, pixels, blocks);
  }
  return floats ? finish_all<2, true>(t, sums, pixels, blocks)
                : finish_all<2, false>(t, sums, pixels, blocks);
}

template <int kStep, int pixels, int blocks>
void tile(const QuantTileArgs& t) {
  const int64_t step = kStep > 0 ? kStep : t.pixel_step;
  __m512i sum[pixels][blocks];
#pragma GCC unroll 16
  for (int p = 0; p < pixels; ++p) {
#pragma GCC unroll 2
    for (int b = 0; b < blocks; ++b) sum[p][b] = _mm512_loadu_si512(t.start + b * 16);
  }
  const int8_t* w = t.weights;
  const int64_t quads = t.run_length / 4;
  for (int64_t r = 0; r < t.run_count; ++r) {
    const uint8_t* in = t.in + t.runs[r];
    for (int64_t k = 0; k < quads; ++k, in += 4, w += blocks * 64) {
      __m512i weight[blocks];
#pragma GCC unroll 2
      for (int b = 0; b < blocks; ++b) {
        weight[b] = _mm512_loadu_si512(w + b * 64);
        _mm_prefetch(reinterpret_cast<const char*>(w + b * 64 + blocks * 64 * 12), _MM_HINT_T0);
      }
#pragma GCC unroll 16
      for (int p = 0; p < pixels; ++p) {
        int32_t four;
        __builtin_memcpy(&four, in + p * step, sizeof(four));
        const __m512i x = _mm512_set1_epi32(four);
        // As assembly: the compiler copies the sums before and after its intrinsic.
#pragma GCC unroll 2
        for (int b = 0; b < blocks; ++b)
          asm("vpdpbusd %2, %1, %0" : "+v"(sum[p][b]) : "v"(x), "v"(weight[b]));
      }
    }
  }
  alignas(64) __m512i sums[pixels * blocks];
#pragma GCC unroll 16
  for (int p = 0; p < pixels; ++p) {
#pragma GCC unroll 2
    for (int b = 0; b < blocks; ++b) sums[p * blocks + b] = sum[p][b];
  }
  finish(t, sums, pixels, blocks);
}

template <int kStep, int blocks, int... pixels>
QuantTileFunction pick(int64_t wanted, std::integer_sequence<int, pixels...>) {
  static constexpr QuantTileFunction table[] = {tile<kStep, pixels + 1, blocks>...};
  return wanted >= 1 && wanted <= kQuantPixels ? table[wanted - 1] : nullptr;
}

template <int kStep>
QuantTileFunction pick_blocks(int64_t pixels, int64_t blocks) {
  constexpr auto kAll = std::make_integer_sequence<int, kQuantPixels>{};
  if (blocks == 1) return pick<kStep, 1>(pixels, kAll);
  return blocks == 2 ? pick<kStep, 2>(pixels, kAll) : nullptr;
}

}  // namespace tile_quant

QuantTileFunction find_quant_tile(int64_t step, int64_t pixels, int64_t blocks) {
  if (step == 16) return tile_quant::pick_blocks<16>(pixels, blocks);
  if (step == 32) return tile_quant::pick_blocks<32>(pixels, blocks);
  return tile_quant::pick_blocks<0>(pixels, blocks);
}

}  // namespace anynpu::ops
#pragma GCC pop_options
#else
namespace anynpu::ops {

QuantTileFunction find_quant_tile(int64_t, int64_t, int64_t) { return nullptr; }

}  // namespace anynpu::ops
#endif

namespace anynpu::ops {

void quad_weights(const float* from, int64_t k, int64_t width, int8_t* to) {
  for (int64_t i = 0; i < k; ++i) {
    for (int64_t j = 0; j < width; ++j)
      to[(i / 4 * width + j) * 4 + i % 4] = static_cast<int8_t>(from[i * width + j]);
  }
}

}  // namespace anynpu::ops
