// SPDX-License-Identifier: Apache-2.0
// The fast path of float instructions: the host's own, for round to nearest, results that are not
// NaN, and halves well inside the normal range. Everything else goes to float_ops.h.
#pragma once

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>

#include "npc/core.h"
#include "npc/float_ops.h"
#include "tensor/half.h"

namespace anynpu::npc {

inline float as_float(uint32_t bits) { return std::bit_cast<float>(bits); }
inline uint32_t as_bits(float value) {
  return value != value ? Single::kNan : std::bit_cast<uint32_t>(value);
}

// Whether the host multiplies and adds in one instruction; the library's fma costs a call for each.
inline bool host_has_fma() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

// a * b + c, rounded once.
inline float fused(bool has_fma, float a, float b, float c) {
#if defined(__x86_64__)
  if (has_fma) {
    asm("vfmadd213ss %2, %1, %0" : "+x"(a) : "x"(b), "x"(c));
    return a;
  }
#endif
  return std::fma(a, b, c);
}

// The host keeps the sticky exception flags of float instructions that run natively; they move to
// the core when a turn ends. RISC-V and host bits differ.
inline uint32_t host_flags() {
  const int raised = std::fetestexcept(FE_ALL_EXCEPT);
  return (raised & FE_INEXACT ? kInexact : 0u) | (raised & FE_UNDERFLOW ? kUnderflow : 0u) |
         (raised & FE_OVERFLOW ? kOverflow : 0u) | (raised & FE_DIVBYZERO ? kDivZero : 0u) |
         (raised & FE_INVALID ? kInvalid : 0u);
}

// Host float state of a turn: flags clear, nearest-even, no host traps; restored at the end.
class FloatTurn {
 public:
  explicit FloatTurn(Core& core) : core_(core) {
    std::feholdexcept(&environment_);
    std::fesetround(FE_TONEAREST);
  }
  ~FloatTurn() {
    fold();
    std::fesetenv(&environment_);
  }
  void fold() {
    core_.float_flags |= host_flags();
    std::feclearexcept(FE_ALL_EXCEPT);
  }

 private:
  Core& core_;
  std::fenv_t environment_;
};

// Half results without special cases: exact, or inexact and normal. Others: the exact path.
inline bool quick_half(float value, uint32_t& bits) {
  const float magnitude = std::fabs(value);
  if (!(magnitude >= 0x1p-13f && magnitude < 65504.0f)) {
    if (value != 0) return false;
  }
  const F16 half = to_f16(value);
  if (to_float(half) != value) std::feraiseexcept(FE_INEXACT);
  bits = half.bits;
  return true;
}

}  // namespace anynpu::npc
