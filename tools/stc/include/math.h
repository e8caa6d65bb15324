/* SPDX-License-Identifier: Apache-2.0
 * Float functions on the device. Those of one instruction are inline; the others ask the cluster
 * and are correct to one unit in the last place. */
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
NPURT_C float expf(float x);
NPURT_C float logf(float x);
NPURT_C float sinf(float x);
NPURT_C float cosf(float x);
NPURT_C float tanhf(float x);
NPURT_C float powf(float x, float y);
NPURT_C float floorf(float x);
NPURT_C float ceilf(float x);
