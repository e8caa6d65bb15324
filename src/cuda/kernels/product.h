// SPDX-License-Identifier: Apache-2.0
// Matrix products through cuBLASLt, which is opened on first use. float32 is computed in
// float32, not TF32. Among the ways that the library offers the fastest is taken: measured once,
// and kept on disk.
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
  int64_t lda = 0, ldb = 0, ldy = 0;  // leading dimensions: from one row to the next
  int32_t batch = 1;
  int64_t stride_a = 0, stride_b = 0, stride_y = 0;  // batch strides; 0 repeats one matrix
  bool bias = false;                                 // a row of n numbers
  bool residual = false;                             // laid out as y
  bool relu = false;
};

struct ProductOperands {
  const void *a = nullptr, *b = nullptr, *bias = nullptr, *residual = nullptr;
  void *y = nullptr, *workspace = nullptr;
  float alpha = 1;

  bool aligned() const;  // to 16 bytes, as the fastest kernels want it
};

class Product {
 public:
  // The most that a product uses of the workspace: as much as cuBLAS asks for on Hopper.
  static constexpr size_t kMostWorkspace = size_t{32} << 20;

  // Fails with unsupported_feature where the library is missing.
  static Status available();
  static Result<std::shared_ptr<const Product>> make(const ProductShape& shape);
  virtual ~Product() = default;
  virtual size_t workspace_bytes() const = 0;
  // As it was measured; infinity where nothing could be.
  virtual double microseconds() const = 0;
  // Inside the context of the GPU.
  virtual Status enqueue(const Gpu& gpu, CUstream stream,
                         const ProductOperands& operands) const = 0;
};

}  // namespace anynpu::device::cuda
