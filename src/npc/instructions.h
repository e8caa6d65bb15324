// SPDX-License-Identifier: Apache-2.0
// Instructions that the interpreter's loop leaves to functions: atomics, and floats off the fast
// path (other rounding modes, halves, conversions). They change registers and memory of the core
// only when they succeed.
#pragma once

#include <cstdint>

#include "npc/float_ops.h"

namespace anynpu::npc {

struct Core;
struct Decoded;
enum class Op : uint8_t;

// False after a trap was set.
bool run_atomic(Core& core, const Decoded& d);
// False when the rounding mode is invalid (5, 6 or 7 in frm).
bool run_float(Core& core, const Decoded& d);

// Whether a float instruction writes an integer register.
bool writes_integer(Op op);

// A half in a register is boxed: ones above it. Anything else reads as NaN.
inline uint32_t unbox(uint32_t bits) { return (bits >> 16) == 0xffff ? bits & 0xffff : Half::kNan; }
inline uint32_t box(uint32_t bits) { return bits | 0xffff0000u; }

}  // namespace anynpu::npc
