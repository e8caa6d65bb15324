// SPDX-License-Identifier: Apache-2.0
// Matrix products: Gemm, MatMul and their fused forms as one problem,
//   y = activation(alpha * a * b + beta * c + z)
// over a batch of matrices.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "ops/activation.h"
#include "ops/kernel.h"
#include "ops/simd/isa.h"
#include "ops/simd/rows.h"

namespace anynpu::ops {
class Registry;
}

namespace anynpu::ops::gemm {

struct GemmShape {
  int64_t m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;
  float alpha = 1, beta = 1;
  int64_t c_row = 0, c_column = 0;  // strides of c in elements; 0 = repeated
  bool has_c = false;
  bool has_z = false;  // input 3, laid out as y
  // Offsets in elements of each matrix of the batch.
  std::vector<int64_t> batch_a, batch_b;
  Activation activation;                           // a clamp, or
  std::optional<RowFunction> activation_function;  // a function of each element

  int64_t batch() const { return static_cast<int64_t>(batch_a.size()); }
};

// Reads `activation`, `activation_min` and `activation_max` of a fused operator.
Status read_activation(const OpContext& context, GemmShape& g);
// The activation of one result, for reference kernels.
double activated(const GemmShape& g, double x);

// All extents known.
Result<GemmShape> gemm_shape_of(const OpContext& context);

Result<std::unique_ptr<Kernel>> create_gemm_reference(const OpContext& context);

constexpr DTypeSet kGemmTypes = kFloats | DTypeSet{DType::i32, DType::i64, DType::u32, DType::u64};
void add_gemm_schemas(Registry& registry);
void add_int8_matmul_schemas(Registry& registry);

}  // namespace anynpu::ops::gemm
