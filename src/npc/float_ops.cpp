// SPDX-License-Identifier: Apache-2.0
#include "npc/float_ops.h"

#include <bit>
#include <cfenv>
#include <cmath>

namespace anynpu::npc {

namespace {

// Double arithmetic in here must neither see the host's state nor leave traces in it.
class QuietHost {
 public:
  QuietHost() { std::feholdexcept(&environment_); }
  ~QuietHost() { std::fesetenv(&environment_); }
  QuietHost(const QuietHost&) = delete;
  QuietHost& operator=(const QuietHost&) = delete;

 private:
  std::fenv_t environment_;
};

template <typename F>
bool is_nan(uint32_t a) {
  return (a & (F::kSign - 1)) > F::kInfinity;
}
template <typename F>
bool is_signalling(uint32_t a) {
  return is_nan<F>(a) && !(a & (1u << (F::kMantissa - 1)));
}
template <typename F>
bool is_zero(uint32_t a) {
  return (a & (F::kSign - 1)) == 0;
}
template <typename F>
bool is_infinite(uint32_t a) {
  return (a & (F::kSign - 1)) == F::kInfinity;
}

// Exact; a is no NaN.
template <typename F>
double widen(uint32_t a) {
  constexpr int bias = (1 << (F::kExponent - 1)) - 1;
  const int exponent = static_cast<int>((a & (F::kSign - 1)) >> F::kMantissa);
  const uint32_t mantissa = a & ((1u << F::kMantissa) - 1);
  double value;
  if (is_infinite<F>(a)) {
    value = INFINITY;
  } else if (exponent == 0) {
    value = std::ldexp(static_cast<double>(mantissa), 1 - bias - F::kMantissa);
  } else {
    value = std::ldexp(static_cast<double>(mantissa | (1u << F::kMantissa)),
                       exponent - bias - F::kMantissa);
  }
  return a & F::kSign ? -value : value;
}

// `value` is the nearest double, `error` the sign of exact - value: the odd neighbour if inexact.
double to_odd(double value, double error) {
  const auto bits = std::bit_cast<uint64_t>(value);
  if (error == 0 || (bits & 1) || !std::isfinite(value)) return value;
  const bool away = (error > 0) == (value > 0);
  return std::bit_cast<double>(away ? bits + 1 : bits - 1);
}

double add_odd(double a, double b) {
  const double sum = a + b;
  if (!std::isfinite(sum)) return sum;
  const double bb = sum - a;
  return to_odd(sum, (a - (sum - bb)) + (b - bb));
}

// Whether the last kept bit goes up. `rest` is what is cut off, in units where `half` is a tie.
bool rounds_up(uint64_t kept, uint64_t rest, uint64_t half, bool negative, Rounding rounding) {
  switch (rounding) {
    case kToZero:
      return false;
    case kDown:
      return negative && rest != 0;
    case kUp:
      return !negative && rest != 0;
    case kNearestAway:
      return rest >= half;
    default:
      return rest > half || (rest == half && (kept & 1));
  }
}

template <typename F>
uint32_t overflow(bool negative, Rounding rounding, uint32_t& flags) {
  flags |= kOverflow | kInexact;
  const bool to_largest =
      rounding == kToZero || (rounding == kDown && !negative) || (rounding == kUp && negative);
  return (negative ? F::kSign : 0) | (to_largest ? F::kInfinity - 1 : F::kInfinity);
}

// One rounding of a double (rounded to odd where inexact) to the format.
template <typename F>
uint32_t narrow(double value, Rounding rounding, uint32_t& flags) {
  constexpr int bias = (1 << (F::kExponent - 1)) - 1;
  const bool negative = std::signbit(value);
  const uint32_t sign = negative ? F::kSign : 0;
  if (value == 0) return sign;
  if (std::isinf(value)) return sign | F::kInfinity;
  int exponent;
  const double fraction = std::frexp(std::fabs(value), &exponent);  // value = fraction * 2^exponent
  auto mantissa = static_cast<uint64_t>(std::ldexp(fraction, 53));  // 2^52 <= mantissa < 2^53
  exponent -= 1;                                                    // of the leading bit
  int cut = 52 - F::kMantissa;
  const bool small = exponent < 1 - bias;
  if (small) cut += 1 - bias - exponent;
  if (cut > 62) {  // far below the smallest denormal: only "not zero" matters
    mantissa = 1;
    cut = 62;
  }
  const uint64_t rest = mantissa & ((uint64_t{1} << cut) - 1);
  const uint64_t half = uint64_t{1} << (cut - 1);
  uint64_t kept = mantissa >> cut;
  if (rounds_up(kept, rest, half, negative, rounding)) ++kept;
  if (rest != 0) {
    flags |= kInexact;
    if (small) {
      // Tiny means below the smallest normal even when rounded with an unbounded exponent.
      const int full = 52 - F::kMantissa;
      const uint64_t wide_rest = mantissa & ((uint64_t{1} << full) - 1);
      const uint64_t wide_kept = mantissa >> full;
      const bool up =
          rounds_up(wide_kept, wide_rest, uint64_t{1} << (full - 1), negative, rounding);
      const bool reaches_normal =
          exponent == -bias && up && wide_kept + 1 == (uint64_t{2} << F::kMantissa);
      if (!reaches_normal) flags |= kUnderflow;
    }
  }
  if (small) return sign | static_cast<uint32_t>(kept);  // a carry into the exponent is right
  if (kept >> (F::kMantissa + 1)) {
    kept >>= 1;
    ++exponent;
  }
  if (exponent > bias) return overflow<F>(negative, rounding, flags);
  return sign | (static_cast<uint32_t>(exponent + bias) << F::kMantissa) |
         (static_cast<uint32_t>(kept) & ((1u << F::kMantissa) - 1));
}

// The sum of two exact values that cancelled: its sign depends on the mode.
double signed_zero(double sum, double a, double b, Rounding rounding) {
  if (sum != 0 || std::signbit(a) == std::signbit(b)) return sum;
  return rounding == kDown ? -0.0 : 0.0;
}

template <typename F>
uint32_t invalid(uint32_t& flags) {
  flags |= kInvalid;
  return F::kNan;
}

// Rounds to an integer of at most 2^53 in magnitude; says whether something was cut.
double to_integer(double value, Rounding rounding, bool& inexact) {
  const double magnitude = std::fabs(value);
  const double down = std::floor(magnitude);
  const double rest = magnitude - down;
  inexact = rest != 0;
  const uint64_t rest_code = rest == 0 ? 0 : rest < 0.5 ? 1 : rest == 0.5 ? 2 : 3;
  const bool up =
      rounds_up(static_cast<uint64_t>(down), rest_code, 2, std::signbit(value), rounding);
  const double result = up ? down + 1 : down;
  return std::signbit(value) ? -result : result;
}

template <typename F>
uint32_t to_word(uint32_t a, double low, double high, uint32_t lowest, uint32_t highest,
                 Rounding rounding, uint32_t& flags) {
  if (is_nan<F>(a)) {
    flags |= kInvalid;
    return highest;
  }
  QuietHost quiet;
  const double value = widen<F>(a);
  if (std::fabs(value) > 0x1p40) {
    flags |= kInvalid;
    return value < 0 ? lowest : highest;
  }
  bool inexact = false;
  const double rounded = to_integer(value, rounding, inexact);
  if (rounded < low || rounded > high) {
    flags |= kInvalid;
    return rounded < low ? lowest : highest;
  }
  if (inexact) flags |= kInexact;
  return static_cast<uint32_t>(static_cast<int64_t>(rounded));
}

}  // namespace

template <typename F>
uint32_t float_op(FloatOp op, uint32_t a, uint32_t b, Rounding rounding, uint32_t& flags) {
  if (op == FloatOp::sqrt) b = a;
  if (is_nan<F>(a) || is_nan<F>(b)) {
    if (is_signalling<F>(a) || is_signalling<F>(b)) flags |= kInvalid;
    return F::kNan;
  }
  QuietHost quiet;
  const double x = widen<F>(a);
  const double y = op == FloatOp::sub ? -widen<F>(b) : widen<F>(b);
  switch (op) {
    case FloatOp::add:
    case FloatOp::sub:
      if (std::isinf(x) && std::isinf(y) && x != y) return invalid<F>(flags);
      return narrow<F>(signed_zero(add_odd(x, y), x, y, rounding), rounding, flags);
    case FloatOp::mul:
      if ((std::isinf(x) && y == 0) || (std::isinf(y) && x == 0)) return invalid<F>(flags);
      return narrow<F>(x * y, rounding, flags);  // 48 bits: exact
    case FloatOp::div: {
      if ((std::isinf(x) && std::isinf(y)) || (x == 0 && y == 0)) return invalid<F>(flags);
      if (y == 0 && !std::isinf(x)) flags |= kDivZero;
      const double quotient = x / y;
      if (!std::isfinite(quotient) || quotient == 0) return narrow<F>(quotient, rounding, flags);
      const double rest = std::fma(-quotient, y, x);
      return narrow<F>(to_odd(quotient, y < 0 ? -rest : rest), rounding, flags);
    }
    case FloatOp::sqrt: {
      if (x < 0) return invalid<F>(flags);
      const double root = std::sqrt(x);
      if (!std::isfinite(root) || root == 0) return narrow<F>(root, rounding, flags);
      return narrow<F>(to_odd(root, std::fma(-root, root, x)), rounding, flags);
    }
  }
  return F::kNan;
}

template <typename F>
uint32_t float_fma(uint32_t a, uint32_t b, uint32_t c, Rounding rounding, uint32_t& flags) {
  const bool impossible =
      (is_infinite<F>(a) && is_zero<F>(b)) || (is_zero<F>(a) && is_infinite<F>(b));
  if (impossible) flags |= kInvalid;
  if (is_signalling<F>(a) || is_signalling<F>(b) || is_signalling<F>(c)) flags |= kInvalid;
  if (impossible || is_nan<F>(a) || is_nan<F>(b) || is_nan<F>(c)) return F::kNan;
  QuietHost quiet;
  const double product = widen<F>(a) * widen<F>(b);
  const double addend = widen<F>(c);
  if (std::isinf(product) && std::isinf(addend) && product != addend) return invalid<F>(flags);
  return narrow<F>(signed_zero(add_odd(product, addend), product, addend, rounding), rounding,
                   flags);
}

template <typename F>
uint32_t float_to_i32(uint32_t a, Rounding rounding, uint32_t& flags) {
  return to_word<F>(a, -2147483648.0, 2147483647.0, 0x80000000u, 0x7fffffffu, rounding, flags);
}
template <typename F>
uint32_t float_to_u32(uint32_t a, Rounding rounding, uint32_t& flags) {
  return to_word<F>(a, 0.0, 4294967295.0, 0, 0xffffffffu, rounding, flags);
}
template <typename F>
uint32_t float_from_i64(int64_t a, Rounding rounding, uint32_t& flags) {
  QuietHost quiet;
  return narrow<F>(static_cast<double>(a), rounding, flags);
}

uint32_t half_to_single(uint32_t a, uint32_t& flags) {
  if (is_nan<Half>(a)) {
    if (is_signalling<Half>(a)) flags |= kInvalid;
    return Single::kNan;
  }
  QuietHost quiet;
  return narrow<Single>(widen<Half>(a), kNearestEven, flags);
}

uint32_t single_to_half(uint32_t a, Rounding rounding, uint32_t& flags) {
  if (is_nan<Single>(a)) {
    if (is_signalling<Single>(a)) flags |= kInvalid;
    return Half::kNan;
  }
  QuietHost quiet;
  return narrow<Half>(widen<Single>(a), rounding, flags);
}

namespace {

// Order of values that are no NaN: bits as sign and magnitude.
template <typename F>
bool less(uint32_t a, uint32_t b) {
  const bool negative_a = a & F::kSign, negative_b = b & F::kSign;
  if (is_zero<F>(a) && is_zero<F>(b)) return false;
  if (negative_a != negative_b) return negative_a;
  return negative_a ? b < a : a < b;
}

template <typename F>
uint32_t pick(bool smaller, uint32_t a, uint32_t b, uint32_t& flags) {
  if (is_signalling<F>(a) || is_signalling<F>(b)) flags |= kInvalid;
  if (is_nan<F>(a)) return is_nan<F>(b) ? F::kNan : b;
  if (is_nan<F>(b)) return a;
  if (is_zero<F>(a) && is_zero<F>(b)) {  // -0 is below +0
    return smaller ? (a & F::kSign ? a : b) : (a & F::kSign ? b : a);
  }
  return less<F>(a, b) == smaller ? a : b;
}

}  // namespace

template <typename F>
uint32_t float_min(uint32_t a, uint32_t b, uint32_t& flags) {
  return pick<F>(true, a, b, flags);
}
template <typename F>
uint32_t float_max(uint32_t a, uint32_t b, uint32_t& flags) {
  return pick<F>(false, a, b, flags);
}

template <typename F>
uint32_t float_compare(FloatCompare how, uint32_t a, uint32_t b, uint32_t& flags) {
  if (is_nan<F>(a) || is_nan<F>(b)) {
    // Only equality is quiet.
    if (how != FloatCompare::equal || is_signalling<F>(a) || is_signalling<F>(b)) flags |= kInvalid;
    return 0;
  }
  const bool equal = a == b || (is_zero<F>(a) && is_zero<F>(b));
  switch (how) {
    case FloatCompare::equal:
      return equal;
    case FloatCompare::less:
      return less<F>(a, b);
    default:
      return equal || less<F>(a, b);
  }
}

template <typename F>
uint32_t float_class(uint32_t a) {
  const bool negative = a & F::kSign;
  if (is_nan<F>(a)) return is_signalling<F>(a) ? 1u << 8 : 1u << 9;
  if (is_infinite<F>(a)) return negative ? 1u << 0 : 1u << 7;
  if (is_zero<F>(a)) return negative ? 1u << 3 : 1u << 4;
  const bool normal = (a & F::kInfinity) != 0;
  if (normal) return negative ? 1u << 1 : 1u << 6;
  return negative ? 1u << 2 : 1u << 5;
}

#define ANYNPU_NPC_FLOAT_FORMAT(F)                                                   \
  template uint32_t float_op<F>(FloatOp, uint32_t, uint32_t, Rounding, uint32_t&);   \
  template uint32_t float_fma<F>(uint32_t, uint32_t, uint32_t, Rounding, uint32_t&); \
  template uint32_t float_to_i32<F>(uint32_t, Rounding, uint32_t&);                  \
  template uint32_t float_to_u32<F>(uint32_t, Rounding, uint32_t&);                  \
  template uint32_t float_from_i64<F>(int64_t, Rounding, uint32_t&);                 \
  template uint32_t float_min<F>(uint32_t, uint32_t, uint32_t&);                     \
  template uint32_t float_max<F>(uint32_t, uint32_t, uint32_t&);                     \
  template uint32_t float_compare<F>(FloatCompare, uint32_t, uint32_t, uint32_t&);   \
  template uint32_t float_class<F>(uint32_t);
ANYNPU_NPC_FLOAT_FORMAT(Single)
ANYNPU_NPC_FLOAT_FORMAT(Half)

}  // namespace anynpu::npc
