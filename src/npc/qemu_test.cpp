// SPDX-License-Identifier: Apache-2.0
// Random instruction streams against qemu-riscv32, an implementation that is not ours: integer and
// float registers, float state and memory afterwards are the same.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/format.h"
#include "npc/core.h"
#include "npc/image.h"
#include "npc/instruction_generator_for_test.h"
#include "npc/interpreter.h"

namespace anynpu::npc {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kLength = 600;

// What the program leaves, in this order.
struct After {
  uint32_t x[32], f[32], float_state;
  uint8_t data[kDataBytes];
};

std::string words(const char* name, const uint8_t* bytes, size_t count) {
  std::string text = format("{}:\n", name);
  for (size_t i = 0; i < count; i += 4) {
    uint32_t word = 0;
    std::memcpy(&word, bytes + i, std::min<size_t>(4, count - i));
    text += format("  .word {}\n", word);
  }
  return text;
}

class QemuTest : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system("command -v qemu-riscv32 clang-19 ld.lld-19 > /dev/null 2>&1") != 0) {
      GTEST_SKIP() << "qemu-user, clang-19 or lld-19 is not installed";
    }
    folder = (fs::temp_directory_path() / "npc-qemu-XXXXXX").string();
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    auto made = Memory::create();
    ASSERT_TRUE(made.ok());
    memory = *made;
    ASSERT_TRUE(memory->take(Space::global, 0x100000, kNone).ok());  // where qemu may map programs
    code_at = *memory->take(Space::global, 1 << 16, kRead);
    data_at = *memory->take(Space::global, kDataBytes, kReadWrite);
  }
  void TearDown() override {
    std::error_code ignored;
    if (!folder.empty()) fs::remove_all(folder, ignored);
  }

  // Sets all registers, runs the stream, writes them out.
  std::string program(const std::vector<uint8_t>& code, const Core& core) const {
    std::string text = ".section .text\n.globl _start\n_start:\n  la x31, floats\n";
    for (int r = 0; r < 32; ++r) text += format("  flw f{}, {}(x31)\n", r, 4 * r);
    text += "  la x31, integers\n  csrwi fcsr, 0\n";
    for (int r = 1; r < 32; ++r) text += format("  lw x{}, {}(x31)\n", r, 4 * r);
    text += "  j stream\nback:\n  la ra, after\n";  // no stream changes ra
    for (int r = 2; r < 32; ++r) text += format("  sw x{}, {}(ra)\n", r, 4 * r);
    for (int r = 0; r < 32; ++r) text += format("  fsw f{}, {}(ra)\n", r, 128 + 4 * r);
    text += format(
        "  csrr t0, fcsr\n  sw t0, 256(ra)\n  li a0, 1\n  mv a1, ra\n  li a2, 260\n  li a7, 64\n"
        "  ecall\n  li a0, 1\n  la a1, data\n  li a2, {}\n  li a7, 64\n  ecall\n  li a0, 0\n"
        "  li a7, 93\n  ecall\n",
        kDataBytes);
    text += ".section .bss\nafter: .space 260\n.section .rodata\n";
    text += words("floats", reinterpret_cast<const uint8_t*>(core.f.data()), 128);
    text += words("integers", reinterpret_cast<const uint8_t*>(core.x.data()), 128);
    text += ".section .stream, \"ax\"\n" + words("stream", code.data(), code.size() - 4);
    text += "  j back\n";  // in place of the return
    text += ".section .kerneldata, \"aw\"\n" +
            words("data", reinterpret_cast<const uint8_t*>(memory->host(data_at)), kDataBytes);
    return text;
  }

  bool run_qemu(const std::string& source, After& after) const {
    std::ofstream(folder + "/a.s") << source;
    const std::string command = format(
        "cd {} && clang-19 --target=riscv32-unknown-elf -march=rv32imafc_zfh -mabi=ilp32 -mno-relax"
        " -c a.s && ld.lld-19 a.o -o a -Ttext=0x100000 --section-start=.stream={x}"
        " --section-start=.kerneldata={x} && qemu-riscv32 -cpu rv32,Zfh=true ./a > out",
        folder, code_at, data_at);
    if (std::system(command.c_str()) != 0) return false;
    std::ifstream in(folder + "/out", std::ios::binary);
    in.read(reinterpret_cast<char*>(&after), sizeof after);
    return in.gcount() == static_cast<std::streamsize>(260 + kDataBytes);
  }

  std::string folder;
  std::shared_ptr<Memory> memory;
  uint32_t code_at = 0, data_at = 0;
};

TEST_F(QemuTest, random_instructions_leave_the_same_registers_and_memory) {
  const auto base = static_cast<uint32_t>(testing::UnitTest::GetInstance()->random_seed()) * 10007u;
  for (uint32_t seed = base + 1; seed <= base + 8 && !HasFailure(); ++seed) {
    Generator g(seed);
    std::vector<uint8_t> code;
    for (uint32_t i = 0; i < kLength; ++i) append(code, g.instruction(kLength - i), 4);
    append(code, 0x00008067, 4);  // ret
    std::memcpy(memory->host(code_at), code.data(), code.size());
    Image image;
    image.code_base = image.base = code_at;
    image.code_bytes = static_cast<uint32_t>(code.size());
    image.code = decode_all({memory->host(code_at), code.size()});
    image.weights = weigh(image.code);
    Core core;
    core.image = &image;
    core.memory = memory.get();
    core.budget = 1 << 20;
    core.pc = code_at;
    for (uint32_t r = 1; r < 32; ++r) core.x[r] = g.value();
    for (uint32_t r = 0; r < 32; ++r) core.f[r] = g.value();
    core.x[kBase] = core.x[kStackBase] = data_at + 2048;
    core.x[1] = kReturnAddress;
    for (uint32_t i = 0; i < kDataBytes; ++i) {
      memory->host(data_at)[i] = static_cast<std::byte>(g.below(256));
    }
    After after;
    ASSERT_TRUE(run_qemu(program(code, core), after)) << "seed " << seed;
    while (interpret(core, 1000) == Stop::slice) {
    }
    ASSERT_EQ(core.trap.text, "");
    for (uint32_t r = 2; r < 32; ++r) EXPECT_EQ(core.x[r], after.x[r]) << "x" << r;
    for (uint32_t r = 0; r < 32; ++r) EXPECT_EQ(core.f[r], after.f[r]) << "f" << r;
    EXPECT_EQ(core.float_flags | core.rounding << 5, after.float_state);
    EXPECT_EQ(std::memcmp(memory->host(data_at), after.data, kDataBytes), 0);
    if (HasFailure()) ADD_FAILURE() << "seed " << seed;
  }
}

}  // namespace
}  // namespace anynpu::npc
