// SPDX-License-Identifier: Apache-2.0
// HiFloat8, an 8-bit float that only AscendCL has, as a storage type. After the sign comes a prefix
// that gives the number of exponent bits, so numbers near 1 have three bits of mantissa and those
// far from it one:
//
//   prefix    11    10    01    001    0001
//   exponent  4     3     2     1      0      bits: its sign, then its size without the leading 1
//   mantissa  1     2     3     3      3      bits
//
// 0000 and three bits m: 2^(m - 23), and zero for m = 0. There is no negative zero: its code is the
// one NaN. The largest number is 2^15, and what would be 1.5 * 2^15 is infinity.
#pragma once

#include <bit>
#include <cstdint>

namespace anynpu {

struct HiF8 {
  uint8_t bits = 0;
};

namespace hifloat8 {

constexpr uint8_t kNan = 0x80, kInfinity = 0x6f;

// As many bits as the size of the exponent has: its sign takes the place of the leading 1.
constexpr int exponent_bits(int exponent) {
  return std::bit_width(static_cast<unsigned>(exponent < 0 ? -exponent : exponent));
}
constexpr int mantissa_bits(int of_exponent) { return of_exponent < 3 ? 3 : 5 - of_exponent; }

// The code that holds an exponent above its mantissa.
constexpr unsigned with_prefix(int exponent) {
  const int bits = exponent_bits(exponent);
  const unsigned prefix = bits >= 2 ? static_cast<unsigned>(bits - 1) << 5 : bits == 1 ? 16u : 8u;
  if (bits == 0) return prefix;
  const unsigned size = static_cast<unsigned>(exponent < 0 ? -exponent : exponent);
  const unsigned rest = size & ((1u << (bits - 1)) - 1);
  const unsigned sign = exponent < 0 ? 1u << (bits - 1) : 0u;
  return prefix | (sign | rest) << mantissa_bits(bits);
}

}  // namespace hifloat8

inline float to_float(HiF8 value) {
  const unsigned code = value.bits & 0x7fu;
  const uint32_t sign = uint32_t{value.bits & 0x80u} << 24;
  const auto number = [&](int exponent, unsigned mantissa, int bits) {
    return std::bit_cast<float>(sign | static_cast<uint32_t>(exponent + 127) << 23 |
                                mantissa << (23 - bits));
  };
  if (value.bits == hifloat8::kNan) return std::bit_cast<float>(uint32_t{0x7fc00000});
  if (code == 0) return 0.0f;
  if (code == hifloat8::kInfinity) return std::bit_cast<float>(sign | 0x7f800000u);
  if (code < 8) return number(static_cast<int>(code) - 23, 0, 0);
  const int bits = code >= 32 ? static_cast<int>(code >> 5) + 1 : code >= 16 ? 1 : 0;
  const int places = hifloat8::mantissa_bits(bits);
  const unsigned mantissa = code & ((1u << places) - 1);
  if (bits == 0) return number(0, mantissa, places);
  const unsigned field = code >> places & ((1u << bits) - 1);
  const unsigned leading = 1u << (bits - 1);
  const int size = static_cast<int>(leading | (field & (leading - 1)));
  return number(field & leading ? -size : size, mantissa, places);
}

// Rounds once, to the nearest number, a half away from zero; beyond the largest lies infinity.
inline HiF8 to_hif8(double value) {
  const auto all = std::bit_cast<uint64_t>(value);
  const uint64_t magnitude = all & ~(uint64_t{1} << 63);
  if (magnitude > uint64_t{0x7ff} << 52) return {hifloat8::kNan};
  const auto sign = static_cast<uint8_t>(all >> 56 & 0x80u);
  const auto coded = [&](unsigned code) { return HiF8{static_cast<uint8_t>(sign | code)}; };
  int exponent = static_cast<int>(magnitude >> 52) - 1023;
  if (exponent < -23) return {};
  if (exponent == -23) return coded(1);
  if (exponent > 15) return coded(hifloat8::kInfinity);
  const int places =
      exponent < -15 ? 0 : hifloat8::mantissa_bits(hifloat8::exponent_bits(exponent));
  const uint64_t rounded = (magnitude + (uint64_t{1} << (51 - places))) >> (52 - places);
  exponent = static_cast<int>(rounded >> places) - 1023;
  const auto mantissa = static_cast<unsigned>(rounded & ((1u << places) - 1));
  if (exponent > 15) return coded(hifloat8::kInfinity);
  if (exponent < -15) return coded(static_cast<unsigned>(exponent + 23));
  // A carry into the next exponent leaves no mantissa, so its number of places does not matter.
  return coded(hifloat8::with_prefix(exponent) | mantissa);
}

}  // namespace anynpu
