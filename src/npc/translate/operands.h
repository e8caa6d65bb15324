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

// The convention ilp32: s0-s11 and sp survive a call; the float registers do not.
namespace convention {
inline constexpr uint8_t kRa = 1, kSp = 2, kA0 = 10;
}  // namespace convention
constexpr bool callee_saved(uint32_t reg) {
  return reg == 8 || reg == 9 || (reg >= 18 && reg <= 27);
}

}  // namespace anynpu::npc
