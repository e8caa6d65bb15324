// SPDX-License-Identifier: Apache-2.0
// Whole C++ programs on the device, at -O0 and -O2, against the same computation on the host.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>

#include "npc/kernel_for_test.h"
#include "tensor/half.h"

namespace anynpu::npc {
namespace {

class ProgramTest : public KernelTest, public testing::WithParamInterface<const char*> {};

TEST_P(ProgramTest, sorting_with_recursion_and_function_pointers) {
  load(R"(
    typedef bool (*Less)(int, int);
    static bool up(int a, int b) { return a < b; }
    static bool down(int a, int b) { return a > b; }
    static Less orders[] = {up, down};
    static void sort(int* a, int low, int high, Less less) {
      if (low >= high) return;
      int pivot = a[(low + high) / 2], i = low, j = high;
      while (i <= j) {
        while (less(a[i], pivot)) ++i;
        while (less(pivot, a[j])) --j;
        if (i <= j) { int t = a[i]; a[i] = a[j]; a[j] = t; ++i; --j; }
      }
      sort(a, low, j, less);
      sort(a, i, high, less);
    }
    extern "C" void order(int* all, int count) {
      sort(all + CoreID * count, 0, count - 1, orders[CoreID & 1]);
    })",
       GetParam());
  std::mt19937 random(3);
  std::vector<uint32_t> values(8 * 500);
  for (auto& v : values) v = random();
  const uint32_t at = device_words(values);
  const Status status = run("order", {at, 500});
  ASSERT_TRUE(status.ok()) << status.to_string();
  auto* begin = reinterpret_cast<int32_t*>(values.data());
  for (int core = 0; core < 8; ++core) {
    std::sort(begin + core * 500, begin + core * 500 + 500,
              [core](int32_t a, int32_t b) { return core & 1 ? a > b : a < b; });
  }
  EXPECT_EQ(words_at(at, values.size()), values);
}

TEST_P(ProgramTest, virtual_calls_static_objects_and_switch_tables) {
  load(R"(
    struct Shape { virtual int area() const = 0; virtual ~Shape() {} };
    struct Square : Shape { int side; Square(int s) : side(s) {} int area() const override { return side * side; } };
    struct Circle : Shape { int r; Circle(int s) : r(s) {} int area() const override { return 3 * r * r; } };
    Square square(4);
    Circle circle(5);
    static const char* name(int kind) {
      switch (kind) {
        case 0: return "zero"; case 1: return "one"; case 2: return "two"; case 3: return "three";
        case 4: return "four"; case 5: return "five"; case 6: return "six"; default: return "many";
      }
    }
    static int length(const char* text) { int n = 0; while (text[n]) ++n; return n; }
    extern "C" void shapes(int* out) {
      const Shape* list[] = {&square, &circle};
      out[CoreID] = list[CoreID & 1]->area() * 100 + length(name(CoreID));
    })",
       GetParam());
  const uint32_t out = device_words(std::vector<uint32_t>(8));
  const Status status = run("shapes", {out});
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(words_at(out, 8),
            (std::vector<uint32_t>{1604, 7503, 1603, 7505, 1604, 7504, 1603, 7504}));
}

TEST_P(ProgramTest, division_of_64_bits_and_doubles_are_exact) {
  load(R"(
    extern "C" void wide(const long long* in, long long* out, double* reals, int count) {
      if (CoreID) return;
      for (int i = 0; i + 1 < count; ++i) {
        long long a = in[i], b = in[i + 1];
        out[6 * i] = a / b; out[6 * i + 1] = a % b; out[6 * i + 2] = a * b;
        out[6 * i + 3] = (unsigned long long)a / (unsigned long long)b;
        out[6 * i + 4] = a >> (b & 63); out[6 * i + 5] = (unsigned long long)a << (a & 63);
        reals[2 * i] = (double)a / (double)b + 0.5;
        reals[2 * i + 1] = (double)(float)a * 3.0 < (double)b ? (double)(long long)((double)b * 0.25) : -1.0;
      }
    })",
       GetParam());
  std::mt19937_64 random(5);
  std::vector<int64_t> in(64);
  for (auto& v : in) v = static_cast<int64_t>(random() >> (random() % 60));
  in[3] = -in[3], in[9] = -in[9], in[10] = -1;
  std::vector<uint32_t> words(in.size() * 2);
  std::memcpy(words.data(), in.data(), in.size() * 8);
  const uint32_t at = device_words(words), out = device_words(std::vector<uint32_t>(64 * 12)),
                 reals = device_words(std::vector<uint32_t>(64 * 4));
  const Status status = run("wide", {at, out, reals, 64}, 1);
  ASSERT_TRUE(status.ok()) << status.to_string();
  std::vector<int64_t> got(63 * 6);
  std::vector<double> got_reals(63 * 2);
  ASSERT_TRUE(cluster->read(out, got.data(), got.size() * 8).ok());
  ASSERT_TRUE(cluster->read(reals, got_reals.data(), got_reals.size() * 8).ok());
  for (size_t i = 0; i + 1 < in.size(); ++i) {
    const int64_t a = in[i], b = in[i + 1];
    const auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
    EXPECT_EQ(got[6 * i], a / b);
    EXPECT_EQ(got[6 * i + 1], a % b);
    EXPECT_EQ(got[6 * i + 2], static_cast<int64_t>(ua * ub));
    EXPECT_EQ(got[6 * i + 3], static_cast<int64_t>(ua / ub));
    EXPECT_EQ(got[6 * i + 4], a >> (b & 63));
    EXPECT_EQ(got[6 * i + 5], static_cast<int64_t>(ua << (a & 63)));
    EXPECT_EQ(got_reals[2 * i], static_cast<double>(a) / static_cast<double>(b) + 0.5);
    const bool small = static_cast<double>(static_cast<float>(a)) * 3.0 < static_cast<double>(b);
    EXPECT_EQ(
        got_reals[2 * i + 1],
        small ? static_cast<double>(static_cast<int64_t>(static_cast<double>(b) * 0.25)) : -1.0);
  }
}

