// SPDX-License-Identifier: Apache-2.0
// See tile_avx512.cpp on why headers stay outside the region.
#include <cmath>
#include <cstddef>
#include <utility>

#include "ops/simd/isa.h"
#include "ops/simd/lanes_quant.h"
#include "ops/simd/tile_int8.h"

#if defined(__x86_64__)
#include <immintrin.h>
#pragma GCC push_options
#pragma GCC target("avx512vbmi,avx512vnni,avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")

namespace anynpu::ops {
namespace lanes_quant {

#include "ops/simd/quant_finish.inc"

// byte 4 * c + t is channel c of pixel t.
inline __m512i taps_of_pixels() {
  alignas(64) uint8_t order[64];
  for (int c = 0; c < 16; ++c) {
    for (int t = 0; t < 4; ++t) order[4 * c + t] = static_cast<uint8_t>(16 * t + c);
  }
  return _mm512_load_si512(order);
}

// The sums of one column of output pixels.
template <int kRows, int kTaps, int kQuads, int kStride>
inline void column(const QuantLaneRows& r, const uint8_t* in, __m512i order, __m512i start,
                   __m512i* sums) {
  __m512i sum[kRows];
#pragma GCC unroll 4
  for (int y = 0; y < kRows; ++y) sum[y] = start;
#pragma GCC unroll 16
  for (int i = 0; i < (kRows - 1) * kStride + kTaps; ++i) {
#pragma GCC unroll 2
    for (int q = 0; q < kQuads; ++q) {
      const __m512i x =
          _mm512_permutexvar_epi8(order, _mm512_loadu_si512(in + i * r.in_row + q * 64));
#pragma GCC unroll 4
      for (int y = 0; y < kRows; ++y) {
        const int tap = i - y * kStride;
        if (tap < 0 || tap >= kTaps) continue;
        const __m512i w = _mm512_loadu_si512(r.weights + (tap * kQuads + q) * 64);
        asm("vpdpbusd %2, %1, %0" : "+v"(sum[y]) : "v"(x), "v"(w));
      }
    }
  }
#pragma GCC unroll 4
  for (int y = 0; y < kRows; ++y) sums[y] = sum[y];
}

template <int kRows, int kTaps, int kQuads, int kStride, int kAdds, bool kFloats>
void rows_of(const QuantLaneRows& r) {
  const __m512i order = taps_of_pixels();
  const __m512i start = _mm512_loadu_si512(r.start);
  const __m512 scale = _mm512_loadu_ps(r.scale), bias = _mm512_loadu_ps(r.bias);
  const Finish finish(*r.epilogue);
  constexpr int64_t kBytes = kFloats ? 4 : 1;
  const int64_t step = r.stride_w * 16, out_row = r.out_w * 16;
  auto* out = static_cast<std::byte*>(r.out);
  const uint8_t* residual = r.residual;
  for (int64_t x = 0; x < r.out_w; x += 4) {
    const int64_t pixels = r.out_w - x < 4 ? r.out_w - x : 4;
    __m512i sums[4][kRows];
    for (int64_t p = 0; p < pixels; ++p) {
      column<kRows, kTaps, kQuads, kStride>(r, r.in + (x + p) * step, order, start, sums[p]);
    }
    for (int y = 0; y < kRows; ++y) {
      const int64_t at = y * out_row + x * 16;
      if constexpr (!kFloats) {
        if (pixels == 4) {
          finish.store_four<kAdds>(&sums[0][y], kRows, scale, bias,
                                   kAdds > 0 ? residual + at : nullptr,
                                   reinterpret_cast<uint8_t*>(out) + at);
          continue;
        }
      }
      for (int64_t p = 0; p < pixels; ++p) {
        finish.store<kAdds, kFloats>(sums[p][y], scale, bias,
                                     kAdds > 0 ? residual + at + p * 16 : nullptr,
                                     out + (at + p * 16) * kBytes, 0xffff);
      }
    }
  }
}

template <int kRows, int kTaps, int kQuads, int kStride>
void by_result(const QuantLaneRows& r) {
  const bool floats = r.epilogue->floats;
  if (!r.residual) {
    return floats ? rows_of<kRows, kTaps, kQuads, kStride, 0, true>(r)
                  : rows_of<kRows, kTaps, kQuads, kStride, 0, false>(r);
  }
  if (r.epilogue->first_scale == 0) {
    return floats ? rows_of<kRows, kTaps, kQuads, kStride, 1, true>(r)
                  : rows_of<kRows, kTaps, kQuads, kStride, 1, false>(r);
  }
  return floats ? rows_of<kRows, kTaps, kQuads, kStride, 2, true>(r)
                : rows_of<kRows, kTaps, kQuads, kStride, 2, false>(r);
}

template <int kTaps, int kQuads, int kStride>
void by_rows(const QuantLaneRows& r) {
  if (r.rows == kQuantRows) return by_result<kQuantRows, kTaps, kQuads, kStride>(r);
  QuantLaneRows one = r;
  one.rows = 1;
  for (int64_t y = 0; y < r.rows; ++y) {
    by_result<1, kTaps, kQuads, kStride>(one);
    const int64_t step = r.out_w * 16;
    one.in += r.stride_h * r.in_row;
    one.out = static_cast<std::byte*>(one.out) + step * (r.epilogue->floats ? 4 : 1);
    if (one.residual) one.residual += step;
  }
}

template <int kTaps>
void by_shape(const QuantLaneRows& r) {
  if (r.stride_h == 1) return r.quads == 1 ? by_rows<kTaps, 1, 1>(r) : by_rows<kTaps, 2, 1>(r);
  return r.quads == 1 ? by_rows<kTaps, 1, 2>(r) : by_rows<kTaps, 2, 2>(r);
}

}  // namespace lanes_quant

void depthwise_quant_rows(const QuantLaneRows& rows) {
  switch (rows.kernel_h) {
    case 1:
      return lanes_quant::by_shape<1>(rows);
    case 3:
      return lanes_quant::by_shape<3>(rows);
    case 5:
      return lanes_quant::by_shape<5>(rows);
    default:
      return lanes_quant::by_shape<7>(rows);
  }
}

void look_up_bytes(const uint8_t* table, const uint8_t* in, int64_t count, uint8_t* out) {
  const __m512i part[4] = {_mm512_loadu_si512(table), _mm512_loadu_si512(table + 64),
                           _mm512_loadu_si512(table + 128), _mm512_loadu_si512(table + 192)};
  for (int64_t i = 0; i < count; i += 64) {
    const int64_t left = count - i;
    const __mmask64 mask = left >= 64 ? ~__mmask64{0} : (__mmask64{1} << left) - 1;
    const __m512i x = _mm512_maskz_loadu_epi8(mask, in + i);
    const __m512i low = _mm512_permutex2var_epi8(part[0], x, part[1]);
    const __m512i high = _mm512_permutex2var_epi8(part[2], x, part[3]);
    const __m512i y = _mm512_mask_blend_epi8(_mm512_movepi8_mask(x), low, high);
    _mm512_mask_storeu_epi8(out + i, mask, y);
  }
}

}  // namespace anynpu::ops
#pragma GCC pop_options

namespace anynpu::ops {

Status check_vbmi() {
  ANYNPU_TRY(check_vnni());
  static const bool present = __builtin_cpu_supports("avx512vbmi");
  return present ? Status{} : fail(Code::unsupported_feature, "the processor lacks avx512_vbmi");
}

}  // namespace anynpu::ops
#else
namespace anynpu::ops {

Status check_vbmi() { return fail(Code::unsupported_feature, "the processor lacks avx512_vbmi"); }
void depthwise_quant_rows(const QuantLaneRows&) {}
void look_up_bytes(const uint8_t*, const uint8_t*, int64_t, uint8_t*) {}

}  // namespace anynpu::ops
#endif
