// SPDX-License-Identifier: Apache-2.0
// The two 8-bit floats of ONNX that AscendCL describes, as storage types: E5M2 has the infinities
// and NaNs of IEEE 754, E4M3FN no infinity and one NaN of each sign. Conversions from double round
// once, to nearest even, so they are exact for every narrower type.
#pragma once

#include <bit>
#include <cstdint>

#include "tensor/half.h"

namespace anynpu {

struct F8E5M2 {
  uint8_t bits = 0;
};
struct F8E4M3 {
  uint8_t bits = 0;
};

// Numbers that round beyond the largest finite one, and infinities, become that largest number
// (`saturate`), or infinity, or NaN if the type has no infinity (`special`).
enum class Overflow : uint8_t { saturate, special };

inline float to_float(F8E5M2 value) {
  return to_float(F16{static_cast<uint16_t>(value.bits << 8)});
}

inline float to_float(F8E4M3 value) {
  const uint32_t sign = uint32_t{value.bits & 0x80u} << 24;
  const uint32_t magnitude = value.bits & 0x7fu;
  if (magnitude == 0x7fu) return std::bit_cast<float>(sign | 0x7fc00000u);
  if (magnitude >= 8) return std::bit_cast<float>(sign | ((magnitude << 20) + (120u << 23)));
  const float denormal = static_cast<float>(magnitude) * 0x1p-9f;
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(denormal));
}

namespace float8 {

// `largest`: code of the largest finite number; `beyond`: of what lies above it.
template <int kMantissa, int kLeastExponent, uint8_t largest, uint8_t beyond>
uint8_t encode(double value, Overflow overflow) {
  const auto bits = std::bit_cast<uint64_t>(value);
  const auto sign = static_cast<uint8_t>(bits >> 56 & 0x80u);
  const uint64_t magnitude = bits & ~(uint64_t{1} << 63);
  constexpr uint64_t kInfinity = uint64_t{0x7ff} << 52;
  if (magnitude > kInfinity) return sign | 0x7fu;
  uint64_t code = 0;
  if (magnitude < uint64_t{1023 + kLeastExponent} << 52) {
    // Denormal or zero: added to this number the last place is worth a denormal.
    constexpr uint64_t kPlace = uint64_t{1023 + kLeastExponent - kMantissa + 52} << 52;
    const double moved = std::bit_cast<double>(magnitude) + std::bit_cast<double>(kPlace);
    code = std::bit_cast<uint64_t>(moved) - kPlace;
  } else {
    constexpr int kShift = 52 - kMantissa;
    constexpr uint64_t kBelowHalf = (uint64_t{1} << (kShift - 1)) - 1;
    code = (magnitude + kBelowHalf + (magnitude >> kShift & 1)) >> kShift;
    code -= uint64_t{1023 + kLeastExponent - 1} << kMantissa;
  }
  if (code > largest) code = overflow == Overflow::saturate ? largest : beyond;
  return sign | static_cast<uint8_t>(code);
}

}  // namespace float8

inline F8E5M2 to_f8e5m2(double value, Overflow overflow = Overflow::saturate) {
  return {float8::encode<2, -14, 0x7b, 0x7c>(value, overflow)};
}

inline F8E4M3 to_f8e4m3(double value, Overflow overflow = Overflow::saturate) {
  return {float8::encode<3, -6, 0x7e, 0x7f>(value, overflow)};
}

}  // namespace anynpu
