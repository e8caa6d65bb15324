// SPDX-License-Identifier: Apache-2.0
// Random instructions that stay inside a piece of data and inside their own stream.
#pragma once

#include <cstdint>
#include <iterator>
#include <random>
#include <vector>

#include "npc/decode.h"

namespace anynpu::npc {

inline void append(std::vector<uint8_t>& code, uint32_t bits, int bytes) {
  for (int i = 0; i < bytes; ++i) code.push_back(static_cast<uint8_t>(bits >> (8 * i)));
}

inline constexpr uint32_t kDataBytes = 8192;
inline constexpr uint32_t kBase = 8, kStackBase = 2;  // registers that point into the data and stay
inline constexpr uint32_t kReturnRegister = 1;        // stays too
inline constexpr uint32_t kTurns = 9;                 // counts the turns of a loop

class Generator {
 public:
  // Without float state nothing reads flags or changes the rounding mode.
  explicit Generator(uint32_t seed, bool float_state = true)
      : random_(seed), float_state_(float_state) {}
  uint32_t below(uint32_t limit) { return random_() % limit; }
  bool chance(uint32_t percent) { return below(100) < percent; }

  uint32_t value() {
    static constexpr uint32_t special[] = {
        0,          1,          2,          0x7fffffff, 0x80000000, 0xffffffff, 0x3f800000,
        0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0x7fa00000, 0x00800000, 0x007fffff,
        0x7f7fffff, 0xffff3c00, 0xffff7bff, 0xffff0001, 0xffff7c00, 0xffff7e00, 0xffff7d00,
        0xffff0400, 0x4f000000, 0xcf000000, 0x3f000000, 0x477ff000};
    return chance(40) ? special[below(std::size(special))] : random_();
  }
  uint32_t target() {  // an integer register that may change
    for (;;) {
      const uint32_t r = below(32);
      if (r != kBase && r != kStackBase && r != kReturnRegister && r != kTurns) return r;
    }
  }
  uint32_t rounding() { return chance(50) ? 0 : chance(40) ? 7 : below(5); }

  // One instruction that neither leaves the data nor the stream; `left` instructions follow it.
  uint32_t instruction(uint32_t left) {
    const uint32_t rd = target(), r1 = below(32), r2 = below(32), f3 = below(8);
    const uint32_t kind_of = below(14);
    switch (kind_of == 8 && !float_state_ ? 3 : kind_of) {
      case 0:
        return random_() << 12 | rd << 7 | (chance(50) ? 0x37 : 0x17);
      case 1:
      case 2: {
        const uint32_t imm = f3 == 1   ? below(32)
                             : f3 == 5 ? below(32) | (chance(50) ? 0x400 : 0)
                                       : below(4096);
        return imm << 20 | r1 << 15 | f3 << 12 | rd << 7 | 0x13;
      }
      case 3: {
        const uint32_t f7 = chance(40) ? 1 : (f3 == 0 || f3 == 5) && chance(50) ? 32 : 0;
        return f7 << 25 | r2 << 20 | r1 << 15 | f3 << 12 | rd << 7 | 0x33;
      }
      case 4: {
        static constexpr uint32_t kinds[] = {0, 1, 2, 4, 5};
        return below(2048) << 20 | kBase << 15 | kinds[below(5)] << 12 | rd << 7 | 0x03;
      }
      case 5:
        return store(0x23, below(3), r2);
      case 6: {
        static constexpr uint32_t kinds[] = {2, 3, 1, 0, 4, 12, 8, 16, 20, 24, 28};
        const uint32_t kind = kinds[below(11)];
        return kind << 27 | (kind == 2 ? 0 : r2) << 20 | kBase << 15 | 2 << 12 | rd << 7 | 0x2f;
      }
      case 7: {  // a branch forward over at most four instructions of four bytes
        static constexpr uint32_t kinds[] = {0, 1, 4, 5, 6, 7};
        const uint32_t offset = 4 * (1 + below(left < 4 ? left : 4));
        return r2 << 20 | r1 << 15 | kinds[below(6)] << 12 | (offset >> 1 & 15) << 8 |
               (offset >> 5 & 1) << 25 | 0x63;
      }
      case 8: {  // float state
        static constexpr uint32_t kinds[] = {1, 2, 3, 5, 6, 7};
        const uint32_t number = chance(70) ? 1 : 2 + below(2);
        uint32_t kind = kinds[below(6)];
        if (number != 1) kind = 5;  // a mode that exists: csrrwi 0-4
        return number << 20 |
               (number == 1   ? r1
                : number == 2 ? below(5)
                              : below(32))
                   << 15 |
               kind << 12 | rd << 7 | 0x73;
      }
      case 9:
        return chance(50) ? below(2000) << 20 | kBase << 15 | (1 + below(2)) << 12 | r1 << 7 | 0x07
                          : store(0x27, 1 + below(2), r2);
      case 10:
        return below(32) << 27 | format() << 25 | r2 << 20 | r1 << 15 | rounding() << 12 |
               below(32) << 7 | (0x43 + 4 * below(4));
      default:
        return float_instruction(r1, r2);
    }
  }

