// SPDX-License-Identifier: Apache-2.0
// The services that only compute: float functions of math.h and operations on doubles. Translated
// code calls the same functions without asking for the service (jit/lift_services.cpp).
#pragma once

#include <cstdint>
#include <span>

namespace anynpu::npc {

enum class FloatFunction : uint32_t {
#define ONE(name, number) name = number,
#define TWO(name, number) name = number,
#include "npc/float_functions.def"
#undef ONE
#undef TWO
};

enum class DoubleOp : uint32_t {
#define X(name, number) name = number,
#include "npc/double_ops.def"
#undef X
};

// One of the two is set. Results may be any NaN; the cores' is made of it.
struct FloatFunctionEntry {
  const char* name;
  float (*of_one)(float);
  float (*of_two)(float, float);
};
std::span<const FloatFunctionEntry> float_functions();  // by number

}  // namespace anynpu::npc
