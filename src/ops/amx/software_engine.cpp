// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "ops/amx/multiply.h"

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
  void load_once(const void* from, int64_t step) {
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

constexpr Engine kSoftware{multiply<SoftwareTiles>, join_units<SoftwareTiles>,
                           pair_rows<SoftwareTiles>};

}  // namespace

const Engine& software_engine() { return kSoftware; }

}  // namespace anynpu::ops::amx
