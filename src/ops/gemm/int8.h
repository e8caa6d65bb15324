// SPDX-License-Identifier: Apache-2.0
// MatMulInteger and QLinearMatMul as one problem: sums of (a - a_zero) * (b - b_zero) that wrap as
// int32, for QLinearMatMul scaled and rounded to a byte. Sums with 8-bit floats are double.
#pragma once

#include "ops/broadcast.h"
#include "ops/quantize/quantize.h"

namespace anynpu::ops::gemm {

using quantize::QuantParameter;

constexpr DTypeSet kLinearBytes = DTypeSet{DType::u8, DType::i8} | kFloat8;

struct IntegerMatMul {
  int64_t m = 0, k = 0, n = 0, batches = 0;
  size_t b_place = 1;  // the input that is b
  DType a_type = DType::u8, b_type = DType::u8, out_type = DType::i32;
  BroadcastLoop loop;
  QuantParameter a_zero, b_zero, a_scale, b_scale, y_scale, y_zero;
  bool linear = false;

  // Matrices of a and b that belong to matrix `index` of y.
  void offsets(int64_t index, int64_t& a, int64_t& b) const;
  // The quantised result at (row, column) for a sum; QLinearMatMul only.
  double quantised(const RunArgs& args, int64_t row, int64_t column, double sum) const;
  // Whether 8-bit floats are multiplied.
  bool real() const { return is_floating(a_type) || is_floating(b_type); }
};

Result<IntegerMatMul> integer_matmul_of(const OpContext& context);

// The oracle of the tests (int8_reference.cpp).
PlanResult plan_int8_matmul(const OpContext& context);
// On register tiles of AVX512-VNNI (int8_avx512.cpp).
Status can_run_packed_matmul(const OpContext& context);
Result<std::unique_ptr<Kernel>> create_packed_matmul(const OpContext& context);

}  // namespace anynpu::ops::gemm
