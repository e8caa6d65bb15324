// SPDX-License-Identifier: Apache-2.0
// See tile_avx512.cpp on why headers stay outside the region.
#include <cstring>
#include <utility>

#include "ops/simd/isa.h"
#include "ops/simd/tile_bf16.h"

#if defined(__x86_64__)
#include <immintrin.h>
#pragma GCC push_options
#pragma GCC target("avx512bf16,avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")

namespace anynpu::ops {
namespace tile_bf16 {

// Comparisons in this order keep NaN.
inline __m512 clamp(__m512 value, __m512 low, __m512 high) {
  value = _mm512_mask_mov_ps(value, _mm512_cmp_ps_mask(value, low, _CMP_LT_OQ), low);
  return _mm512_mask_mov_ps(value, _mm512_cmp_ps_mask(value, high, _CMP_GT_OQ), high);
}

// One register of results: what follows the sum, and the rounding.
inline void finish(const Bf16TileArgs& t, __m512 sum, int64_t offset, int64_t lanes) {
  const auto mask = static_cast<__mmask16>((1u << lanes) - 1);
  if (t.residual) {
    const __m256i bits = _mm256_maskz_loadu_epi16(mask, t.residual + offset);
    sum =
        _mm512_add_ps(sum, _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16)));
  }
  if (t.activation_function) {
    alignas(64) float cells[16];
    _mm512_store_ps(cells, sum);
    t.activation_function(cells, cells, 16);
    sum = _mm512_load_ps(cells);
  } else if (t.clamp) {
    sum = clamp(sum, _mm512_set1_ps(t.min), _mm512_set1_ps(t.max));
  }
  const __m256bh rounded = _mm512_cvtneps_pbh(sum);
  _mm256_mask_storeu_epi16(t.out + offset, mask, reinterpret_cast<const __m256i&>(rounded));
}

template <Bf16Walk walk, int pixels, int blocks>
void tile(const Bf16TileArgs& t) {
  const int64_t step = walk == Bf16Walk::step16   ? 16
                       : walk == Bf16Walk::step32 ? 32
                       : walk == Bf16Walk::packed ? 2
                                                  : t.pixel_step;
  constexpr int64_t kNext = walk == Bf16Walk::packed ? pixels : 1;  // pairs, to the next k
  __m512 sum[pixels][blocks];
#pragma GCC unroll 16
  for (int p = 0; p < pixels; ++p) {
#pragma GCC unroll 2
    for (int b = 0; b < blocks; ++b) sum[p][b] = _mm512_loadu_ps(t.bias + b * 16);
  }
  const BF16* w = t.weights;
  const int64_t pairs = t.run_length / 2;
  for (int64_t r = 0; r < t.run_count; ++r) {
    const BF16* first = t.in + t.runs[r];
    for (int64_t k = 0; k < pairs; ++k) {
      __m512i weight[blocks];
#pragma GCC unroll 2
      for (int b = 0; b < blocks; ++b) {
        weight[b] = _mm512_loadu_si512(w + b * 32);
        _mm_prefetch(reinterpret_cast<const char*>(w + b * 32 + blocks * 32 * 12), _MM_HINT_T0);
      }
      w += blocks * 32;
#pragma GCC unroll 16
      for (int p = 0; p < pixels; ++p) {
        int32_t pair;
        __builtin_memcpy(&pair, first + k * kNext * 2 + p * step, sizeof(pair));
        const __m512i x = _mm512_set1_epi32(pair);
#pragma GCC unroll 2
        for (int b = 0; b < blocks; ++b) {
          sum[p][b] = _mm512_dpbf16_ps(sum[p][b], reinterpret_cast<__m512bh>(x),
                                       reinterpret_cast<__m512bh>(weight[b]));
        }
      }
    }
  }
#pragma GCC unroll 16
  for (int p = 0; p < pixels; ++p) {
#pragma GCC unroll 2
    for (int b = 0; b < blocks; ++b) {
      finish(t, sum[p][b], p * t.out_pixel + b * t.out_block, b == blocks - 1 ? t.lanes : 16);
    }
  }
}

template <Bf16Walk walk, int blocks, int... pixels>
Bf16TileFunction pick(int64_t wanted, std::integer_sequence<int, pixels...>) {
  static constexpr Bf16TileFunction table[] = {tile<walk, pixels + 1, blocks>...};
  return wanted >= 1 && wanted <= kBf16Pixels ? table[wanted - 1] : nullptr;
}

template <Bf16Walk walk>
Bf16TileFunction pick_blocks(int64_t pixels, int64_t blocks) {
  constexpr auto kAll = std::make_integer_sequence<int, kBf16Pixels>{};
  if (blocks == 1) return pick<walk, 1>(pixels, kAll);
  return blocks == 2 ? pick<walk, 2>(pixels, kAll) : nullptr;
}

}  // namespace tile_bf16

Bf16TileFunction find_bf16_tile(Bf16Walk walk, int64_t pixels, int64_t blocks) {
  switch (walk) {
    case Bf16Walk::step16:
      return tile_bf16::pick_blocks<Bf16Walk::step16>(pixels, blocks);
    case Bf16Walk::step32:
      return tile_bf16::pick_blocks<Bf16Walk::step32>(pixels, blocks);
    case Bf16Walk::packed:
      return tile_bf16::pick_blocks<Bf16Walk::packed>(pixels, blocks);
    case Bf16Walk::any:
      break;
  }
  return tile_bf16::pick_blocks<Bf16Walk::any>(pixels, blocks);
}

}  // namespace anynpu::ops
#pragma GCC pop_options

namespace anynpu::ops {

Status check_bf16() {
  ANYNPU_TRY(check_isa(Isa::avx512));
  static const bool present = __builtin_cpu_supports("avx512bf16");
  return present ? Status{} : fail(Code::unsupported_feature, "the processor lacks avx512_bf16");
}

}  // namespace anynpu::ops
#else
namespace anynpu::ops {

Status check_bf16() { return fail(Code::unsupported_feature, "the processor lacks avx512_bf16"); }
Bf16TileFunction find_bf16_tile(Bf16Walk, int64_t, int64_t) { return nullptr; }

}  // namespace anynpu::ops
#endif

namespace anynpu::ops {

void pair_weights(const float* from, int64_t k, int64_t width, BF16* to) {
  for (int64_t i = 0; i < k; ++i) {
    for (int64_t j = 0; j < width; ++j) {
      to[(i / 2 * width + j) * 2 + i % 2] = to_bf16(from[i * width + j]);
    }
  }
}

}  // namespace anynpu::ops
