// SPDX-License-Identifier: Apache-2.0
// The element and scale types of microscaling formats, as storage types: E2M1 in 4 bits, E3M2 and
// E2M3 in 6, which have neither infinities nor NaN, and the power of two E8M0, which has no sign,
// no zero and one NaN. Conversions from double round once.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

#include "tensor/float8.h"

namespace anynpu {

struct F4E2M1 {
  uint8_t bits = 0;
};
struct F6E3M2 {
  uint8_t bits = 0;
};
struct F6E2M3 {
  uint8_t bits = 0;
};
struct F8E8M0 {
  uint8_t bits = 0;
};

// How a number between two powers of two is rounded; ties of `nearest` go up.
enum class ScaleRounding : uint8_t { up, down, nearest };

// How a number is converted to a type of 8 bits or less.
struct SmallFloatRule {
  Overflow overflow = Overflow::saturate;      // of those that have a code for it
  ScaleRounding rounding = ScaleRounding::up;  // of E8M0; the others round to nearest even
};

namespace microscaling {

// `bits` of a sign, exponents from `least` on and `mantissa` bits.
template <int bits, int mantissa, int least>
float decode(uint8_t code) {
  constexpr uint32_t kSign = 1u << (bits - 1);
  const uint32_t sign = (code & kSign) != 0 ? 1u << 31 : 0u;
  const uint32_t magnitude = code & (kSign - 1);
  if (magnitude >= 1u << mantissa) {
    constexpr auto kBias = static_cast<uint32_t>(127 + least - 1);
    return std::bit_cast<float>(sign | ((magnitude << (23 - mantissa)) + (kBias << 23)));
  }
  constexpr float kPlace =
      std::bit_cast<float>(static_cast<uint32_t>(127 + least - mantissa) << 23);
  const float denormal = static_cast<float>(magnitude) * kPlace;
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(denormal));
}

// Saturates; NaN becomes a zero of the other sign, as in the onnx package.
template <int bits, int mantissa, int least>
uint8_t encode(double value) {
  constexpr uint8_t kSign = 1u << (bits - 1);
  const bool negative = std::bit_cast<uint64_t>(value) >> 63 != 0;
  if (value != value) return negative ? 0 : kSign;
  // The sign of the 8-bit code moves down to the type's own.
  const uint8_t code =
      float8::encode<mantissa, least, kSign - 1, kSign - 1>(value, Overflow::saturate);
  return static_cast<uint8_t>((code & 0x7fu) | (negative ? kSign : 0u));
}

}  // namespace microscaling

inline float to_float(F4E2M1 value) { return microscaling::decode<4, 1, 0>(value.bits); }
inline float to_float(F6E3M2 value) { return microscaling::decode<6, 2, -2>(value.bits); }
inline float to_float(F6E2M3 value) { return microscaling::decode<6, 3, 0>(value.bits); }
inline float to_float(F8E8M0 value) {
  if (value.bits == 0xff) return std::numeric_limits<float>::quiet_NaN();
  if (value.bits == 0) return 0x1p-127f;
  return std::bit_cast<float>(uint32_t{value.bits} << 23);
}

inline F4E2M1 to_f4e2m1(double value, SmallFloatRule = {}) {
  return {microscaling::encode<4, 1, 0>(value)};
}
inline F6E3M2 to_f6e3m2(double value, SmallFloatRule = {}) {
  return {microscaling::encode<6, 2, -2>(value)};
}
inline F6E2M3 to_f6e2m3(double value, SmallFloatRule = {}) {
  return {microscaling::encode<6, 3, 0>(value)};
}

// Uses the magnitude, since ONNX does not define negative numbers. If the rule is `special`, zero,
// infinity and numbers out of range become NaN.
inline F8E8M0 to_f8e8m0(double value, SmallFloatRule rule = {}) {
  constexpr uint8_t kNan = 0xff, kLargest = 0xfe;
  const uint64_t magnitude = std::bit_cast<uint64_t>(value) & ~(uint64_t{1} << 63);
  constexpr uint64_t kInfinity = uint64_t{0x7ff} << 52;
  if (magnitude > kInfinity) return {kNan};
  const bool saturates = rule.overflow == Overflow::saturate;
  auto exponent = static_cast<int>(magnitude >> 52) - 1023;
  const uint64_t fraction = magnitude & ((uint64_t{1} << 52) - 1);
  if (exponent < -127) {
    const bool rounds_in = rule.rounding == ScaleRounding::up && magnitude != 0;
    return {saturates || rounds_in ? uint8_t{0} : kNan};
  }
  const bool up = (rule.rounding == ScaleRounding::up && fraction != 0) ||
                  (rule.rounding == ScaleRounding::nearest && fraction >> 51 != 0);
  if (up) ++exponent;
  if (exponent > 127) return {saturates ? kLargest : kNan};
  return {static_cast<uint8_t>(exponent + 127)};
}

}  // namespace anynpu
