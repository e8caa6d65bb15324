// SPDX-License-Identifier: Apache-2.0
// A product of matrices through cuBLASLt, which is opened on first use. float32 is computed in
// float32, not TF32.
#pragma once

#include <memory>

#include "cuda/cuda_queue.h"
#include "tensor/dtype.h"

namespace anynpu::device::cuda {

// y = alpha * a * b, matrices in rows; steps in elements.
struct ProductShape {
  DType type = DType::f32;
  int64_t m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;
  int64_t row_a = 0, row_b = 0, row_y = 0;     // from one row to the next
  int32_t batch = 1;
  int64_t step_a = 0, step_b = 0, step_y = 0;  // from one matrix to the next; 0 repeats
};

class Product {
 public:
  // What a product may use of the workspace: as much as cuBLAS asks for on Hopper.
  static constexpr size_t kWorkspaceBytes = size_t{32} << 20;

  // Fails with unsupported_feature where the library is missing.
  static Status available();
  static Result<std::shared_ptr<const Product>> make(const ProductShape& shape);
  virtual ~Product() = default;
  virtual Status enqueue(CudaQueue& queue, const void* a, const void* b, void* y, void* workspace,
                         float alpha) const = 0;
};

}  // namespace anynpu::device::cuda
