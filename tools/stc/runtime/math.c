// SPDX-License-Identifier: Apache-2.0
// The functions of math.h that take more than an instruction.
#include "call.h"

union word {
  float value;
  uint32_t bits;
};

static float ask(int function, float x, float y) {
  const union word a = {.value = x}, b = {.value = y};
  const union word result = {
      .bits = (uint32_t)npurt_call(service_math32, function, a.bits, b.bits, 0, 0, 0)};
  return result.value;
}

#define ONE(name, number) \
  float name##f(float x) { return ask(number, x, 0); }
#define TWO(name, number) \
  float name##f(float x, float y) { return ask(number, x, y); }
#include "npc/float_functions.def"
