// SPDX-License-Identifier: Apache-2.0
// Functions over contiguous rows of f32: element-wise functions, softmax, layer normalisation.
// Compiled once per instruction set (see isa.h). Errors are a few ulp; NaN and infinities behave as
// in the C library.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ops/simd/isa.h"
#include "ops/simd/steps.h"

namespace anynpu::ops {

enum class RowFunction : uint8_t { exp, erf, tanh, sigmoid, gelu, gelu_tanh, silu };

// y = (x - mean) / sqrt(variance + epsilon) * scale + bias; bias may be null. With `centred` off
// the mean counts as 0 (root mean square).
struct NormRow {
  const float* x = nullptr;
  const float* scale = nullptr;
  const float* bias = nullptr;
  float* y = nullptr;
  int64_t count = 0;
  double epsilon = 0;
  bool centred = true;
  double mean = 0, inverse = 0;  // written: the mean, and 1 / sqrt(variance + epsilon)
};

using RowMap = void (*)(const float* x, float* y, int64_t count);

// Functions with parameters: elu, celu: alpha; selu: alpha, gamma.
enum class ScaledFunction : uint8_t { sin, cos, mish, elu, celu, selu };
// Over f32 at in[0] and out, which may be the same: a loop of the typed engine
// (elementwise/typed_engine.h).
using ScaledMap = void (*)(const std::byte* const* in, std::byte* out, int64_t count,
                           const double* params);

struct RowSet {
  RowMap (*find)(RowFunction function);
  ScaledMap (*find_scaled)(ScaledFunction function);
  // y = softmax(x * scale + add); add may be null; y may be x.
  void (*softmax)(const float* x, const float* add, float scale, float* y, int64_t count);
  void (*layer_norm)(NormRow& row);
  // y = log(softmax(x)); y may be x.
  void (*log_softmax)(const float* x, float* y, int64_t count);
  // Both over `length` elements that lie `step` apart, for `count` neighbours at once; y may be x.
  void (*softmax_columns)(const float* x, float* y, int64_t length, int64_t step, int64_t count);
  void (*log_softmax_columns)(const float* x, float* y, int64_t length, int64_t step,
                              int64_t count);
  // Sums, in floats over pieces, which are added in double: of x; and of d = x - middle and d^2,
  // which are added to what is there.
  double (*sum)(const float* x, int64_t count);
  void (*deviations)(const float* x, float middle, int64_t count, double& sum, double& squares);
  // y = (x - middle) * factor + shift; y may be x.
  void (*affine)(const float* x, float middle, float factor, float shift, float* y, int64_t count);
  StepLoop (*find_step)(StepOp op, StepScalar scalar);
};

const RowSet& row_set(Isa isa);
extern const RowSet kRowsBaseline, kRowsAvx2, kRowsAvx512;

}  // namespace anynpu::ops
