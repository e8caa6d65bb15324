// SPDX-License-Identifier: Apache-2.0
// Which registers an instruction reads and writes. Integer registers are 0-31, float registers
// 32-63, in bit sets of 64.
#pragma once

#include <cstdint>

#include "npc/decode.h"

namespace anynpu::npc {

inline constexpr uint8_t kNoRegister = 255;

struct Operands {
  uint64_t reads = 0;
  uint8_t writes = kNoRegister;
};

Operands operands_of(const Decoded& d);

constexpr uint64_t bit(uint32_t reg) { return uint64_t{1} << reg; }

// The convention ilp32: s0-s11 and sp survive a call; the float registers do not. Arguments are in
// a0-a7, results in a0 and a1. Functions that only their own file calls may be compiled otherwise:
// arguments in any register that calls do not keep, results in fa0 and fa1 too.
namespace convention {
inline constexpr uint8_t kRa = 1, kSp = 2, kA0 = 10, kFa0 = 32 + 10;
inline constexpr uint64_t kArguments = 0xffull << kA0;
inline constexpr uint64_t kFloatResults = 3ull << kFa0;
inline constexpr uint64_t kResults = 3ull << kA0 | kFloatResults;
inline constexpr uint64_t kNotKept =
    kArguments | 7ull << 5 | 0xfull << 28 | 0xffffffffull << 32;  // a, t and f registers
}  // namespace convention
constexpr bool callee_saved(uint32_t reg) {
  return reg == 8 || reg == 9 || (reg >= 18 && reg <= 27);
}

}  // namespace anynpu::npc
