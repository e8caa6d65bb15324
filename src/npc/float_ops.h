// SPDX-License-Identifier: Apache-2.0
// Exact float arithmetic of the cores in every rounding mode, for single and half precision: the
// operation is done in double with the last bit rounded to odd, which keeps all that a later
// rounding to the narrow format needs, and then rounded once. Returns bits; NaN results are
// canonical. Sets RISC-V exception flags. The host's own flags and rounding mode are not read, and
// its flags are left as they were.
#pragma once

#include <cstdint>

namespace anynpu::npc {

enum FloatFlag : uint32_t {
  kInexact = 1,
  kUnderflow = 2,
  kOverflow = 4,
  kDivZero = 8,
  kInvalid = 16
};
enum Rounding : uint8_t { kNearestEven = 0, kToZero = 1, kDown = 2, kUp = 3, kNearestAway = 4 };
enum class FloatOp : uint8_t { add, sub, mul, div, sqrt };

struct Single {
  static constexpr int kMantissa = 23, kExponent = 8;
  static constexpr uint32_t kNan = 0x7fc00000, kInfinity = 0x7f800000, kSign = 0x80000000;
};
struct Half {
  static constexpr int kMantissa = 10, kExponent = 5;
  static constexpr uint32_t kNan = 0x7e00, kInfinity = 0x7c00, kSign = 0x8000;
};

template <typename Format>
uint32_t float_op(FloatOp op, uint32_t a, uint32_t b, Rounding rounding, uint32_t& flags);
// a * b + c; callers flip signs for the other three forms.
template <typename Format>
uint32_t float_fma(uint32_t a, uint32_t b, uint32_t c, Rounding rounding, uint32_t& flags);
// Saturating; NaN gives the largest value.
template <typename Format>
uint32_t float_to_i32(uint32_t a, Rounding rounding, uint32_t& flags);
template <typename Format>
uint32_t float_to_u32(uint32_t a, Rounding rounding, uint32_t& flags);
template <typename Format>
uint32_t float_from_i64(int64_t a, Rounding rounding, uint32_t& flags);  // |a| < 2^53
uint32_t half_to_single(uint32_t a, uint32_t& flags);
uint32_t single_to_half(uint32_t a, Rounding rounding, uint32_t& flags);
template <typename Format>
uint32_t float_min(uint32_t a, uint32_t b, uint32_t& flags);
template <typename Format>
uint32_t float_max(uint32_t a, uint32_t b, uint32_t& flags);
enum class FloatCompare : uint8_t { equal, less, less_equal };
template <typename Format>
uint32_t float_compare(FloatCompare how, uint32_t a, uint32_t b, uint32_t& flags);
template <typename Format>
uint32_t float_class(uint32_t a);

}  // namespace anynpu::npc
