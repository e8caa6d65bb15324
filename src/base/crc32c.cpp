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
  for (; size >= 8; data += 8, size -= 8) {
    uint64_t word;
    std::memcpy(&word, data, 8);
    wide = _mm_crc32_u64(wide, word);
  }
  state = static_cast<uint32_t>(wide);
  for (; size > 0; ++data, --size) state = _mm_crc32_u8(state, static_cast<uint8_t>(*data));
  return state;
}
#endif

}  // namespace

uint32_t crc32c(std::span<const std::byte> data, uint32_t before) {
  const uint32_t state = ~before;
#if defined(__x86_64__)
  static const bool has_instruction = __builtin_cpu_supports("sse4.2");
  if (has_instruction) return ~by_instruction(data.data(), data.size(), state);
#endif
  return ~by_table(data.data(), data.size(), state);
}

}  // namespace anynpu
