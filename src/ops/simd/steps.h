// SPDX-License-Identifier: Apache-2.0
// Element-wise functions of one or two rows of f32, from which programs of several are made
// (elements/program.h). Compiled once per instruction set, as the other row functions (rows.h).
#pragma once

#include <cstddef>
#include <cstdint>

namespace anynpu::ops {

enum class StepOp : uint8_t {
  // of one row
  neg,
  abs,
  square,
  sqrt,
  reciprocal,
  exp,
  log,
  erf,
  tanh,
  sigmoid,
  softplus,
  relu,
  hard_swish,
  gelu,
  gelu_tanh,
  silu,
  mish,
  sin,
  cos,
  // of two
  add,
  sub,
  mul,
  div,
  max,
  min,
  leaky,  // a, or a * b where a < 0
  elu,    // a, or b * (e^a - 1) where a < 0
};
constexpr size_t kStepOps = 27;
inline bool is_unary(StepOp op) { return op < StepOp::add; }

// Which of the two operands is one number for the whole row.
enum class StepScalar : uint8_t { none, first, second };

// y[i] = f(a[i], b[i]); y may be a or b. `b` is not read by functions of one row.
using StepLoop = void (*)(const float* a, const float* b, float* y, int64_t count);

}  // namespace anynpu::ops
