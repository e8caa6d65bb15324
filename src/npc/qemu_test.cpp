// SPDX-License-Identifier: Apache-2.0
// The same programs on qemu-riscv32, an implementation that is not ours: every class of
// instructions result by result, and random streams; integer and float registers, float state and
// memory afterwards are the same.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>

#include "base/align.h"
#include "npc/class_runs_for_test.h"
#include "npc/instruction_generator_for_test.h"

namespace anynpu::npc {
namespace {

namespace fs = std::filesystem;

// A program for qemu in a folder of its own: streams at given addresses that share one piece of
// data, each started with the same registers. At the start of the code is the way back.
class QemuProgram {
 public:
  static constexpr uint32_t kWayBack = ClassRuns::kBeforeStreams;

  QemuProgram(uint32_t code_at, uint32_t data_at, uint32_t data_bytes)
      : code_at_(code_at), data_at_(data_at), data_bytes_(data_bytes) {
    folder_ = (fs::temp_directory_path() / "npc-qemu-XXXXXX").string();
    if (!mkdtemp(folder_.data())) folder_.clear();
  }
  ~QemuProgram() {
    std::error_code ignored;
    if (!folder_.empty()) fs::remove_all(folder_, ignored);
  }
  QemuProgram(const QemuProgram&) = delete;
  QemuProgram& operator=(const QemuProgram&) = delete;

  static std::string missing() {
    return std::system("command -v qemu-riscv32 clang-19 ld.lld-19 > /dev/null 2>&1") == 0
               ? ""
               : "qemu-user, clang-19 or lld-19 is not installed";
  }

  void start_with(const uint32_t (&x)[32], const uint32_t (&f)[32],
                  const std::vector<uint8_t>& data) {
    write("integers", x, sizeof x);
    write("floats", f, sizeof f);
    write("data", data.data(), data.size());
    first_bytes_ = data.size();
  }
  // The stream ends with ret, which becomes a jump to the way back: ra holds the same as with us.
  // Of the data afterwards `bytes` come back.
  void add(uint32_t at, const std::vector<uint8_t>& code, uint32_t bytes) {
    code_.resize(at - code_at_ - kWayBack);
    code_.insert(code_.end(), code.begin(), code.end() - 4);
    const auto behind = static_cast<int32_t>(kWayBack + code_.size());
    append(code_, instruction("jal").encode({.immediate = -behind}), 4);
    calls_ +=
        format("  li t1, {}\n  bne t0, t1, 1f\n  j start{}\n1:\n", kept_.size() + 1, kept_.size());
    runs_ += format("start{}:\n  run {}, {}\n", kept_.size(), at - code_at_ - kWayBack, bytes);
    kept_.push_back(bytes);
  }

  bool make() const {
    write("code", code_.data(), code_.size());
    std::ofstream(folder_ + "/a.s") << source();
    const std::string command = format(
        "cd {} && clang-19 --target=riscv32-unknown-elf -march=rv32imafc_zfh -mabi=ilp32 -mno-relax"
        " -c a.s && ld.lld-19 a.o -o a -Ttext=0x100000 --section-start=.stream={:#x}"
        " --section-start=.kerneldata={:#x}",
        folder_, code_at_, data_at_);
    return std::system(command.c_str()) == 0;
  }

  // Runs the streams from one on. 0, or the signal that ended qemu (its exit code, negative).
  int run(std::vector<Outcome>& outcomes, size_t from = 0) const {
    std::string command =
        format("cd {} && ulimit -c 0 && exec qemu-riscv32 -cpu rv32,Zfh=true ./a > out 2> errors",
               folder_);
    for (size_t i = 0; i < from; ++i) command += " -";  // how many tells where to start
    const int status = std::system(command.c_str());
    std::ifstream in(folder_ + "/out", std::ios::binary);
    for (size_t i = from; i < kept_.size(); ++i) {
      const uint32_t bytes = kept_[i];
      Outcome o;
      in.read(reinterpret_cast<char*>(o.x), sizeof o.x);
      in.read(reinterpret_cast<char*>(o.f), sizeof o.f);
      in.read(reinterpret_cast<char*>(&o.float_state), 4);
      o.data.resize(bytes);
      in.read(reinterpret_cast<char*>(o.data.data()), bytes);
      if (!in) break;
      outcomes.push_back(std::move(o));
    }
    return WIFEXITED(status) ? -WEXITSTATUS(status) : WTERMSIG(status);
  }

