// SPDX-License-Identifier: Apache-2.0
// 64-bit integers: what the compiler calls for long long where the core has no instruction.
#include <stdint.h>

uint64_t __udivmoddi4(uint64_t a, uint64_t b, uint64_t* remainder) {
  if (b == 0) {  // as the 32-bit instructions: all ones, and the dividend
    if (remainder) *remainder = a;
    return ~0ull;
  }
  if ((a >> 32) == 0 && (b >> 32) == 0) {
    if (remainder) *remainder = (uint32_t)a % (uint32_t)b;
    return (uint32_t)a / (uint32_t)b;
  }
  uint64_t quotient = 0, rest = 0;
  for (int bit = 63; bit >= 0; --bit) {
    const uint64_t carry = rest >> 63;
    rest = (rest << 1) | ((a >> bit) & 1);
    if (carry || rest >= b) {
      rest -= b;
      quotient |= 1ull << bit;
    }
  }
  if (remainder) *remainder = rest;
  return quotient;
}

uint64_t __udivdi3(uint64_t a, uint64_t b) { return __udivmoddi4(a, b, 0); }

uint64_t __umoddi3(uint64_t a, uint64_t b) {
  uint64_t rest;
  __udivmoddi4(a, b, &rest);
  return rest;
}

static uint64_t magnitude(int64_t value) {
  return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

int64_t __divdi3(int64_t a, int64_t b) {
  const uint64_t quotient = __udivmoddi4(magnitude(a), magnitude(b), 0);
  return (int64_t)((a < 0) != (b < 0) && b != 0 ? 0 - quotient : quotient);
}

int64_t __moddi3(int64_t a, int64_t b) {
  uint64_t rest;
  __udivmoddi4(magnitude(a), magnitude(b), &rest);
  return (int64_t)(a < 0 ? 0 - rest : rest);
}

int64_t __muldi3(int64_t a, int64_t b) {
  const uint32_t al = (uint32_t)a, bl = (uint32_t)b;
  const uint32_t ah = (uint32_t)((uint64_t)a >> 32), bh = (uint32_t)((uint64_t)b >> 32);
  uint32_t high;
  __asm__("mulhu %0, %1, %2" : "=r"(high) : "r"(al), "r"(bl));
  high += al * bh + ah * bl;
  return (int64_t)(((uint64_t)high << 32) | (al * bl));
}

typedef union {
  uint64_t all;
  struct {
    uint32_t low, high;
  } word;
} pair;

uint64_t __ashldi3(uint64_t a, int count) {
  pair p = {.all = a};
  if (count & 32) {
    p.word.high = p.word.low << (count & 31);
    p.word.low = 0;
  } else if (count) {
    p.word.high = (p.word.high << count) | (p.word.low >> (32 - count));
    p.word.low <<= count;
  }
  return p.all;
}

uint64_t __lshrdi3(uint64_t a, int count) {
  pair p = {.all = a};
  if (count & 32) {
    p.word.low = p.word.high >> (count & 31);
    p.word.high = 0;
  } else if (count) {
    p.word.low = (p.word.low >> count) | (p.word.high << (32 - count));
    p.word.high >>= count;
  }
  return p.all;
}

int64_t __ashrdi3(int64_t a, int count) {
  pair p = {.all = (uint64_t)a};
  const int32_t high = (int32_t)p.word.high;
  if (count & 32) {
    p.word.low = (uint32_t)(high >> (count & 31));
    p.word.high = (uint32_t)(high >> 31);
  } else if (count) {
    p.word.low = (p.word.low >> count) | (p.word.high << (32 - count));
    p.word.high = (uint32_t)(high >> count);
  }
  return (int64_t)p.all;
}

int __clzsi2(uint32_t a) {
  int count = 0;
  if (a == 0) return 32;
  for (; !(a & 0x80000000u); a <<= 1) ++count;
  return count;
}
int __ctzsi2(uint32_t a) {
  int count = 0;
  if (a == 0) return 32;
  for (; !(a & 1); a >>= 1) ++count;
  return count;
}
int __popcountsi2(uint32_t a) {
  int count = 0;
  for (; a; a &= a - 1) ++count;
  return count;
}
int __clzdi2(uint64_t a) { return a >> 32 ? __clzsi2(a >> 32) : 32 + __clzsi2((uint32_t)a); }
int __ctzdi2(uint64_t a) { return (uint32_t)a ? __ctzsi2((uint32_t)a) : 32 + __ctzsi2(a >> 32); }
int __popcountdi2(uint64_t a) { return __popcountsi2((uint32_t)a) + __popcountsi2(a >> 32); }
