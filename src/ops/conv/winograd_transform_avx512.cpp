// SPDX-License-Identifier: Apache-2.0
// See tile_avx512.cpp on why headers stay outside the region.
#include "ops/conv/winograd_transform.h"

#if defined(__x86_64__)
#pragma GCC push_options
#pragma GCC target("avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,prefer-vector-width=512")

namespace anynpu::ops::conv {
namespace winograd {

typedef float Vec __attribute__((vector_size(64)));
typedef float VecU __attribute__((vector_size(64), aligned(4), may_alias));

inline Vec at(const float* from) { return *reinterpret_cast<const VecU*>(from); }

// Four values by the transform of inputs: d0 - d2, d1 + d2, d2 - d1, d1 - d3.
inline void transform(const Vec* d, int step, Vec* out) {
  out[0] = d[0] - d[2 * step];
  out[step] = d[step] + d[2 * step];
  out[2 * step] = d[2 * step] - d[step];
  out[3 * step] = d[step] - d[3 * step];
}

}  // namespace winograd

void winograd_input(const WinogradInput& t) {
  using namespace winograd;
  const bool inside = t.y >= 0 && t.x >= 0 && t.y + 4 <= t.h && t.x + 4 <= t.w;
  for (int64_t block = 0; block < t.blocks; ++block) {
    const float* plane = t.in + block * t.h * t.w * 16;
    Vec d[16], columns[16], taps[16];
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) {
      const int64_t y = t.y + i / 4, x = t.x + i % 4;
      const bool here = inside || (y >= 0 && y < t.h && x >= 0 && x < t.w);
      d[i] = here ? at(plane + (y * t.w + x) * 16) : Vec{};
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) transform(d + i, 4, columns + i);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) transform(columns + i * 4, 1, taps + i * 4);
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) {
      *reinterpret_cast<VecU*>(t.out + block * t.out_block + i * t.out_tap) = taps[i];
    }
  }
}

void winograd_output(const WinogradOutput& t) {
  using namespace winograd;
  const Vec low = t.min - Vec{}, high = t.max - Vec{};
  for (int64_t block = 0; block < t.blocks; ++block) {
    const float* in = t.in + block * t.in_block;
    Vec half[8];  // 2 x 4
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      const Vec a = at(in + j * t.in_tap), b = at(in + (4 + j) * t.in_tap);
      const Vec c = at(in + (8 + j) * t.in_tap), d = at(in + (12 + j) * t.in_tap);
      half[j] = a + b + c;
      half[4 + j] = b - c - d;
    }
    const Vec bias = at(t.bias + block * 16);
    for (int64_t i = 0; i < t.rows; ++i) {
      const Vec* row = half + i * 4;
      const Vec both[2] = {row[0] + row[1] + row[2], row[1] - row[2] - row[3]};
      for (int64_t j = 0; j < t.columns; ++j) {
        const int64_t place = block * t.out_block + i * t.out_row + j * 16;
        Vec value = both[j] + bias;
        if (t.residual) value += at(t.residual + place);
        if (t.clamp) {  // comparisons in this order keep NaN
          value = value < low ? low : value;
          value = value > high ? high : value;
        }
        *reinterpret_cast<VecU*>(t.out + place) = value;
      }
    }
  }
}

}  // namespace anynpu::ops::conv
#pragma GCC pop_options
#else
namespace anynpu::ops::conv {
void winograd_input(const WinogradInput&) {}  // no kernel asks for them
void winograd_output(const WinogradOutput&) {}
}  // namespace anynpu::ops::conv
#endif

namespace anynpu::ops::conv {

namespace {

// a, (a + b + c) / 2, (a - b + c) / 2, c. Loops of a fixed length become vector instructions.
void transform_weights(const float* a, const float* b, const float* c, float* const out[4]) {
  for (int64_t j = 0; j < kWinogradPanel; ++j) {
    const float ends = a[j] + c[j];
    out[0][j] = a[j];
    out[1][j] = (ends + b[j]) * 0.5f;
    out[2][j] = (ends - b[j]) * 0.5f;
    out[3][j] = c[j];
  }
}

}  // namespace

void winograd_weights(const float kernel[9][kWinogradPanel],
                      float taps[kWinogradTaps][kWinogradPanel]) {
  float half[12][kWinogradPanel];  // 4 x 3
  for (int j = 0; j < 3; ++j) {
    float* const column[4] = {half[j], half[3 + j], half[6 + j], half[9 + j]};
    transform_weights(kernel[j], kernel[3 + j], kernel[6 + j], column);
  }
  for (int i = 0; i < 4; ++i) {
    float* const row[4] = {taps[i * 4], taps[i * 4 + 1], taps[i * 4 + 2], taps[i * 4 + 3]};
    transform_weights(half[i * 3], half[i * 3 + 1], half[i * 3 + 2], row);
  }
}

}  // namespace anynpu::ops::conv