 private:
  void write(const char* name, const void* bytes, size_t count) const {
    std::ofstream(folder_ + "/" + name, std::ios::binary)
        .write(static_cast<const char*>(bytes), static_cast<std::streamsize>(count));
  }

  std::string source() const {
    std::string text =
        ".macro send from, count\n  li a0, 1\n  la a1, \\from\n  li a2, \\count\n  li a7, 64\n"
        "  ecall\n.endm\n";
    text += ".macro run at, count\n  la a0, first\n  la a1, data\n";
    text += format("  li a2, {}\n", ceil_div(first_bytes_, 4));
    text +=
        "1: lw a3, 0(a0)\n  sw a3, 0(a1)\n  addi a0, a0, 4\n  addi a1, a1, 4\n  addi a2, a2, -1\n"
        "  bnez a2, 1b\n  la x31, floats\n";
    for (int r = 0; r < 32; ++r) text += format("  flw f{}, {}(x31)\n", r, 4 * r);
    text += "  csrwi fcsr, 0\n  la x31, integers\n";
    text += "  la x30, 2f\n  la x29, next\n  sw x30, 0(x29)\n";
    for (int r = 1; r < 32; ++r) text += format("  lw x{}, {}(x31)\n", r, 4 * r);
    text += "  j stream + \\at\n2:\n  la ra, after\n";
    for (int r = 2; r < 32; ++r) text += format("  sw x{}, {}(ra)\n", r, 4 * r);
    for (int r = 0; r < 32; ++r) text += format("  fsw f{}, {}(ra)\n", r, 128 + 4 * r);
    text +=
        "  csrr t0, fcsr\n  sw t0, 256(ra)\n  send after, 260\n  send data, \\count\n.endm\n"
        ".section .text\n.globl _start\n_start:\n  lw t0, 0(sp)\n";  // arguments and the name
    text += calls_ + runs_;
    text +=
        "  li a0, 0\n  li a7, 93\n  ecall\n.section .bss\n.balign 4\nnext: .space 4\n"
        "after: .space 260\n"
        ".section .rodata\n.balign 4\nfloats: .incbin \"floats\"\nintegers: .incbin \"integers\"\n"
        "first: .incbin \"data\"\n.section .stream, \"ax\"\n  la ra, next\n  lw ra, 0(ra)\n"
        "  jr ra\n.balign 64\nstream: .incbin \"code\"\n";
    text += ".section .kerneldata, \"aw\", @nobits\n";
    text += format("data: .space {}\n", data_bytes_);
    return text;
  }

