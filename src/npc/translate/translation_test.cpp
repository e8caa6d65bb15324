// SPDX-License-Identifier: Apache-2.0
// The same kernels interpreted and translated: results, counters and traps are the same.
#include "npc/translate/translation.h"

#include <gmock/gmock.h>
#include <stdlib.h>

#include "npc/translate/code_cache.h"
#include "npc/translate/jit_api.h"
#include "npc/translate/plugin.h"
#include "npc/translate/translation_for_test.h"

namespace anynpu::npc {
namespace {

using testing::HasSubstr;

TEST_F(TranslationTest, results_and_all_counters_are_those_of_the_interpreter) {
  const auto object = compile_kernel(R"k(
    #include <string.h>
    typedef unsigned u;
    __shared__ u sums[8];
    __local__ u own[64];
    __attribute__((noinline)) static u fib(u n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
    static u add(u x) { return x + 1; }
    static u twice(u x) { return x * 2; }
    __attribute__((noinline)) static u many(u a, u b, u c, u d, u e, u f, u g, u h, u i, u j) {
      return a - b * c + d / (e | 1) - f % (g | 1) + h * i - j;
    }
    u (*volatile steps[2])(u) = {add, twice};
    u (*volatile wide)(u, u, u, u, u, u, u, u, u, u) = many;
    extern "C" {
    void loops(u* data, u n) {
      for (u i = CoreID; i < n; i += CoreNum) data[i] = data[i] * 3 + i;
      for (u* p = data + 2048 + CoreID * 64; p != data + 2048 + CoreID * 64 + 64; ++p) *p ^= n;
      u best = 0;
      for (u i = 0; i < 512; ++i) if (data[2048 + CoreID * 64 + i % 64] % 7 == 3) ++best;
      data[3000 + CoreID] = best;
    }
    void floats(u* data, u n) {
      float* f = (float*)data;
      float s = 0;
      for (u i = 0; i < 256; ++i) f[i + CoreID * 256] = (float)(i + CoreID) * 0.25f;
      for (u i = 0; i < 256; ++i) { f[i + CoreID * 256] = f[i + CoreID * 256] * 1.5f + 0.5f; s += f[i + CoreID * 256]; }
      f[2048 + CoreID] = s / 3.0f;
      float root;
      __asm__("fsqrt.s %0, %1" : "=f"(root) : "f"(-s));
      f[2056 + CoreID] = root;
      data[2064 + CoreID] = (u)(int)(s * 1e30f);
      _Float16* h = (_Float16*)(data + 2100 + CoreID * 64);
      for (u i = 0; i < 64; ++i) h[i] = (_Float16)(i * 0.1f);
      for (u i = 1; i < 64; ++i) h[i] = h[i] * h[i - 1] + (_Float16)0.3f;
    }
    void calls(u* data, u n) {
      u x = n;
      for (u i = 0; i < 100; ++i) x = steps[(i ^ CoreID) & 1](x) & 0xffff;
      data[CoreID] = x + fib(9 + CoreID);
      data[8 + CoreID] = wide(x, 2, 3, 4, 5, x, 7, 8, 9, 10);
    }
    void together(u* data, u n) {
      for (u round = 0; round < 5; ++round) {
        sums[CoreID] = data[CoreID] + round;
        sync();
        u all = 0;
        for (u i = 0; i < CoreNum; ++i) all += sums[i];
        sync();
        data[CoreID] = all;
        __atomic_fetch_add(&data[100], CoreID, __ATOMIC_SEQ_CST);
      }
      for (u i = 0; i < 64; ++i) own[i] = i + CoreID;
      sync();
      memcpy(data + 128 + 64 * CoreID, own, 256);
      if (CoreID == 0) printf("%d %s\n", (int)n, "cores met");
    }
    void strings(u* data, u n) {
      char text[64];
      snprintf(text, sizeof text, "core %d of %u", CoreID, n);
      u length = 0;
      while (text[length]) ++length;
      switch (length % 7) {
        case 0: data[CoreID] = 11; break; case 1: data[CoreID] = 22; break;
        case 2: data[CoreID] = 34; break; case 3: data[CoreID] = 45; break;
        case 4: data[CoreID] = 56; break; case 5: data[CoreID] = 68; break;
        default: data[CoreID] = 79;
      }
    }
    }
  )k");
  for (const char* kernel : {"loops", "floats", "calls", "together", "strings"}) {
    expect_same(object, kernel, {1000}, 8);
    expect_same(object, kernel, {333}, 3);
  }
}

// A compiler may pass what it likes to functions that only their own file calls.
TEST_F(TranslationTest, how_far_it_is_is_told_step_by_step_up_to_the_end) {
  load_interpreted(compile_kernel(R"k(
    __attribute__((noinline)) static int twice(int x) { return x * 2; }
    extern "C" void one(int* data, int n) { for (int i = 0; i < n; ++i) data[i] = twice(data[i]); }
    extern "C" void two(int* data, int n) { for (int i = 0; i < n; ++i) data[i] += n; }
  )k"));
  const Program program = find_program(module->image());
  std::vector<uint64_t> steps;
  uint64_t all = 0;
  std::string why;
  const auto on_step = [&](uint64_t done, uint64_t total) {
    steps.push_back(done);
    all = total;
  };
  ASSERT_NE(translator(why)->compile(program, on_step, why), "") << why;
  ASSERT_GE(all, 8u) << "four steps for each of two kernels";
  EXPECT_GE(steps.size(), all / 2);
  for (size_t i = 0; i < steps.size(); ++i) EXPECT_EQ(steps[i], i + 1);
  EXPECT_LE(steps.back(), all);
}

TEST_F(TranslationTest, arguments_and_results_of_static_functions_are_in_any_register) {
  const auto object = compile_kernel(R"k(
    typedef unsigned u;
    #define OWN __attribute__((noinline)) static
    OWN float curve(float a, float b, float c) { return a > 3.0f ? a * b + c : curve(a + 1.0f, c, b) - a; }
    OWN _Float16 half(_Float16 a, float b) { return a * (_Float16)b + (_Float16)1.5f; }
    OWN float mixed(u a, float b, u c, float d, float* out) { out[0] = b - d; return b * (float)a + d * (float)c; }
    OWN u many(u a, u b, u c, u d, u e, u f, u g, u h, u i, u j, u k) { return a + 2 * b + 3 * c + 5 * d - e * f + g / (h | 1) + i % (j | 1) - k; }
    struct Pair { float first, second; };
    OWN Pair both(float a, float b) { return {a + b, a - b}; }
    OWN float last(float a, float b) { return mixed(3, a, 4, b, (float*)&a) + a; }
    OWN void nothing(float* to, float value) { *to = value; }
    extern "C" void run(u* data, u n) {
      float* f = (float*)data + CoreID * 64;
      for (u i = 0; i < n; ++i) {
        const float x = (float)(i + CoreID) * 0.75f - 4.0f;
        f[i] = curve(x, x * 2, 0.5f) + curve(0.25f, x, f[i + 32]);
        f[i] += (float)half((_Float16)x, 0.3f);
        f[i] -= mixed(i, x, n, 0.125f, f + 63);
        const Pair p = both(x, f[i]), q = both(p.second, f[i + 32]);
        nothing(f + 62, p.first * q.second + last(q.first, x));
        data[1024 + CoreID * 64 + i] = many(i, n, 3, data[CoreID * 64 + i], 5, CoreID, 7, i, 9, 10, n * 3) + many(n, 1, i, 2, 3, 4, 5, 6, 7, 8, 9);
      }
    }
  )k");
  for (const uint32_t n : {0u, 1u, 17u}) expect_same(object, "run", {n});
}

TEST_F(TranslationTest, every_form_of_call_and_jump_leads_to_the_same_place) {
  const auto object = compile_kernel(R"k(
    extern "C" __attribute__((noinline)) int plus(int v) { return v + 1; }
    extern "C" __attribute__((noinline)) int thrice(int v) { return 3 * v; }
    extern "C" { int (*volatile table[])(int) = {plus, thrice}; }
    // Keeps a0, calls, stores what came back, and calls the next with it.
    #define KEEP(n) "sw a0, " #n "(s0)\n"
    #define WIDE(text) ".option push\n.option norvc\n" text "\n.option pop\n"
    #define CALLS(leave)                                                                    \
      "addi sp, sp, -16\n sw ra, 12(sp)\n sw s0, 8(sp)\n mv s0, a0\n mv a0, a1\n"      \
      WIDE("jal ra, plus") KEEP(0) "call thrice\n" KEEP(4) "c.jal 2f\n" KEEP(8)           \
      "lui a5, %hi(table)\n lw a5, %lo(table)(a5)\n" WIDE("jalr ra, 0(a5)") KEEP(12)      \
      "lui a5, %hi(table + 4)\n lw a5, %lo(table + 4)(a5)\n c.jalr a5\n" KEEP(16)        \
      "lui a5, %hi(thrice)\n" WIDE("jalr ra, %lo(thrice)(a5)") KEEP(20)                    \
      "c.j 1f\n .word 0\n 1: j 3f\n .word 0\n"                                          \
      "2: addi a0, a0, 7\n" WIDE("jalr x0, 0(ra)")                                         \
      "3: lui a5, %hi(table)\n lw a5, %lo(table)(a5)\n"                                   \
      "lw ra, 12(sp)\n lw s0, 8(sp)\n addi sp, sp, 16\n" leave
    extern "C" __attribute__((naked)) int narrow(int*, int) { __asm__(CALLS("c.jr a5")); }
    extern "C" __attribute__((naked)) int wide(int*, int) { __asm__(CALLS(WIDE("jalr x0, 0(a5)"))); }
    extern "C" void calls(int* data, int n) { data[6] = narrow(data, n); data[13] = wide(data + 7, n); }
  )k");
  expect_same(object, "calls", {5}, 1);
  expect_same(object, "calls", {0x7fffffff}, 1);
  load_translated(object);
  const uint32_t at = device_words(std::vector<uint32_t>(14));
  ASSERT_TRUE(run("calls", {at, 5}, 1).ok());
  EXPECT_EQ(words_at(at, 14), (std::vector<uint32_t>{6, 18, 25, 26, 78, 234, 235,  //
                                                     6, 18, 25, 26, 78, 234, 235}));
}

TEST_F(TranslationTest, traps_have_the_same_report_with_the_same_call_stack) {
  const auto object = compile_kernel(R"k(
    int deep(volatile int n) { volatile int page[64]; page[0] = n; return deep(n + 1) + page[0]; }
    const int table[4] = {1, 2, 3, 4};
    __attribute__((noinline)) int inner(int* at) { return at[0] + 1; }
    __attribute__((noinline)) int middle(int* at, int n) { return inner(at + n) * 2; }
    __attribute__((noinline)) static int dig(int n, int* at) { return n < 1 ? *at : dig(n - 1, at) * dig(n - 2, at + 1) + n; }
    static inline int small(int* at) { return *(volatile int*)at; }
    extern "C" {
    void overflow(int* out) { *out = deep(0); }
    void stop(int* out) { abort(); }
    void check(int* out, int x) { assert(x == 5); }
    void leave(int* out, int code) { exit(code); }
    void illegal(int* out) { __asm__ volatile(".word 0xffffffff"); }
    void trap(int* out) { __builtin_trap(); }
    void jump(int* out, void (*to)()) { to(); *out = 1; }
    void constant(int* out) { *(volatile int*)table = 1; }
    void service(int* out) { __asm__ volatile("li a7, 999\necall" : : : "a0", "a7"); }
    void csr(int* out) { __asm__ volatile("csrr t0, 0x300" : : : "t0"); }
    void past_local(int* out) { *(volatile int*)0xF8140000 = 1; }
    void high(int* out) { *out = *(volatile int*)0xC1000000; }
    void nested(int* out, int* at) { *out = middle(at, 2); }
    void digging(int* out, int* at) { *out = dig(7, at); }
    void inlined(int* out, int* at) { *out = small(at) + 1; }
    void half(int* out, short* at) { *out = *(volatile short*)at; }
    }
  )k",
                                     "-O2 -g");
  expect_same(object, "overflow", {}, 1);
  expect_same(object, "stop", {}, 1);
  expect_same(object, "check", {4}, 1);
  expect_same(object, "leave", {7}, 1);
  expect_same(object, "illegal", {}, 1);
  expect_same(object, "trap", {}, 1);
  expect_same(object, "jump", {0x20}, 1);
  expect_same(object, "constant", {}, 1);
  expect_same(object, "service", {}, 1);
  expect_same(object, "csr", {}, 1);
  expect_same(object, "past_local", {}, 1);
  expect_same(object, "high", {}, 1);
  expect_same(object, "nested", {16}, 1);
  expect_same(object, "digging", {16}, 1);
  expect_same(object, "inlined", {0xffffff00}, 1);
  expect_same(object, "half", {0x102}, 1);
}

TEST_F(TranslationTest, the_budget_ends_loops_of_every_kind) {
  load_translated(compile_kernel(R"k(
    typedef unsigned u;
    extern "C" void counted(u* data, u n) { u x = 1; for (u i = 0; i < n; ++i) x = x * 5 + data[i & 15]; data[0] = x; }
    extern "C" void endless(u* data) { for (;;) __asm__ volatile(""); }
    static u fib(u n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
    extern "C" void recursion(u* data) { data[0] = fib(40); }
    extern "C" float expf(float);
    extern "C" void functions(u* data, u n) { float x = 1; for (u i = 0; i < n; ++i) x = expf(x) - 2; data[0] = (u)x; }
  )k"));
  const uint32_t data = device_words(std::vector<uint32_t>(16, 3));
  const std::vector<uint32_t> many{data, 100000000}, none{data};
  for (const auto& [kernel, args] :
       {std::pair{"counted", many}, {"endless", none}, {"recursion", none}, {"functions", many}}) {
    EXPECT_EQ(run(kernel, args, 1, 1000000).code(), Code::task_failed);
    EXPECT_THAT(stats.trap_report, HasSubstr("instruction budget used up"));
    EXPECT_LE(stats.cores[0].instructions, 1000100u);
    EXPECT_GE(stats.cores[0].instructions, 1000000u);
  }
  EXPECT_TRUE(run("counted", {data, 1000}, 2, 1000000).ok());
}

TEST_F(TranslationTest, cores_that_wait_for_a_flag_of_another_make_progress) {
  load_translated(compile_kernel(R"(
    extern "C" void relay(volatile int* turn, int rounds) {
      for (int r = 0; r < rounds; ++r) {
        while (*turn != r * CoreNum + CoreID) {}
        *turn = *turn + 1;
      }
    })"));
  const uint32_t turn = device_words({0});
  ASSERT_TRUE(run("relay", {turn, 3}).ok());
  EXPECT_EQ(words_at(turn, 1)[0], 24u);
}

TEST_F(TranslationTest, a_second_load_takes_the_code_from_the_cache_and_damage_is_noticed) {
  const auto object =
      compile_kernel("extern \"C\" void one(int* out) { out[CoreID] = 1 + CoreID; }");
  load_translated(object);
  EXPECT_FALSE(module->image().translation->from_cache());
  load_translated(object);
  EXPECT_TRUE(module->image().translation->from_cache());
  const auto file = *std::filesystem::directory_iterator(folder + "/npc");
  const auto bytes = std::filesystem::file_size(file);
  for (const size_t at : {size_t{0}, size_t{30}, size_t(bytes / 2), size_t(bytes - 1)}) {
    std::fstream damage(file.path(), std::ios::binary | std::ios::in | std::ios::out);
    damage.seekg(static_cast<std::streamoff>(at));
    const int byte = damage.get();
    damage.seekp(static_cast<std::streamoff>(at));
    damage.put(static_cast<char>(byte ^ 1));
    damage.close();
    load_translated(object);
    EXPECT_FALSE(module->image().translation->from_cache()) << at;
    load_translated(object);
    EXPECT_TRUE(module->image().translation->from_cache()) << at;
  }
  std::filesystem::resize_file(file.path(), bytes / 3);
  load_translated(object);
  EXPECT_FALSE(module->image().translation->from_cache());
  const uint32_t out = device_words(std::vector<uint32_t>(8));
  ASSERT_TRUE(run("one", {out}).ok());
  EXPECT_TRUE(stats.translated);
  EXPECT_EQ(words_at(out, 8), (std::vector<uint32_t>{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST_F(TranslationTest, cached_code_runs_wherever_the_module_lies) {
  const auto object = compile_kernel(R"(
    const int table[3] = {7, 8, 9};
    __device__ __mutable__ int calls;
    static int a(int x) { return x + table[0]; }
    static int b(int x) { return x * table[1]; }
    int (*volatile choice[])(int) = {a, b};
    extern "C" void both(int* out) { out[CoreID] = choice[CoreID & 1](CoreID) + table[2]; calls = 1; })");
  std::vector<std::shared_ptr<Module>> loaded;
  const uint32_t out = device_words(std::vector<uint32_t>(8));
  for (int i = 0; i < 3; ++i) {
    load_translated(object);
    loaded.push_back(module);
    EXPECT_EQ(module->image().translation->from_cache(), i > 0);
    ASSERT_TRUE(run("both", {out}).ok());
    EXPECT_TRUE(stats.translated);
    EXPECT_EQ(words_at(out, 8), (std::vector<uint32_t>{16, 17, 18, 33, 20, 49, 22, 65}));
  }
}

TEST_F(TranslationTest, code_outside_the_calling_convention_is_interpreted_and_says_why) {
  load_translated(compile_kernel(R"k(
    extern "C" void odd(int* out) { __asm__ volatile("mv s3, %0\n\tsw s3, 0(s3)" : : "r"(out) : "memory"); })k"));
  const uint32_t out = device_words({0});
  ASSERT_TRUE(run("odd", {out}, 1).ok());
  EXPECT_FALSE(stats.translated);
  EXPECT_EQ(words_at(out, 1)[0], out);
  EXPECT_THAT(module->image().translation->why_not(module->image().find_kernel("odd") -
                                                   module->image().code_base),
              HasSubstr("leaves with x19 changed"));
}

}  // namespace
}  // namespace anynpu::npc
