// SPDX-License-Identifier: Apache-2.0
// Floats, float functions and doubles of translated kernels have the bits that the interpreter
// gives.
#include "npc/translate/translation_for_test.h"

namespace anynpu::npc {
namespace {

// Translated code makes a result canonical only where its bits are seen: stored, moved, given a
// sign, passed on or carried around a loop to such a place.
TEST_F(TranslationTest, the_bits_of_nan_are_those_of_the_interpreter) {
  const auto object = compile_kernel(R"k(
    typedef unsigned u;
    static u bits(float f) { u b; __builtin_memcpy(&b, &f, 4); return b; }
    static float number(u b) { float f; __builtin_memcpy(&f, &b, 4); return f; }
    static float lesser(float a, float b) { float r; __asm__("fmin.s %0, %1, %2" : "=f"(r) : "f"(a), "f"(b)); return r; }
    __attribute__((noinline)) static float step(float a, float b) { return a * b - a; }
    extern "C" {
    void carried(u* data, u n) {
      float* in = (float*)data;
      float sum = number(0x7fa12345), product = number(0xffc00007), kept = in[CoreID], moved = kept;
      for (u i = 0; i < n; ++i) {
        const float x = in[CoreID * 64 + i];
        sum += x;
        product = product * x + sum;
        if (i % 3 == 0) kept = x; else if (i % 5 == 0) kept = x - sum;
        data[1024 + CoreID * 64 + i] = bits(sum);
        moved = i % 2 ? product : moved;
      }
      u* out = data + 2048 + CoreID * 16;
      out[0] = bits(sum); out[1] = bits(product); out[2] = bits(kept); out[3] = bits(moved);
      out[4] = bits(-sum); out[5] = bits(__builtin_fabsf(product)); out[6] = bits(__builtin_copysignf(sum, -1.0f));
      out[7] = bits(lesser(sum, product)); out[8] = bits(lesser(sum, 2.0f)); out[9] = sum != sum; out[10] = sum < product;
      out[11] = bits(step(sum, kept)); out[12] = (u)(int)product; out[13] = bits(number(0x7fa00001) + 0.0f);
    }
    void halves(u* data, u n) {
      _Float16* in = (_Float16*)data + CoreID * 64;
      _Float16 sum = in[0], product = in[1];
      for (u i = 0; i < n; ++i) { sum += in[i]; product = product * in[i] - sum; in[4096 + i] = product; }
      _Float16* out = (_Float16*)(data + 3072) + CoreID * 4;
      out[0] = sum; out[1] = product; out[2] = -sum; out[3] = (_Float16)(float)product;
    }
    }
  )k");
  for (const uint32_t n : {0u, 1u, 2u, 63u}) {
    expect_same(object, "carried", {n});
    expect_same(object, "halves", {n});
  }
}

TEST_F(TranslationTest, halves_give_the_bits_of_the_interpreter) {
  const auto object = compile_kernel(R"k(
    typedef unsigned u; typedef unsigned short s; typedef __fp16 H;
    __attribute__((noinline)) static void all(const H* x, const H* y, const H* z, H* r) {
      for (int i = 0; i < 128; ++i) r[i] = __builtin_fmaxf16(x[i], y[i]);
      for (int i = 0; i < 128; ++i) r[128 + i] = __builtin_fminf16(x[i], y[i]);
      for (int i = 0; i < 128; ++i) r[256 + i] = x[i] + y[i];
      for (int i = 0; i < 128; ++i) r[384 + i] = x[i] * y[i];
      for (int i = 0; i < 128; ++i) r[512 + i] = x[i] / y[i];
      for (int i = 0; i < 128; ++i) r[640 + i] = __builtin_fmaf16(x[i], y[i], z[i]);
      for (int i = 0; i < 128; ++i) r[768 + i] = x[i] > y[i] ? x[i] : -__builtin_fmaf16(y[i], z[i], -x[i]);
      for (int i = 0; i < 128; ++i) r[896 + i] = (H)((float)x[i] * 1.0009765625f) - (H)(int)z[i];
    }
    extern "C" void halves(u* data, u n) {
      const s odd[] = {0, 0x8000, 0x7c00, 0xfc00, 0x7e00, 0x7c01, 0xfe35, 0x0001, 0x83ff, 0x3c00, 0x7bff};
      s* x = (s*)(data + CoreID * 1000); s *y = x + 128, *z = y + 128, *r = z + 128;
      u h = 0, seed = CoreID;
      for (u round = CoreID; round < n; round += CoreNum) {
        for (u i = 0; i < 128; ++i) {
          seed = seed * 1664525u + 1013904223u;
          x[i] = (s)(round * 128 + i);
          y[i] = i % 8 ? (s)(seed >> 16) : odd[seed % 11];
          z[i] = i % 5 ? (s)(seed >> 3) : (s)(y[i] ^ 0x8400);
        }
        all((H*)x, (H*)y, (H*)z, (H*)r);
        for (u i = 0; i < 1024; ++i) h = h * 31 + r[i];
      }
      data[4000 + CoreID] = h;
    }
  )k");
  expect_same(object, "halves", {512}, 4);  // every half once as the first operand
}

TEST_F(TranslationTest, float_functions_give_the_bits_and_cycles_of_the_interpreter) {
  const std::string kernels = R"k(
    static float of(unsigned bits) { float value; __builtin_memcpy(&value, &bits, 4); return value; }
    extern "C" void functions(float* data, int n) {
      const unsigned odd[] = {0, 0x80000000u, 0x7f800000u, 0xff800000u, 0x7fc00000u, 0x7f800001u, 0xffc12345u, 1, 0x3f800000u, 0x42b17218u, 0xc2cff1b5u};
      float* out = data + 256 + CoreID * 400;
      for (int i = 0; i < n; ++i) {
        const float x = i < 11 ? of(odd[i]) : data[i + CoreID] , y = i < 22 ? of(odd[(i * 7) % 11]) : (float)i * 0.37f - 5;
        out[i * 9 + 0] = expf(y); out[i * 9 + 1] = logf(x); out[i * 9 + 2] = sinf(y); out[i * 9 + 3] = cosf(y);
        out[i * 9 + 4] = tanhf(x); out[i * 9 + 5] = powf(x, y); out[i * 9 + 6] = floorf(y * 1.7f); out[i * 9 + 7] = ceilf(x);
        out[i * 9 + 8] = floorf(x) + expf(-__builtin_fabsf(x));
      }
    }
    extern "C" void softmax(float* data, int n) {
      float* x = data + CoreID * 64; float most = -__builtin_inff(), sum = 0;
      for (int i = 0; i < n; ++i) { x[i] = (float)(i * 37 % 11) - CoreID; most = __builtin_fmaxf(most, x[i]); }
      for (int i = 0; i < n; ++i) { x[i] = expf(x[i] - most); sum += x[i]; }
      for (int i = 0; i < n; ++i) x[i] /= sum;
    }
    extern "C" void unknown(float* data, unsigned function) {
      register unsigned a0 __asm__("a0") = function; register unsigned a7 __asm__("a7") = 12;
      __asm__ volatile("ecall" : "+r"(a0) : "r"(a7));
      *(unsigned*)data = a0;
    }
    extern "C" void twice(float* data) {
      unsigned out;
      __asm__ volatile("li a7, 12\n li a0, 3\n lui a1, 0x40000\n li a2, 0\n ecall\n ecall\n mv %0, a0" : "=r"(out) : : "a0", "a1", "a2", "a7");
      *(unsigned*)data = out;
    }
    extern "C" void none(float* data) {
      __asm__ volatile("li a7, 12\n li a0, 8\n ecall" : : : "a0", "a1", "a7");
    }
  )k";
  const std::string of_library = R"k(
    extern "C" {
    float expf(float); float logf(float); float sinf(float); float cosf(float);
    float tanhf(float); float powf(float, float); float floorf(float); float ceilf(float);
    })k";
  for (const std::string& declared : {std::string("#include <math.h>\n"), of_library}) {
    const auto object = compile_kernel(declared + kernels);
    for (const uint32_t n : {0u, 11u, 44u}) expect_same(object, "functions", {n});
    for (const uint32_t n : {1u, 50u}) expect_same(object, "softmax", {n});
    for (const uint32_t f : {0u, 5u, 7u, 8u, ~0u}) expect_same(object, "unknown", {f}, 1);
    expect_same(object, "twice", {}, 1);  // the second ecall asks for what the first returned
    expect_same(object, "none", {}, 1);
  }
}

