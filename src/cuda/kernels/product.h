// SPDX-License-Identifier: Apache-2.0
// Matrix products (GEMM) with cuBLASLt, which is loaded on first use. float32 is computed in
// float32, not TF32. The algorithm is autotuned: timed once, then read from the disk cache.
#pragma once

#include <memory>

#include "cuda/gpu.h"
#include "tensor/dtype.h"

namespace anynpu::device::cuda {

// y = relu(alpha * a * b + residual + bias), row-major; strides in elements.
struct ProductShape {
  DType type = DType::f32;
  int64_t m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;
  int64_t lda = 0, ldb = 0, ldy = 0;  // leading dimensions
  int32_t batch = 1;
  int64_t stride_a = 0, stride_b = 0, stride_y = 0;  // batch strides; 0 broadcasts one matrix
  bool bias = false;                                 // a vector of n elements
  bool residual = false;                             // same shape and strides as y
  bool relu = false;
};

struct ProductOperands {
  const void *a = nullptr, *b = nullptr, *bias = nullptr, *residual = nullptr;
  void *y = nullptr, *workspace = nullptr;
  float alpha = 1;

  bool aligned() const;  // to 16 bytes, which the autotuned algorithm needs
};

class Product {
 public:
  // Upper limit of workspace_bytes(): the workspace that NVIDIA recommends for Hopper.
  static constexpr size_t kMostWorkspace = size_t{32} << 20;

  // Fails with unsupported_feature if cuBLASLt is missing.
  static Status available();
  static Result<std::shared_ptr<const Product>> make(const ProductShape& shape);
  virtual ~Product() = default;
  virtual size_t workspace_bytes() const = 0;
  // The time measured by autotuning; infinity if there is none.
  virtual double microseconds() const = 0;
  // The GPU's context must be current.
  virtual Status enqueue(const Gpu& gpu, CUstream stream,
                         const ProductOperands& operands) const = 0;
};

}  // namespace anynpu::device::cuda
