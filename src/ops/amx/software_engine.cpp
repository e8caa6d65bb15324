// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "ops/amx/multiply.h"
#include "ops/amx/permute_rows.h"
#include "ops/amx/pixels.h"
#include "ops/amx/sums.h"

namespace anynpu::ops::amx {

namespace {

// TDPBF16PS takes denormals as 0; so does this.
float operand(BF16 value) { return (value.bits & 0x7f80u) == 0 ? 0.0f : to_float(value); }

struct SoftwareTiles {
  alignas(64) std::byte tiles[8][kRows][64];

  template <int tile>
  void zero() {
    std::memset(tiles[tile], 0, sizeof(tiles[tile]));
  }
  template <int tile>
  void load(const void* from, int64_t step) {
    for (int64_t row = 0; row < kRows; ++row) {
      std::memcpy(tiles[tile][row], static_cast<const std::byte*>(from) + row * step, 64);
    }
  }
  template <int tile>
  void load_streaming(const void* from, int64_t step) {
    load<tile>(from, step);
  }
  template <int tile>
  void store(void* to, int64_t step) {
    for (int64_t row = 0; row < kRows; ++row) {
      std::memcpy(static_cast<std::byte*>(to) + row * step, tiles[tile][row], 64);
    }
  }
  [[gnu::always_inline]] static void round_to(Floats value, BF16* to) {
    const Halves halves = round_16(value);
    std::memcpy(static_cast<void*>(to), &halves, sizeof halves);
  }
  [[gnu::always_inline]] static void round_pair(Floats first, Floats second, Floats low,
                                                Floats high, BF16* to) {
    for (Floats value : {first, second}) {
      value = value < low ? low : value;  // comparisons in this order keep NaN
      value = value > high ? high : value;
      round_to(value, to);
      to += kRows;
    }
  }
  [[gnu::always_inline]] static Words permute(Words first, Words order, Words second) {
    uint16_t both[2 * kDepth], at[kDepth], picked[kDepth];
    std::memcpy(both, &first, sizeof first);
    std::memcpy(both + kDepth, &second, sizeof second);
    std::memcpy(at, &order, sizeof order);
    for (int64_t i = 0; i < kDepth; ++i) picked[i] = both[at[i]];
    Words result;
    std::memcpy(&result, picked, sizeof result);
    return result;
  }
  [[gnu::always_inline]] static Words take(Words row, uint32_t mask, const BF16* from) {
    uint16_t words[kDepth];
    std::memcpy(words, &row, sizeof row);
    for (int64_t i = 0; i < kDepth; ++i) {
      if (mask >> i & 1u) words[i] = from[i].bits;
    }
    std::memcpy(&row, words, sizeof row);
    return row;
  }
  // sum[row][column] += a[row][2 * pair] * b[pair][2 * column] + the same of the odd elements.
  template <int sum, int left, int right>
  void add_product() {
    BF16 a[kRows][kDepth], b[kRows][kDepth];
    float c[kRows][kRows];
    std::memcpy(a, tiles[left], sizeof(a));
    std::memcpy(b, tiles[right], sizeof(b));
    std::memcpy(c, tiles[sum], sizeof(c));
    for (int64_t row = 0; row < kRows; ++row) {
      for (int64_t column = 0; column < kRows; ++column) {
        float even = 0, odd = 0;
        for (int64_t pair = 0; pair < kRows; ++pair) {
          even += operand(a[row][2 * pair]) * operand(b[pair][2 * column]);
          odd += operand(a[row][2 * pair + 1]) * operand(b[pair][2 * column + 1]);
        }
        c[row][column] += even + odd;
      }
    }
    std::memcpy(tiles[sum], c, sizeof(c));
  }
};

// One channel of an output pixel.
float depthwise_pixel(const ShortLaneRows& r, int64_t y, int64_t x, int64_t channel) {
  const int64_t lane = short_lane(channel);
  float sum = r.bias[lane];
  for (int64_t tap = 0; tap < r.kernel_h * r.kernel_w; ++tap) {
    const int64_t from_y = y + tap / r.kernel_w * r.dilation_h;
    const int64_t from_x = x + tap % r.kernel_w * r.dilation_w;
    if (from_y < 0 || from_y >= r.in_h || from_x < 0 || from_x >= r.in_w) continue;
    sum += to_float(r.in[(from_y * r.in_w + from_x) * kRows + channel]) *
           r.weights[tap * kRows + lane];
  }
  sum = sum < r.min ? r.min : sum;  // comparisons in this order keep NaN
  return sum > r.max ? r.max : sum;
}

void depthwise_rows(const ShortLaneRows& r) {
  for (int64_t pixel = 0; pixel < r.rows * r.out_w; ++pixel) {
    const int64_t y = r.y + pixel / r.out_w * r.stride_h, x = r.x + pixel % r.out_w * r.stride_w;
    for (int64_t channel = 0; channel < kRows; ++channel) {
      r.out[pixel * r.out_pixel + channel] = to_bf16(depthwise_pixel(r, y, x, channel));
    }
  }
}

constexpr Engine kSoftware{multiply<SoftwareTiles>,        join_units<SoftwareTiles>,
                           pair_rows<SoftwareTiles>,       add_sums<SoftwareTiles>,
                           multiply_pixels<SoftwareTiles>, permute_rows<SoftwareTiles>,
                           blend_lines<SoftwareTiles>,     depthwise_rows};

}  // namespace

const Engine& software_engine() { return kSoftware; }

}  // namespace anynpu::ops::amx
