// SPDX-License-Identifier: Apache-2.0
// Compressed instructions against the assembler: each stands beside its 32-bit form in one program.
#include "npc/decode.h"

#include "npc/image.h"
#include "npc/kernel_for_test.h"

namespace anynpu::npc {
namespace {

// Compressed, then the same with 32 bits.
const char* const kPairs[][2] = {
    {"c.addi4spn a0, sp, 4", "addi a0, sp, 4"},
    {"c.addi4spn a5, sp, 1020", "addi a5, sp, 1020"},
    {"c.lw a0, 0(a1)", "lw a0, 0(a1)"},
    {"c.lw s1, 124(s0)", "lw s1, 124(s0)"},
    {"c.lw a4, 68(a5)", "lw a4, 68(a5)"},
    {"c.sw a0, 4(a1)", "sw a0, 4(a1)"},
    {"c.sw a5, 120(s0)", "sw a5, 120(s0)"},
    {"c.flw fa0, 64(a1)", "flw fa0, 64(a1)"},
    {"c.fsw fs1, 92(a2)", "fsw fs1, 92(a2)"},
    {"c.nop", "addi x0, x0, 0"},
    {"c.addi t3, -32", "addi t3, t3, -32"},
    {"c.addi a0, 31", "addi a0, a0, 31"},
    {"c.li t6, -1", "addi t6, x0, -1"},
    {"c.li a0, 21", "addi a0, x0, 21"},
    {"c.lui a0, 1", "lui a0, 1"},
    {"c.lui t0, 0xfffe0", "lui t0, 0xfffe0"},
    {"c.addi16sp sp, -512", "addi sp, sp, -512"},
    {"c.addi16sp sp, 496", "addi sp, sp, 496"},
    {"c.addi16sp sp, 32", "addi sp, sp, 32"},
    {"c.srli a0, 31", "srli a0, a0, 31"},
    {"c.srai s1, 7", "srai s1, s1, 7"},
    {"c.andi a3, -5", "andi a3, a3, -5"},
    {"c.sub a0, a1", "sub a0, a0, a1"},
    {"c.xor s0, a5", "xor s0, s0, a5"},
    {"c.or a2, a3", "or a2, a2, a3"},
    {"c.and a4, s1", "and a4, a4, s1"},
    {"c.slli t1, 13", "slli t1, t1, 13"},
    {"c.lwsp ra, 252(sp)", "lw ra, 252(sp)"},
    {"c.lwsp t4, 36(sp)", "lw t4, 36(sp)"},
    {"c.flwsp ft11, 128(sp)", "flw ft11, 128(sp)"},
    {"c.swsp t5, 248(sp)", "sw t5, 248(sp)"},
    {"c.swsp x0, 4(sp)", "sw x0, 4(sp)"},
    {"c.fswsp fa7, 64(sp)", "fsw fa7, 64(sp)"},
    {"c.mv t0, t1", "add t0, x0, t1"},
    {"c.add s11, t6", "add s11, s11, t6"},
    {"c.jr t0", "jalr x0, 0(t0)"},
    {"c.jalr a3", "jalr ra, 0(a3)"},
    {"c.ebreak", "ebreak"},
    {"c.j .+2046", "jal x0, .+2046"},
    {"c.j .-2048", "jal x0, .-2048"},
    {"c.j .+0x554", "jal x0, .+0x554"},
    {"c.jal .-1366", "jal ra, .-1366"},
    {"c.beqz a0, .+254", "beq a0, x0, .+254"},
    {"c.beqz s0, .-256", "beq s0, x0, .-256"},
    {"c.bnez a5, .+170", "bne a5, x0, .+170"},
    {"c.bnez a1, .-86", "bne a1, x0, .-86"},
};

class DecodeTest : public KernelTest {};

TEST_F(DecodeTest, compressed_instructions_expand_as_the_assembler_says) {
  std::string body;
  for (const auto& [narrow, wide] : kPairs) {
    body += std::string(".option push\n.option rvc\n") + narrow + "\n.option pop\n";
    body += std::string(".option push\n.option norvc\n") + wide + "\n.option pop\n";
  }
  load("extern \"C\" __attribute__((naked)) void pairs() { __asm__ volatile(R\"x(" + body +
       ")x\"); }");
  ASSERT_TRUE(module);
  const std::byte* at = cluster->memory()->host(module->image().kernels.at("pairs"));
  for (const auto& [narrow, wide] : kPairs) {
    uint16_t compressed;
    uint32_t expected;
    std::memcpy(&compressed, at, 2);
    std::memcpy(&expected, at + 2, 4);
    at += 6;
    EXPECT_EQ(expand16(compressed), expected) << narrow;
  }
}

TEST(Decode, any_bits_decode_without_harm) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const uint32_t wide = expand16(static_cast<uint16_t>(bits));
    EXPECT_TRUE(wide == 0 || (wide & 3) == 3) << bits;
    if (wide != 0) {
      EXPECT_NE(decode32(wide).op, Op::illegal) << bits;
    }
    decode32(bits * 65537u | 3);
  }
  EXPECT_EQ(decode32(0).op, Op::illegal);
  EXPECT_EQ(decode32(0xffffffff).op, Op::illegal);
}

}  // namespace
}  // namespace anynpu::npc