TEST_F(TranslationTest, doubles_give_the_bits_and_cycles_of_the_interpreter) {
  const auto object = compile_kernel(R"k(
    typedef unsigned u; typedef long long i64; typedef unsigned long long u64;
    static double of(u64 bits) { double value; __builtin_memcpy(&value, &bits, 8); return value; }
    extern "C" void doubles(u* data, int n) {
      const u64 odd[] = {0, 1ull << 63, 0x7ff0000000000000u, 0xfff0000000000000u, 0x7ff8000000000000u, 0x7ff0000000000001u,
                         0xfff8000012345678u, 1, 0x3ff0000000000000u, 0xbff8000000000000u, 0x41dfffffffc00000u, 0x41e0000000000000u,
                         0xc1e0000000200000u, 0x41efffffffe00000u, 0x43e0000000000000u, 0xc3e0000000000000u, 0x43f0000000000000u, 0x47efffffefffffffu};
      u* out = data + 64 + CoreID * 400;
      u h = 0;
      for (int i = 0; i < n; ++i) {
        const double a = i < 324 ? of(odd[i % 18]) : (double)data[i & 63], b = i < 324 ? of(odd[i / 18]) : (double)(int)data[i + 1 & 63];
        const double all[] = {a + b, a - b, a * b, a / b, (double)(float)a, (double)(i64)data[i & 63] + (double)((u64)data[i & 31] << 32)};
        for (int k = 0; k < 6; ++k) { u64 bits; __builtin_memcpy(&bits, &all[k], 8); h = h * 31 + (u)bits; h = h * 31 + (u)(bits >> 32); }
        h = h * 31 + (a < b) + 2 * (a > b) + 4 * (a <= b) + 8 * (a >= b) + 16 * (a == b) + 32 * (a != b);
        h = h * 31 + (u)(int)a; h = h * 31 + (u)b; h = h * 31 + (u)(i64)a; h = h * 31 + (u)((i64)a >> 32);
        h = h * 31 + (u)((u64)b >> 32); h = h * 31 + (u)(u64)b;
        const float f = (float)a, g = (float)(i64)b + (float)(u64)b;
        u bits; __builtin_memcpy(&bits, &g, 4); h = h * 31 + bits; h = h * 31 + (u)((i64)f >> 32) + (u)((u64)f >> 32);
        const __fp16 half = (__fp16)b; unsigned short s; __builtin_memcpy(&s, &half, 2); h = h * 31 + s + (u)(int)(double)half;
        out[i % 400] = h;
      }
    }
    extern "C" void sum(u* data, int n) {
      double total = 0, last = 0;
      for (int i = 0; i < n; ++i) { last = (double)data[i] * 0.5; total += last; }
      u64 bits; __builtin_memcpy(&bits, &total, 8); data[100 + CoreID * 4] = (u)bits; data[101 + CoreID * 4] = (u)(bits >> 32);
      __builtin_memcpy(&bits, &last, 8); data[102 + CoreID * 4] = (u)bits; data[103 + CoreID * 4] = (u)(bits >> 32);
    }
    extern "C" void high(u* data, int n) {  // a value of 64 bits that only the way out of the loop wants
      u64 last = 0;
      for (int i = 0; i < n; ++i) last = (u64)data[i] * data[i + 1];
      data[100 + CoreID] = (u)(last >> 32);
      double wide = 1;
      for (int i = 0; i < n; ++i) wide = (double)(int)data[i];
      u64 bits; __builtin_memcpy(&bits, &wide, 8); data[200 + CoreID] = (u)(bits >> 32);
    }
  )k");
  for (const uint32_t n : {0u, 324u, 400u}) expect_same(object, "doubles", {n});
  for (const uint32_t n : {0u, 1u, 90u}) {
    expect_same(object, "sum", {n});
    expect_same(object, "high", {n});
  }
}

}  // namespace
}  // namespace anynpu::npc