  // A compressed instruction that computes; 0 when the bits drawn are none.
  uint16_t compressed() {
    for (int tries = 0; tries < 1000; ++tries) {
      const auto bits = static_cast<uint16_t>(random_());
      const uint32_t wide = expand16(bits);
      if ((bits & 3) == 3 || wide == 0) continue;
      const Decoded d = decode32(wide);
      const bool computes = d.op == Op::addi || d.op == Op::lui || d.op == Op::add ||
                            d.op == Op::sub || d.op == Op::xor_ || d.op == Op::or_ ||
                            d.op == Op::and_ || d.op == Op::andi || d.op == Op::slli ||
                            d.op == Op::srli || d.op == Op::srai;
      const bool on_stack = d.rs1 == kStackBase && (d.op == Op::lw || d.op == Op::sw ||
                                                    d.op == Op::flw || d.op == Op::fsw);
      const bool float_target = d.op == Op::flw || d.op == Op::sw || d.op == Op::fsw;
      if ((computes || on_stack) && (float_target || (d.rd != kBase && d.rd != kStackBase &&
                                                      d.rd != kReturnRegister && d.rd != kTurns))) {
        return bits;
      }
    }
    return 0x0001;
  }

  // Instructions of four bytes, one in five of them a pair of compressed ones: branches over words
  // land on instructions.
  std::vector<uint8_t> stream(uint32_t length) {
    std::vector<uint8_t> code;
    for (uint32_t i = 0; i < length; ++i) {
      if (chance(20)) {
        for (int half = 0; half < 2; ++half) append(code, compressed(), 2);
      } else {
        append(code, instruction(length - i), 4);
      }
    }
    return code;
  }

 private:
  uint32_t format() { return chance(50) ? 0 : 2; }
  uint32_t store(uint32_t opcode, uint32_t f3, uint32_t r2) {
    const uint32_t imm = below(2000);
    return (imm >> 5) << 25 | r2 << 20 | kBase << 15 | f3 << 12 | (imm & 31) << 7 | opcode;
  }
  uint32_t float_instruction(uint32_t r1, uint32_t r2) {
    static constexpr uint32_t kinds[] = {0, 1, 2, 3, 11, 4, 5, 20, 24, 26, 28, 30, 8};
    const uint32_t kind = kinds[below(std::size(kinds))];
    uint32_t f = format(), f3 = rounding(), rd = below(32);
    if (kind == 11 || kind == 28 || kind == 30) r2 = 0;
    if (kind == 24 || kind == 26) r2 = below(2);
    if (kind == 4 || kind == 20) f3 = below(3);
    if (kind == 5 || kind == 28) f3 = below(2);
    if (kind == 30) f3 = 0;
    if (kind == 8) r2 = f == 0 ? 2 : 0;
    if (kind == 20 || kind == 24 || kind == 28) rd = target();
    return kind << 27 | f << 25 | r2 << 20 | r1 << 15 | f3 << 12 | rd << 7 | 0x53;
  }
  std::mt19937 random_;
  bool float_state_;
};

}  // namespace anynpu::npc
