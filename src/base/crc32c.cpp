// SPDX-License-Identifier: Apache-2.0
#include "base/crc32c.h"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace anynpu {

namespace {

constexpr std::array<uint32_t, 256> make_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ (value & 1 ? 0x82f63b78u : 0u);
    table[i] = value;
  }
  return table;
}

constexpr auto kTable = make_table();

#if defined(__x86_64__)
inline uint64_t word_at(const std::byte* data) {
  uint64_t word;
  std::memcpy(&word, data, sizeof word);
  return word;
}
#endif

uint32_t by_table(const std::byte* data, size_t size, uint32_t state) {
  for (size_t i = 0; i < size; ++i) {
    state = (state >> 8) ^ kTable[(state ^ static_cast<uint32_t>(data[i])) & 0xff];
  }
  return state;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) uint32_t by_instruction(const std::byte* data, size_t size,
                                                          uint32_t state) {
  uint64_t wide = state;
  for (; size >= 8; data += 8, size -= 8) wide = _mm_crc32_u64(wide, word_at(data));
  state = static_cast<uint32_t>(wide);
  for (; size > 0; ++data, --size) state = _mm_crc32_u8(state, static_cast<uint8_t>(*data));
  return state;
}

// The instruction takes three cycles and can start in each: three strips side by side. What a strip
// of zeros makes of a state is linear in its bits, so the strips are joined by tables of it.
constexpr size_t kStrip = 4096;

class ZeroStrip {
 public:
  ZeroStrip() {
    const std::array<std::byte, kStrip> zeros{};
    for (size_t bit = 0; bit < 32; ++bit) {
      const uint32_t after = by_instruction(zeros.data(), kStrip, uint32_t{1} << bit);
      for (size_t value = 0; value < 256; ++value) {
        if (value >> (bit % 8) & 1) table_[bit / 8][value] ^= after;
      }
    }
  }
  uint32_t after(uint32_t state) const {
    return table_[0][state & 0xff] ^ table_[1][state >> 8 & 0xff] ^ table_[2][state >> 16 & 0xff] ^
           table_[3][state >> 24];
  }

 private:
  uint32_t table_[4][256] = {};
};

__attribute__((target("sse4.2"))) uint32_t by_strips(const std::byte* data, size_t size,
                                                     uint32_t state) {
  static const ZeroStrip zeros;
  for (; size >= 3 * kStrip; data += 3 * kStrip, size -= 3 * kStrip) {
    uint64_t a = state, b = 0, c = 0;
    for (size_t i = 0; i < kStrip; i += 8) {
      a = _mm_crc32_u64(a, word_at(data + i));
      b = _mm_crc32_u64(b, word_at(data + kStrip + i));
      c = _mm_crc32_u64(c, word_at(data + 2 * kStrip + i));
    }
    state = zeros.after(static_cast<uint32_t>(a)) ^ static_cast<uint32_t>(b);
    state = zeros.after(state) ^ static_cast<uint32_t>(c);
  }
  return by_instruction(data, size, state);
}
#endif

}  // namespace

uint32_t crc32c(std::span<const std::byte> data, uint32_t before) {
  const uint32_t state = ~before;
#if defined(__x86_64__)
  static const bool has_instruction = __builtin_cpu_supports("sse4.2");
  if (has_instruction) return ~by_strips(data.data(), data.size(), state);
#endif
  return ~by_table(data.data(), data.size(), state);
}

}  // namespace anynpu
