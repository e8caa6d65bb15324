// SPDX-License-Identifier: Apache-2.0
// Compressed instructions (C, with the float loads and stores of RV32) to their 32-bit forms.
#include "npc/decode.h"

namespace anynpu::npc {

namespace {

uint32_t bits_of(uint32_t value, int high, int low) {
  return (value >> low) & ((1u << (high - low + 1)) - 1);
}
uint32_t bit(uint32_t value, int at) { return (value >> at) & 1; }

// Formats of the 32-bit instructions.
uint32_t i_type(uint32_t opcode, uint32_t funct3, uint32_t rd, uint32_t rs1, uint32_t imm) {
  return (imm << 20) | (rs1 << 15) | (funct3 << 12) | (rd << 7) | opcode;
}
uint32_t s_type(uint32_t opcode, uint32_t funct3, uint32_t rs1, uint32_t rs2, uint32_t imm) {
  return (bits_of(imm, 11, 5) << 25) | (rs2 << 20) | (rs1 << 15) | (funct3 << 12) |
         (bits_of(imm, 4, 0) << 7) | opcode;
}
uint32_t r_type(uint32_t funct7, uint32_t funct3, uint32_t rd, uint32_t rs1, uint32_t rs2) {
  return (funct7 << 25) | (rs2 << 20) | (rs1 << 15) | (funct3 << 12) | (rd << 7) | 0x33;
}
uint32_t b_type(uint32_t funct3, uint32_t rs1, uint32_t imm) {
  return (bit(imm, 12) << 31) | (bits_of(imm, 10, 5) << 25) | (rs1 << 15) | (funct3 << 12) |
         (bits_of(imm, 4, 1) << 8) | (bit(imm, 11) << 7) | 0x63;
}
uint32_t j_type(uint32_t rd, uint32_t imm) {
  return (bit(imm, 20) << 31) | (bits_of(imm, 10, 1) << 21) | (bit(imm, 11) << 20) |
         (bits_of(imm, 19, 12) << 12) | (rd << 7) | 0x6f;
}

uint32_t sign_extended(uint32_t value, int width) {
  return static_cast<uint32_t>(static_cast<int32_t>(value << (32 - width)) >> (32 - width));
}

// Offsets of loads and stores.
uint32_t offset_word(uint32_t c) {
  return (bit(c, 5) << 6) | (bits_of(c, 12, 10) << 3) | (bit(c, 6) << 2);
}
uint32_t offset_load_sp(uint32_t c) {
  return (bits_of(c, 3, 2) << 6) | (bit(c, 12) << 5) | (bits_of(c, 6, 4) << 2);
}
uint32_t offset_store_sp(uint32_t c) { return (bits_of(c, 8, 7) << 6) | (bits_of(c, 12, 9) << 2); }
uint32_t immediate6(uint32_t c) { return sign_extended((bit(c, 12) << 5) | bits_of(c, 6, 2), 6); }
uint32_t jump_offset(uint32_t c) {
  return sign_extended((bit(c, 12) << 11) | (bit(c, 8) << 10) | (bits_of(c, 10, 9) << 8) |
                           (bit(c, 6) << 7) | (bit(c, 7) << 6) | (bit(c, 2) << 5) |
                           (bit(c, 11) << 4) | (bits_of(c, 5, 3) << 1),
                       12);
}
uint32_t branch_offset(uint32_t c) {
  return sign_extended((bit(c, 12) << 8) | (bits_of(c, 6, 5) << 6) | (bit(c, 2) << 5) |
                           (bits_of(c, 11, 10) << 3) | (bits_of(c, 4, 3) << 1),
                       9);
}

uint32_t quadrant0(uint32_t c) {
  const uint32_t rs1 = 8 + bits_of(c, 9, 7);
  const uint32_t low = 8 + bits_of(c, 4, 2);
  switch (c >> 13) {
    case 0: {
      const uint32_t imm = (bits_of(c, 10, 7) << 6) | (bits_of(c, 12, 11) << 4) | (bit(c, 5) << 3) |
                           (bit(c, 6) << 2);
      return imm == 0 ? 0 : i_type(0x13, 0, low, 2, imm);  // addi4spn
    }
    case 2:
      return i_type(0x03, 2, low, rs1, offset_word(c));
    case 3:
      return i_type(0x07, 2, low, rs1, offset_word(c));
    case 6:
      return s_type(0x23, 2, rs1, low, offset_word(c));
    case 7:
      return s_type(0x27, 2, rs1, low, offset_word(c));
    default:
      return 0;
  }
}

uint32_t arithmetic(uint32_t c) {
  const uint32_t rd = 8 + bits_of(c, 9, 7);
  const uint32_t rs2 = 8 + bits_of(c, 4, 2);
  const uint32_t shift = (bit(c, 12) << 5) | bits_of(c, 6, 2);
  switch (bits_of(c, 11, 10)) {
    case 0:
      return shift > 31 ? 0 : i_type(0x13, 5, rd, rd, shift);
    case 1:
      return shift > 31 ? 0 : i_type(0x13, 5, rd, rd, shift | 0x400);
    case 2:
      return i_type(0x13, 7, rd, rd, immediate6(c));
    default:
      break;
  }
  if (bit(c, 12)) return 0;
  switch (bits_of(c, 6, 5)) {
    case 0:
      return r_type(32, 0, rd, rd, rs2);
    case 1:
      return r_type(0, 4, rd, rd, rs2);
    case 2:
      return r_type(0, 6, rd, rd, rs2);
    default:
      return r_type(0, 7, rd, rd, rs2);
  }
}

uint32_t quadrant1(uint32_t c) {
  const uint32_t rd = bits_of(c, 11, 7);
  switch (c >> 13) {
    case 0:
      return i_type(0x13, 0, rd, rd, immediate6(c));
    case 1:
      return j_type(1, jump_offset(c));
    case 2:
      return i_type(0x13, 0, rd, 0, immediate6(c));
    case 3: {
      if (rd == 2) {  // addi16sp
        const uint32_t imm =
            sign_extended((bit(c, 12) << 9) | (bits_of(c, 4, 3) << 7) | (bit(c, 5) << 6) |
                              (bit(c, 2) << 5) | (bit(c, 6) << 4),
                          10);
        return imm == 0 ? 0 : i_type(0x13, 0, 2, 2, imm);
      }
      const uint32_t imm = immediate6(c);
      return imm == 0 ? 0 : ((imm << 12) | (rd << 7) | 0x37);  // lui
    }
    case 4:
      return arithmetic(c);
    case 5:
      return j_type(0, jump_offset(c));
    case 6:
      return b_type(0, 8 + bits_of(c, 9, 7), branch_offset(c));
    default:
      return b_type(1, 8 + bits_of(c, 9, 7), branch_offset(c));
  }
}

uint32_t quadrant2(uint32_t c) {
  const uint32_t rd = bits_of(c, 11, 7);
  const uint32_t rs2 = bits_of(c, 6, 2);
  switch (c >> 13) {
    case 0:
      return bit(c, 12) ? 0 : i_type(0x13, 1, rd, rd, rs2);
    case 2:
      return rd == 0 ? 0 : i_type(0x03, 2, rd, 2, offset_load_sp(c));
    case 3:
      return i_type(0x07, 2, rd, 2, offset_load_sp(c));
    case 4:
      if (rs2 != 0) return r_type(0, 0, rd, bit(c, 12) ? rd : 0, rs2);  // add, mv
      if (rd == 0) return bit(c, 12) ? 0x00100073 : 0;                  // ebreak
      return i_type(0x67, 0, bit(c, 12), rd, 0);                        // jalr, jr
    case 6:
      return s_type(0x23, 2, 2, rs2, offset_store_sp(c));
    case 7:
      return s_type(0x27, 2, 2, rs2, offset_store_sp(c));
    default:
      return 0;
  }
}

}  // namespace

uint32_t expand16(uint16_t bits) {
  switch (bits & 3) {
    case 0:
      return quadrant0(bits);
    case 1:
      return quadrant1(bits);
    case 2:
      return quadrant2(bits);
    default:
      return 0;
  }
}

}  // namespace anynpu::npc
