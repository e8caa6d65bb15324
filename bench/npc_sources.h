// SPDX-License-Identifier: Apache-2.0
// The kernels of rows/npc_kernels.cpp, two of each kind: integer, float, branchy, recursive, calls
// through pointers, memory, functions of math.h. Each takes a buffer of 64 Ki words and a repeat
// count.
#pragma once

namespace anynpu::bench {

// Also the small module whose load is timed.
inline constexpr char kFirstKernels[] = R"(
typedef unsigned u;
extern "C" void empty(u* data, u times) {}
extern "C" void integer(u* data, u times) {
  u h = 1;
  for (u i = 0; i < times; ++i) { h ^= h << 13; h ^= h >> 17; h ^= h << 5; h += i; }
  data[0] = h;
}
extern "C" void floats(u* words, u times) {
  float* a = (float*)words; float* b = a + 4096;
  for (u r = 0; r < times / 4096; ++r) for (u i = 0; i < 4096; ++i) b[i] = a[i] * 0.5f + b[i];
}
extern "C" void branchy(u* data, u times) {
  u x = 12345, odd = 0, steps = 0;
  for (u i = 0; i < times; ++i) {
    if (x == 1) x = i + 7;
    if (x & 1) { x = 3 * x + 1; ++odd; } else x >>= 1;
    ++steps;
  }
  data[0] = odd; data[1] = steps;
}
__attribute__((noinline)) static u fib(u n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
extern "C" void recursive(u* data, u times) { u n = 10; for (u t = times; t > 200; t /= 2) ++n; data[0] = fib(n); }
static u f0(u x) { return x + 1; }
static u f1(u x) { return x * 3; }
static u f2(u x) { return x ^ 0x55; }
static u f3(u x) { return x - 7; }
extern "C" void indirect(u* data, u times) {
  u (*volatile table[4])(u) = {f0, f1, f2, f3};
  u x = 1;
  for (u i = 0; i < times; ++i) x = table[i & 3](x);
  data[0] = x;
}
extern "C" void memory(u* data, u times) {
  u at = 0;
  for (u i = 0; i < times; ++i) { at = (at * 1103515245u + 12345u + data[at & 65535]) & 65535; data[at] += i; }
  data[0] = at;
}
)";

inline constexpr char kSecondKernels[] = R"(
typedef unsigned u;
extern "C" void matrix(u* data, u times) {
  u *a = data, *b = a + 1024, *c = b + 1024;
  for (u r = 0; r < times / 32768; ++r)
    for (u i = 0; i < 32; ++i)
      for (u j = 0; j < 32; ++j) {
        u sum = 0;
        for (u k = 0; k < 32; ++k) sum += a[i * 32 + k] * b[k * 32 + j];
        c[i * 32 + j] = sum + r;
      }
}
extern "C" void bodies(u* words, u times) {
  float *at = (float*)words, *speed = at + 192;
  for (u i = 0; i < 192; ++i) { at[i] = (float)(i * 37 % 101); speed[i] = 0; }
  for (u r = 0; r < times / 4096; ++r)
    for (u i = 0; i < 64; ++i)
      for (u j = 0; j < 64; ++j) {
        float d[3], square = 0.5f;
        for (u k = 0; k < 3; ++k) { d[k] = at[j * 3 + k] - at[i * 3 + k]; square += d[k] * d[k]; }
        const float pull = 0.01f / (square * square);
        for (u k = 0; k < 3; ++k) speed[i * 3 + k] += d[k] * pull;
      }
}
extern "C" void sort(u* data, u times) {
  for (u r = 0; r < times / 16384; ++r) {
    u x = r + 1;
    for (u i = 0; i < 1024; ++i) { x = x * 1664525u + 1013904223u; data[i] = x; }
    for (u gap = 512; gap > 0; gap /= 2)
      for (u i = gap; i < 1024; ++i) {
        u value = data[i], j = i;
        for (; j >= gap && data[j - gap] > value; j -= gap) data[j] = data[j - gap];
        data[j] = value;
      }
  }
}
__attribute__((noinline)) static u place(u free, u left, u right) {
  if (!free) return 1;
  u found = 0;
  for (u open = free & ~(left | right); open;) {
    const u bit = open & -open;
    open ^= bit;
    found += place(free ^ bit, (left | bit) << 1, (right | bit) >> 1);
  }
  return found;
}
extern "C" void queens(u* data, u times) { u n = 8; for (u t = times; t > 4000; t /= 5) ++n; data[0] = place((1u << n) - 1, 0, 0); }
struct Shape { virtual u area(u scale) const = 0; };
struct Square : Shape { u side = 3; u area(u s) const override { return side * side * s; } };
struct Bar : Shape { u width = 2, height = 5; u area(u s) const override { return width * height + s; } };
struct Triangle : Shape { u base = 4, height = 7; u area(u s) const override { return (base * height >> 1) ^ s; } };
__attribute__((noinline)) static u total(const Shape* const* shapes, u count, u scale) {
  u sum = scale;
  for (u i = 0; i < count; ++i) sum = shapes[i]->area(sum);
  return sum;
}
extern "C" void objects(u* data, u times) {
  Square a; Bar b; Triangle c;
  const Shape* shapes[16];
  for (u i = 0; i < 16; ++i) shapes[i] = i % 3 == 0 ? (const Shape*)&a : i % 3 == 1 ? (const Shape*)&b : &c;
  u sum = 0;
  for (u r = 0; r < times / 16; ++r) sum = total(shapes, 16, sum);
  data[0] = sum;
}
extern "C" void stream(u* data, u times) {
  u *from = data, *to = data + 32768;
  for (u r = 0; r < times / 32768; ++r) {
    for (u i = 0; i < 32768; ++i) to[i] = from[i] + r;
    u* t = from; from = to; to = t;
  }
}
)";

inline constexpr char kMathKernels[] = R"(
typedef unsigned u;
#include <math.h>
static void fill(float* x) { for (u i = 0; i < 4096; ++i) x[i] = (float)(i * 37 % 101) * 0.05f - 2.5f; }
extern "C" void softmax(u* words, u times) {
  float *x = (float*)words, *y = x + 4096;
  fill(x);
  for (u r = 0; r < times / 256; ++r) {
    const float* from = x + r % 16 * 256;
    float most = from[0], sum = 0;
    for (u i = 1; i < 256; ++i) most = from[i] > most ? from[i] : most;
    for (u i = 0; i < 256; ++i) { y[i] = expf(from[i] - most); sum += y[i]; }
    for (u i = 0; i < 256; ++i) y[i] /= sum;
  }
}
extern "C" void gelu(u* words, u times) {
  float *x = (float*)words, *y = x + 4096;
  fill(x);
  for (u r = 0; r < times / 4096; ++r)
    for (u i = 0; i < 4096; ++i) {
      const float v = x[i];
      y[i] = 0.5f * v * (1.0f + tanhf(0.79788456f * (v + 0.044715f * v * v * v)));
    }
}
)";

}  // namespace anynpu::bench