TEST_P(ProgramTest, strings_and_printf_formats) {
  load(R"(#include <string.h>
    extern "C" void hello(int value) {
      if (CoreID != 0) return;
      char text[64];
      strcpy(text, "NPC");
      strcat(text, " core");
      printf("%s %d|%5d|%-5d|%05d|%x|%#X|%u|%c|%%\n", text, CoreID, value, value, value, value, value, -value,
             'z');
      printf("%.3f|%10.2e|%g|%lld|%llx|%hhd|%*d|%.*s\n", 3.14159, 1234.5, 0.1f, -5000000000ll,
             0x123456789abcull, 300, 6, 42, 2, text);
      int n = snprintf(text, 8, "%d%d", 12345, 67890);
      printf("%s %d %d %d\n", text, n, strcmp("abc", "abd") < 0, (int)strlen(text));
    })",
       GetParam());
  const Status status = run("hello", {255});
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(printed,
            "NPC core 0|  255|255  |00255|ff|0XFF|4294967041|z|%\n"
            "3.142|  1.23e+03|0.1|-5000000000|123456789abc|44|    42|NP\n"
            "1234567 10 1 7\n");
}

TEST_P(ProgramTest, half_arithmetic_rounds_once_per_operation) {
  load(R"(
    extern "C" void axpy(__fp16 a, const __fp16* x, const __fp16* y, __fp16* out, int count) {
      for (int i = CoreID; i < count; i += CoreNum) {
        volatile __fp16 product = a * x[i];
        out[i] = product + y[i];
      }
    })",
       GetParam());
  std::mt19937 random(11);
  constexpr uint32_t kCount = 1000;
  std::vector<F16> x(kCount), y(kCount), out(kCount);
  for (uint32_t i = 0; i < kCount; ++i) {
    x[i] = to_f16(static_cast<float>(random() % 2000) / 64 - 15);
    y[i] = to_f16(static_cast<float>(random() % 4000) / 128 - 12);
  }
  const uint32_t dx = device_words(std::vector<uint32_t>(kCount / 2)),
                 dy = device_words(std::vector<uint32_t>(kCount / 2)),
                 to = device_words(std::vector<uint32_t>(kCount / 2));
  ASSERT_TRUE(cluster->write(dx, x.data(), kCount * 2).ok());
  ASSERT_TRUE(cluster->write(dy, y.data(), kCount * 2).ok());
  const F16 a = to_f16(1.7f);
  const Status status = run("axpy", {a.bits, dx, dy, to, kCount});
  ASSERT_TRUE(status.ok()) << status.to_string();
  ASSERT_TRUE(cluster->read(to, out.data(), kCount * 2).ok());
  for (uint32_t i = 0; i < kCount; ++i) {
    const F16 product = to_f16(to_float(a) * to_float(x[i]));
    EXPECT_EQ(out[i].bits, to_f16(to_float(product) + to_float(y[i])).bits) << i;
  }
}

TEST_P(ProgramTest, each_core_has_its_own_local_and_thread_data) {
  load(R"(
    __local__ int mine[4] = {1, 2, 3, 4};
    __thread int own = 10;
    __mutable__ int launches;
    extern "C" void touch(int* out) {
      mine[0] += CoreID;
      own += CoreID;
      sync();
      out[CoreID] = mine[0] * 1000 + own;
      if (CoreID == 0) out[8] = ++launches;
    })",
       GetParam());
  const uint32_t out = device_words(std::vector<uint32_t>(9));
  for (uint32_t round = 1; round <= 2; ++round) {
    const Status status = run("touch", {out});
    ASSERT_TRUE(status.ok()) << status.to_string();
    const auto got = words_at(out, 9);
    for (uint32_t core = 0; core < 8; ++core) EXPECT_EQ(got[core], (1 + core) * 1000 + 10 + core);
    EXPECT_EQ(got[8], round);
  }
}

INSTANTIATE_TEST_SUITE_P(levels, ProgramTest, testing::Values("-O0", "-O2"));

}  // namespace
}  // namespace anynpu::npc