  std::string folder_, calls_, runs_;
  uint32_t code_at_, data_at_, data_bytes_;
  size_t first_bytes_ = 0;
  std::vector<uint8_t> code_;
  std::vector<uint32_t> kept_;
};

class QemuTest : public ClassRuns {
 protected:
  void SetUp() override {
    const std::string missing = QemuProgram::missing();
    if (!missing.empty()) GTEST_SKIP() << missing;
    ClassRuns::SetUp();
  }
};

TEST_F(QemuTest, every_instruction_of_every_class_has_the_same_results) {
  QemuProgram program(code_at, data_at, kStreamData);
  program.start_with(first_x, first_f, data);
  std::vector<size_t> sent;
  for (size_t n = 0; n < streams.size(); ++n) {
    // Its counters run with the host's time.
    if (streams[n].instructions->streams == Streams::counters) continue;
    program.add(places[n], streams[n].code, data_bytes(streams[n]));
    sent.push_back(n);
  }
  std::vector<Outcome> outcomes;
  ASSERT_TRUE(program.make());
  ASSERT_EQ(program.run(outcomes), 0);
  ASSERT_EQ(outcomes.size(), sent.size());
  for (size_t i = 0; i < sent.size(); ++i) {
    SCOPED_TRACE(streams[sent[i]].instructions->name);
    const Outcome got = interpreted(sent[i]);
    expect_same(streams[sent[i]], outcomes[i], got);
    EXPECT_EQ(got.float_state, outcomes[i].float_state);
  }
}

TEST_F(QemuTest, random_instructions_leave_the_same_registers_and_memory) {
  constexpr uint32_t kLength = 600, kStreams = 16;
  Generator g(seed + 1);
  uint32_t x[32] = {}, f[32];
  for (uint32_t r = 1; r < 32; ++r) x[r] = g.value();
  for (uint32_t& word : f) word = g.value();
  x[kBase] = x[kStackBase] = data_at + 2048;
  x[kReturnRegister] = kReturnAddress;
  std::vector<uint8_t> bytes(kDataBytes);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(g.below(256));

  QemuProgram program(code_at, data_at, kDataBytes);
  program.start_with(x, f, bytes);
  std::vector<std::vector<uint8_t>> codes;
  const auto place = [&](size_t n) {
    return code_at + kBeforeStreams + static_cast<uint32_t>(n) * 4 * (kLength + 1);
  };
  for (uint32_t n = 0; n < kStreams; ++n) {
    codes.push_back(g.stream(kLength));
    append(codes.back(), 0x00008067, 4);  // ret
    program.add(place(n), codes.back(), kDataBytes);
  }
  std::vector<Outcome> outcomes;
  ASSERT_TRUE(program.make());
  ASSERT_EQ(program.run(outcomes), 0);
  ASSERT_EQ(outcomes.size(), kStreams);
  for (uint32_t n = 0; n < kStreams && !HasFailure(); ++n) {
    SCOPED_TRACE(format("stream {} of seed {}", n, seed + 1));
    const auto image = image_of(*memory, place(n), codes[n]);
    Core core = start(*image);
    std::copy(std::begin(x), std::end(x), core.x.begin());
    std::copy(std::begin(f), std::end(f), core.f.begin());
    std::memcpy(memory->host(data_at), bytes.data(), kDataBytes);
    while (interpret(core, 1000) == Stop::slice) {
    }
    ASSERT_EQ(core.trap.text, "");
    const Outcome& expected = outcomes[n];
    for (uint32_t r = 2; r < 32; ++r) EXPECT_EQ(core.x[r], expected.x[r]) << "x" << r;
    for (uint32_t r = 0; r < 32; ++r) EXPECT_EQ(core.f[r], expected.f[r]) << "f" << r;
    EXPECT_EQ(core.float_flags | core.rounding << 5, expected.float_state);
    EXPECT_EQ(std::memcmp(memory->host(data_at), expected.data.data(), kDataBytes), 0);
  }
}

TEST_F(QemuTest, what_traps_here_is_a_signal_there) {
  struct {
    const char* what;
    uint32_t word;
    TrapKind kind;
    int signal;
  } const ends[] = {
      {"ebreak", instruction("ebreak").encode({}), TrapKind::breakpoint, SIGTRAP},
      {"c.ebreak", instruction("c.ebreak").encode({}), TrapKind::breakpoint, SIGTRAP},
      {"zeros", 0x00000000, TrapKind::illegal_instruction, SIGILL},
      {"ones", 0xffffffff, TrapKind::illegal_instruction, SIGILL},
      {"c.jr x0", 0x8002, TrapKind::illegal_instruction, SIGILL},
      {"a fifth rounding mode", instruction("fadd.s").encode({.rounding = 5}),
       TrapKind::illegal_instruction, SIGILL},
      {"a write of cycle", instruction("csrrw").encode({.csr = 0xc00}),
       TrapKind::illegal_instruction, SIGILL},
      {"a load from address 0", instruction("lw").encode({}), TrapKind::bad_address, SIGSEGV},
  };
  constexpr uint32_t kSize = 8;
  QemuProgram program(code_at, data_at, kDataBytes);
  program.start_with(first_x, first_f, {0, 0, 0, 0});
  uint32_t at = code_at + kBeforeStreams;
  for (const auto& end : ends) {
    std::vector<uint8_t> code;
    append(code, end.word, 4);
    append(code, 0x00008067, 4);  // ret
    program.add(at, code, 4);
    at += kSize;
  }
  ASSERT_TRUE(program.make());
  for (size_t n = 0; n < std::size(ends); ++n) {
    SCOPED_TRACE(ends[n].what);
    std::vector<Outcome> outcomes;
    EXPECT_EQ(program.run(outcomes, n), ends[n].signal);
    EXPECT_TRUE(outcomes.empty());
    std::vector<uint8_t> code;
    append(code, ends[n].word, 4);
    const auto image = image_of(*memory, code_at, code);
    Core core = start(*image);
    EXPECT_EQ(interpret(core, 10), Stop::trap);
    EXPECT_STREQ(name_of(core.trap.kind), name_of(ends[n].kind)) << core.trap.text;
    EXPECT_EQ(core.pc, code_at);
  }
}

}  // namespace
}  // namespace anynpu::npc
