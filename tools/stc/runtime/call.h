/* SPDX-License-Identifier: Apache-2.0
 * One service of the cluster: ecall with the number in a7 (src/npc/services.def). */
#pragma once
#include <npurt.h>

enum {
#define X(name, number) service_##name = number,
#include "npc/services.def"
#undef X
};

static inline __attribute__((always_inline)) uint64_t npurt_call(int number, uint32_t p0,
                                                                 uint32_t p1, uint32_t p2,
                                                                 uint32_t p3, uint32_t p4,
                                                                 uint32_t p5) {
  register uint32_t a0 __asm__("a0") = p0;
  register uint32_t a1 __asm__("a1") = p1;
  register uint32_t a2 __asm__("a2") = p2;
  register uint32_t a3 __asm__("a3") = p3;
  register uint32_t a4 __asm__("a4") = p4;
  register uint32_t a5 __asm__("a5") = p5;
  register uint32_t a7 __asm__("a7") = (uint32_t)number;
  __asm__ volatile("ecall"
                   : "+r"(a0), "+r"(a1)
                   : "r"(a2), "r"(a3), "r"(a4), "r"(a5), "r"(a7)
                   : "memory");
  return ((uint64_t)a1 << 32) | a0;
}
