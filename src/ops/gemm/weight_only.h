// SPDX-License-Identifier: Apache-2.0
// Products of float rows with constant weights of 4 or 8 bits, which stay packed in memory and are
// widened in registers (simd/weight_only.h):
//   y = activation(alpha * a * ((codes - zero) * scale) + c + z)
// MatMulNBits (domain com.microsoft) is one; WeightOnlyMatMul (domain anynpu) is made by plans from
// it and from DequantizeLinear in front of Gemm and MatMul (compile/join_weight_only.cpp).
#pragma once

#include "ops/gemm/gemm.h"

namespace anynpu::ops::gemm {

// How the codes, scales and zero points of a k x n matrix lie in their tensors.
struct WeightCodes {
  int64_t k = 0, n = 0;
  int64_t group = 1;  // rows that share a scale; the last group may be shorter
  int bits = 8;       // of a code: 2, 4 or 8; two and four of them share a byte, the first lowest
  bool is_signed = false;
  bool by_columns = false;  // the codes of a column lie together
  bool padded = false;      // and each group of them begins a whole group behind the one before
  size_t codes_at = 1, scale_at = 4, zero_at = 5;               // inputs
  DType scale_type = DType::f32, zero_type = DType::undefined;  // undefined: no zero points
  int zero_bits = 0;  // where they are codes of the same kind in rows of whole bytes; else 0
  int64_t scale_of_group = 0, scale_of_column = 0;  // steps, also of zero points

  int64_t groups() const { return (k + group - 1) / group; }
  int64_t length(int64_t g) const { return group < k - g * group ? group : k - g * group; }
  // A code as a number.
  int code(const std::byte* codes, int64_t row, int64_t column) const;
  double scale(const std::byte* scales, int64_t g, int64_t column) const;
  double zero(const std::byte* zeros, int64_t g, int64_t column) const;
  // Whether eight codes of a column are one aligned word of 32 bits.
  bool in_words() const {
    return bits == 4 && by_columns && group % 8 == 0 && (padded || k % 2 == 0);
  }
};

struct WeightOnlyCase {
  GemmShape g;  // one matrix of all rows; c is one row
  WeightCodes codes;
  size_t c_at = 2, z_at = 3;

  // Fails for shapes that do not fit each other. Reads no element of a tensor.
  static Result<WeightOnlyCase> of(const OpContext& context);
};

void add_weight_only_schemas(Registry& registry);

// Codes, scales and zero points are constants.
template <Isa isa>
Status can_run_weight_only(const OpContext& context);
template <Isa isa>
Result<std::unique_ptr<Kernel>> create_weight_only(const OpContext& context);
// The oracle of the tests: sums in double.
Result<std::unique_ptr<KernelPlan>> plan_weight_only_reference(const OpContext& context);

}  // namespace anynpu::ops::gemm
