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

float expf(float x) { return ask(0, x, 0); }
float logf(float x) { return ask(1, x, 0); }
float sinf(float x) { return ask(2, x, 0); }
float cosf(float x) { return ask(3, x, 0); }
float tanhf(float x) { return ask(4, x, 0); }
float powf(float x, float y) { return ask(5, x, y); }
float floorf(float x) { return ask(6, x, 0); }
float ceilf(float x) { return ask(7, x, 0); }
