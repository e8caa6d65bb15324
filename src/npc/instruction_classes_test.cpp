// SPDX-License-Identifier: Apache-2.0
// Every instruction of RV32IMAFC and Zfh, class by class: the table names all that the decoder
// knows, the assembler writes them as we do, and the plain interpreter, the interpreter and
// translated code agree on every result. qemu_test.cpp runs the same streams.
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "npc/class_runs_for_test.h"
#include "npc/translate/translated_code_for_test.h"

namespace anynpu::npc {
namespace {

namespace fs = std::filesystem;

TEST(InstructionTable, every_operation_of_the_decoder_has_a_row) {
  std::set<Op> rows;
  for (const InstructionClass& c : instruction_classes()) {
    for (const Instruction& i : c.instructions) rows.insert(i.op);
  }
  for (auto op = static_cast<Op>(0); op < Op::illegal; op = static_cast<Op>(int(op) + 1)) {
    EXPECT_TRUE(rows.contains(op)) << name_of(op) << " is in no class";
  }
}

TEST(InstructionTable, all_compressed_words_decode_as_the_table_says) {
  for (uint32_t word = 0; word < 0x10000; ++word) {
    if ((word & 3) == 3) continue;
    const Instruction* row = instruction_of(word);
    const Op op = decode32(expand16(static_cast<uint16_t>(word))).op;
    ASSERT_STREQ(name_of(op), name_of(row ? row->op : Op::illegal)) << format("{:#x}", word);
  }
}

TEST(InstructionTable, all_opcodes_and_functions_decode_as_the_table_says) {
  // The fields that choose: opcode, funct3, funct7 and the second register; the others are random.
  std::mt19937 random(1);
  for (uint32_t chosen = 0; chosen < 1u << 20; ++chosen) {
    const uint32_t word = 3 | (chosen & 31) << 2 | (random() & 0xf8f80) | (chosen >> 5 & 7) << 12 |
                          (chosen >> 8) << 20;
    const Instruction* row = instruction_of(word);
    const Op op = decode32(word).op;
    ASSERT_STREQ(name_of(op), name_of(row ? row->op : Op::illegal)) << format("{:#x}", word);
  }
}

// A word of each instruction with operands at their ends and in between.
struct Example {
  const Instruction* instruction;
  Operands operands;
};
std::vector<Example> examples() {
  std::mt19937 random(3);
  std::vector<Example> made;
  const auto reg = [&](const Instruction& i, char letter) -> uint32_t {
    const uint32_t r = i.narrow(letter) ? 8 + random() % 8 : random() % 32;
    return r == 0 || r == 2 ? 31 : r;
  };
  for (const InstructionClass& c : instruction_classes()) {
    for (const Instruction& i : c.instructions) {
      for (int n = 0; n < 12; ++n) {
        static constexpr uint32_t modes[] = {0, 1, 2, 3, 4, 7};
        Operands o;
        o.d = reg(i, i.has('D') ? 'D' : 'd');
        o.s = reg(i, i.has('S') ? 'S' : 's');
        o.t = reg(i, i.has('T') ? 'T' : 't');
        o.third = random() % 32;
        o.rounding = modes[n % 6];
        o.order = random() % 4;
        o.csr = random() % 4096;
        o.bits = random() % 32;
        o.before = 1 + random() % 15;
        o.after = 1 + random() % 15;
        if (i.immediate_letter()) {
          const int64_t count = (int64_t{i.most()} - i.least()) / i.step() + 1;
          const auto nth = static_cast<int64_t>(n == 0   ? 0
                                                : n == 1 ? count - 1
                                                         : static_cast<int64_t>(random()) % count);
          o.immediate = static_cast<int32_t>(i.least() + nth * i.step());
          if (o.immediate == 0) o.immediate = i.step();
        }
        made.push_back({&i, o});
      }
    }
  }
  return made;
}

TEST(InstructionTable, operands_decode_to_what_was_put_in) {
  for (const auto& [i, o] : examples()) {
    const uint32_t word = i->encode(o);
    const Decoded d = decode32(i->bytes == 2 ? expand16(static_cast<uint16_t>(word)) : word);
    SCOPED_TRACE(i->text(o));
    EXPECT_STREQ(name_of(d.op), name_of(i->op));
    const auto same = [](bool has, auto got, auto expected) {
      if (has) {
        EXPECT_EQ(static_cast<int64_t>(got), static_cast<int64_t>(expected));
      }
    };
    same(i->has('d') || i->has('D'), d.rd, o.d);
    same(i->has('s') || i->has('S'), d.rs1, o.s);
    same(i->has('t') || i->has('T'), d.rs2, o.t);
    same(i->has('U'), d.rs3, o.third);
    same(i->has('m'), d.rm, o.rounding);
    same(i->has('z'), d.rs1, o.bits);
    same(i->has('c'), d.imm, o.csr);
    same(i->immediate_letter() != 0, d.imm, o.immediate);
  }
}

TEST(InstructionTable, the_assembler_writes_the_same_bits) {
  if (std::system("command -v clang-19 llvm-objcopy-19 > /dev/null 2>&1") != 0) {
    GTEST_SKIP() << "clang-19 or llvm-19 is not installed";
  }
  std::string folder = (fs::temp_directory_path() / "npc-assembler-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const auto all = examples();
  {
    std::ofstream source(folder + "/a.s");
    for (const auto& [i, o] : all) {
      source << (i->bytes == 2 ? ".option rvc\n" : ".option norvc\n") << i->text(o) << "\n";
    }
  }
  const std::string command = format(
      "cd {} && clang-19 --target=riscv32-unknown-elf -march=rv32imafc_zfh_zicsr_zifencei"
      " -mabi=ilp32 -mno-relax -c a.s && llvm-objcopy-19 -O binary -j .text a.o out",
      folder);
  ASSERT_EQ(std::system(command.c_str()), 0);
  std::ifstream in(folder + "/out", std::ios::binary);
  for (const auto& [i, o] : all) {
    uint32_t word = 0;
    in.read(reinterpret_cast<char*>(&word), i->bytes);
    ASSERT_EQ(format("{:#x}", word), format("{:#x}", i->encode(o))) << i->text(o);
  }
  EXPECT_EQ(in.peek(), EOF);
  in.close();
  fs::remove_all(folder);
}

class InstructionClasses : public ClassRuns {};

TEST_F(InstructionClasses, the_interpreter_agrees_with_the_plain_one_on_every_instruction) {
  std::set<const Instruction*> executed;
  for (size_t n = 0; n < streams.size(); ++n) {
    SCOPED_TRACE(streams[n].instructions->name);
    const Outcome expected = plain(n, &executed), got = interpreted(n);
    expect_same(streams[n], expected, got);
    EXPECT_EQ(got.float_state, expected.float_state);
    EXPECT_EQ(got.instructions, expected.instructions);
    EXPECT_EQ(got.cycles, expected.cycles);
  }
  for (const InstructionClass& c : instruction_classes()) {
    for (const Instruction& i : c.instructions) {
      EXPECT_EQ(executed.contains(&i), c.streams != Streams::ends)
          << i.name << " of " << c.name << " was not executed";
    }
  }
}

TEST_F(InstructionClasses, translated_code_agrees_with_the_interpreter_on_every_instruction) {
  std::string why;
  const auto translated = TranslatedCode::create(memory, why);
  if (!translated) ANYNPU_NO_TRANSLATOR(why);
  for (size_t n = 0; n < streams.size(); ++n) {
    const ClassStream& stream = streams[n];
    SCOPED_TRACE(stream.instructions->name);
    // Those leave the function: translation_test.cpp has kernels with every form of call, and all
    // that use the run-time library have requests.
    if (stream.instructions->streams == Streams::links) continue;
    if (stream.instructions->streams == Streams::requests) continue;
    const Outcome expected = interpreted(n);
    const auto image = image_of(*memory, places[n], stream.code);
    Core core = start(*image);
    const bool exact = stream.flags || stream.instructions->streams == Streams::float_state;
    EXPECT_EQ(translated->run(*image, exact, core), HostStop::finished);
    const Outcome got = outcome(core, stream);
    expect_same(stream, expected, got);
    if (exact) {
      EXPECT_EQ(got.float_state, expected.float_state);
    }
    EXPECT_EQ(got.instructions, expected.instructions);
    EXPECT_EQ(got.cycles, expected.cycles);
  }
}

}  // namespace
}  // namespace anynpu::npc
