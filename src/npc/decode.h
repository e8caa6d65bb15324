// SPDX-License-Identifier: Apache-2.0
// Instructions, decoded once: RV32IMAFC and Zfh bits to fields. Pure functions; any bits are
// accepted, and invalid ones become Op::illegal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace anynpu::npc {

enum class Op : uint8_t {
#define X(name, cycles) name,
#include "npc/ops.def"
#undef X
};

const char* name_of(Op op);

// Register 32 of the integer file takes writes to x0, so that executing needs no test.
inline constexpr uint8_t kDiscard = 32;

struct alignas(16) Decoded {
  Op op = Op::illegal;
  uint8_t rd = 0;
  uint8_t rs1 = 0;
  uint8_t rs2 = 0;
  uint8_t rs3 = 0;
  uint8_t rm = 0;          // rounding mode of float instructions
  uint8_t half_words = 1;  // length: 1 or 2
  uint8_t cycles = 0;
  int32_t imm = 0;  // immediate; branches and jal: bytes from this instruction; csr: number
};
static_assert(sizeof(Decoded) == 16);  // a shift from entry to index

// A 32-bit instruction.
Decoded decode32(uint32_t bits);
// The 32-bit instruction a compressed one stands for; 0 (illegal) when there is none.
uint32_t expand16(uint16_t bits);

// Suffix sums over the entries of decode_all, instructions in the upper half and
// cycles in the lower: the difference of two entries counts what is between
// them.
std::vector<uint64_t> weigh(std::span<const Decoded> code);

// One entry for each half-word of `code`, followed by two of Op::past_end. An instruction cut off
// by the end is illegal.
std::vector<Decoded> decode_all(std::span<const std::byte> code);

}  // namespace anynpu::npc
