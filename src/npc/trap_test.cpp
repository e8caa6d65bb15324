// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "npc/kernel_for_test.h"

namespace anynpu::npc {
namespace {

using testing::HasSubstr;

class TrapTest : public KernelTest {
 protected:
  // The launch fails with task_failed and its report holds `text`.
  void expect_trap(const std::string& kernel, std::vector<uint32_t> args, const std::string& text,
                   uint64_t budget = 0) {
    const Status status = run(kernel, std::move(args), 8, budget);
    EXPECT_EQ(status.code(), Code::task_failed) << status.to_string();
    EXPECT_THAT(stats.trap_report, HasSubstr(text));
  }
};

TEST_F(TrapTest, a_bad_address_names_the_core_and_the_call_stack_with_lines) {
  load(
      "#include <npurt.h>\n"
      "__attribute__((noinline)) void inner(int* at) {\n"
      "  *at = 1;\n"
      "}\n"
      "extern \"C\" void outer(int* at) {\n"
      "  if (CoreID == 3) inner(at);\n"
      "  sync();\n"
      "}\n",
      "-O1 -g");
  expect_trap("outer", {8}, "core 3: bad address: store of 4 bytes at 0x8: a null pointer");
  EXPECT_THAT(stats.trap_report, HasSubstr("in inner(int*) at kernel.cc:3"));
  // The compiler may turn the call into a jump; at -O0 the whole stack is there.
  load(
      "extern \"C\" __attribute__((noinline)) int inner(int* at) {\n"
      "  return *at;\n"
      "}\n"
      "extern \"C\" void outer(int* at) {\n"
      "  inner(at);\n"
      "}\n",
      "-O0 -g");
  expect_trap("outer", {0xC1000000}, "high memory is reached by copies only");
  EXPECT_THAT(stats.trap_report, HasSubstr("in inner at kernel.cc:2"));
  EXPECT_THAT(stats.trap_report, HasSubstr("in outer at kernel.cc:5"));
}

TEST_F(TrapTest, every_kind_of_trap_says_what_happened) {
  load(R"k(
    int deep(volatile int n) { volatile int page[64]; page[0] = n; return deep(n + 1) + page[0]; }
    const int table[4] = {1, 2, 3, 4};
    extern "C" {
    void overflow(int* out) { *out = deep(0); }
    void stop() { abort(); }
    void check(int x) { assert(x == 5); }
    void leave(int code) { exit(code); }
    void illegal() { __asm__ volatile(".word 0xffffffff"); }
    void trap() { __builtin_trap(); }
    void forever() { for (;;) __asm__ volatile(""); }
    void jump(void (*to)()) { to(); }
    void constant() { *(volatile int*)table = 1; }
    void code() { *(volatile int*)(void*)code = 1; }
    void atomic(int* at) { __asm__ volatile("amoadd.w t0, t0, (%0)" : : "r"(at) : "t0", "memory"); }
    void service() { __asm__ volatile("li a7, 999\necall" : : : "a0", "a7"); }
    void mode() { __asm__ volatile("csrwi frm, 5\nfadd.s ft0, ft0, ft0"); }
    void csr() { __asm__ volatile("csrr t0, 0x300" : : : "t0"); }
    void write_csr() { __asm__ volatile("csrw 0xf14, t0"); }
    void past_local() { *(volatile int*)0xF8140000 = 1; }
    void freed(int* at) { *at = 1; }
    }
  )k");
  const uint32_t word = device_words({0});
  expect_trap("overflow", {word}, "stack overflow: store");
  expect_trap("stop", {}, "abort: the kernel called abort() (code 128)");
  expect_trap("check", {4}, "assertion 'x == 5' failed (code 128)");
  expect_trap("leave", {7}, "the kernel called exit(7)");
  expect_trap("illegal", {}, "illegal instruction: bits 0xffffffff");
  expect_trap("trap", {}, "core 0:");
  expect_trap("forever", {}, "instruction budget used up", 1000000);
  expect_trap("jump", {0x20}, "jump to 0x20, outside the code");
  expect_trap("jump", {word}, "outside the code");
  expect_trap("constant", {}, "read-only");
  expect_trap("code", {}, "read-only");
  expect_trap("atomic", {word + 2}, "misaligned atomic access");
  expect_trap("service", {}, "service 999, which is not there");
  expect_trap("mode", {}, "rounding mode 5");
  expect_trap("csr", {}, "no control register 0x300");
  expect_trap("write_csr", {}, "no control register 0xf14");
  expect_trap("past_local", {}, "bad address");
  const uint32_t gone = device_words({0});
  ASSERT_TRUE(cluster->release(gone).ok());
  expect_trap("freed", {gone}, "not allocated, freed");
  // The cluster goes on as before.
  EXPECT_TRUE(run("leave", {0}).ok());
  EXPECT_TRUE(run("check", {5}).ok());
  EXPECT_EQ(stats.trap_report, "");
}

TEST_F(TrapTest, inlined_functions_are_frames_of_the_call_stack) {
  load(
      "static inline __attribute__((always_inline)) void innermost(int* at) {\n"
      "  *at = 1;\n"
      "}\n"
      "static inline __attribute__((always_inline)) void between(int* at) {\n"
      "  innermost(at);\n"
      "}\n"
      "extern \"C\" void outer(int* at) {\n"
      "  between(at);\n"
      "}\n",
      "-O1 -g");
  expect_trap("outer", {8}, "in innermost(int*) (inlined) at kernel.cc:2");
  EXPECT_THAT(stats.trap_report, HasSubstr("in between(int*) (inlined) at kernel.cc:5"));
  EXPECT_THAT(stats.trap_report, HasSubstr("in outer at kernel.cc:8"));
}

TEST_F(TrapTest, the_number_of_parameters_is_checked_unless_it_was_left_out) {
  const char* source = R"(
    extern "C" void two(int* out, float x) { if (CoreID == 0) *out = (int)x; }
    extern "C" void wide(long long x, int* out) { *out = (int)x; })";
  load(source, "-O2");
  const uint32_t out = device_words({0});
  EXPECT_TRUE(run("two", {out, 0x40000000}).ok());
  const Status few = run("two", {out});
  EXPECT_EQ(few.code(), Code::invalid_argument);
  EXPECT_THAT(few.to_string(), HasSubstr("kernel 'two' takes 2 parameters, 1 were given"));
  EXPECT_EQ(run("two", {out, 1, 2}).code(), Code::invalid_argument);
  EXPECT_THAT(run("wide", {1, 2, out}).to_string(), HasSubstr("'x' of kernel 'wide' has 8 bytes"));
  load(source, "-O2 -g0");  // nothing is known: the call is taken as it is
  EXPECT_TRUE(run("two", {out, 0x40000000, 7}).ok());
}

TEST_F(TrapTest, a_trap_of_one_core_ends_those_that_wait_in_sync) {
  load(R"(extern "C" void wait(int* nowhere) { if (CoreID == 7) *nowhere = 1; sync(); })");
  expect_trap("wait", {0}, "core 7: bad address");
}

TEST_F(TrapTest, cores_that_return_early_do_not_hold_up_a_sync) {
  load(R"(extern "C" void some(int* out) { if (CoreID > 3) return; sync(); out[CoreID] = 1; })");
  const uint32_t out = device_words(std::vector<uint32_t>(8));
  ASSERT_TRUE(run("some", {out}).ok());
  EXPECT_EQ(words_at(out, 8), (std::vector<uint32_t>{1, 1, 1, 1, 0, 0, 0, 0}));
}

}  // namespace
}  // namespace anynpu::npc
