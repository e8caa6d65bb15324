// SPDX-License-Identifier: Apache-2.0
// What convolutions and matrix products end with, in place: y = activation(y + scale * c + z).
#pragma once

#include <optional>
#include <string>

#include "cuda/kernels/jit_kernel.h"
#include "ops/activation.h"

namespace anynpu::device::cuda {

struct Epilogue {
  DType type = DType::f32;
  std::string c_index;  // of `i`, an index into y; empty: there is no c
  float c_scale = 1;
  bool has_z = false;
  ops::Activation activation;
  std::string curve;  // a function of the value v; empty: none

  bool empty() const { return c_index.empty() && !has_z && !activation.on && curve.empty(); }
};

// Null for an empty one. launch with enqueue_epilogue.
Result<std::shared_ptr<const JitKernel>> make_epilogue(const Epilogue& epilogue);
Status enqueue_epilogue(const JitKernel* kernel, CudaQueue& queue, void* y, const void* c,
                        const void* z, size_t count);

}  // namespace anynpu::device::cuda
