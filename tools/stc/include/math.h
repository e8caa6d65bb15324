/* SPDX-License-Identifier: Apache-2.0
 * Float functions on the device. Those of one instruction are inline; the others ask the cluster
 * (service math32 of src/npc/services.def, inline too, so that floats stay in registers around it)
 * and are correct to one unit in the last place. libnpurt_hld.a has them under the same names. */
#pragma once
#include <npurt.h>

#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define isnan(x) __builtin_isnan(x)
#define isinf(x) __builtin_isinf(x)

static inline __attribute__((unused)) float sqrtf(float x) { return __builtin_sqrtf(x); }
static inline __attribute__((unused)) float fabsf(float x) { return __builtin_fabsf(x); }
static inline __attribute__((unused)) float fmaf(float x, float y, float z) {
  return __builtin_fmaf(x, y, z);
}
static inline __attribute__((unused)) float fminf(float x, float y) {
  return __builtin_fminf(x, y);
}
static inline __attribute__((unused)) float fmaxf(float x, float y) {
  return __builtin_fmaxf(x, y);
}

#define NPURT_FLOAT_BITS(name, value) \
  union {                             \
    float single;                     \
    unsigned bits;                    \
  } name = {value}
#define NPURT_ASK(number, second)                                                            \
  NPURT_FLOAT_BITS(first, x);                                                                \
  register unsigned a0 __asm__("a0");                                                        \
  register unsigned a1 __asm__("a1") = first.bits;                                           \
  __asm__("li a7, 12\n\tli a0, " #number "\n\tecall" : "=&r"(a0), "+r"(a1) : second : "a7"); \
  first.bits = a0;                                                                           \
  return first.single
#define NPURT_ONE(name, number) \
  static inline __attribute__((unused)) float name(float x) { NPURT_ASK(number, ); }
NPURT_ONE(expf, 0)
NPURT_ONE(logf, 1)
NPURT_ONE(sinf, 2)
NPURT_ONE(cosf, 3)
NPURT_ONE(tanhf, 4)
NPURT_ONE(floorf, 6)
NPURT_ONE(ceilf, 7)
static inline __attribute__((unused)) float powf(float x, float y) {
  NPURT_FLOAT_BITS(second, y);
  register unsigned a2 __asm__("a2") = second.bits;
  NPURT_ASK(5, "r"(a2));
}
#undef NPURT_ONE
#undef NPURT_ASK
#undef NPURT_FLOAT_BITS
