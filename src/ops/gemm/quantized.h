// SPDX-License-Identifier: Apache-2.0
// QuantizedMatMul: rows of bytes times a constant matrix of bytes with everything around it, made
// by plans from DequantizeLinear, MatMul or Gemm, Relu, Add and QuantizeLinear
// (compile/join_quantized.cpp). See quantize/requantize.h for what it computes. Inputs: A [..., K],
// B [K, N] ([N, K] with transB), bias [N] (optional), Z (optional, shape of the result).
#pragma once

#include "ops/gemm/gemm.h"
#include "ops/quantize/requantize.h"

namespace anynpu::ops::gemm {

struct QuantizedMatMulCase {
  int64_t m = 0, k = 0, n = 0;
  bool transposed = false;
  quantize::Requantize requantize;
  const int8_t* weights = nullptr;  // constant
  const float* bias = nullptr;      // constant, or none

  static Result<QuantizedMatMulCase> of(const OpContext& context);
  int8_t weight(int64_t row, int64_t column) const {
    return weights[transposed ? column * k + row : row * n + column];
  }
  int32_t start(int64_t column) const;  // the zero of A times the column's weights
};

void add_quantized_matmul_schema(Registry& registry);

// Register tiles of AVX512-VNNI.
Status can_run_quantized_matmul(const OpContext& context);
Result<std::unique_ptr<Kernel>> create_quantized_matmul(const OpContext& context);
// The oracle of the tests.
Result<std::unique_ptr<KernelPlan>> plan_quantized_matmul_reference(const OpContext& context);

}  // namespace anynpu::ops::gemm
