// SPDX-License-Identifier: Apache-2.0
// The epilogue of convolutions and matrix products, in place: y = activation(y + scale * c + z).
#pragma once

#include <optional>
#include <string>

#include "cuda/kernels/jit_kernel.h"
#include "ops/activation.h"

namespace anynpu::device::cuda {

struct Epilogue {
  DType type = DType::f32;
  std::string c_index;  // index into c for element `i` of y; empty: no c
  float c_scale = 1;
  bool has_z = false;
  ops::Activation activation;
  std::string activation_code;  // the activation, an expression of the value v; empty: none

  bool empty() const {
    return c_index.empty() && !has_z && !activation.on && activation_code.empty();
  }
};

// Two kernels for the same: `wide` moves 16 bytes at a time and needs aligned addresses and a count
// of whole packs; it is there unless c is added.
struct EpilogueKernels {
  std::shared_ptr<const JitKernel> scalar, vectorized;
  size_t pack = 1;  // elements of 16 bytes
};

// Both null for an empty epilogue.
Result<EpilogueKernels> make_epilogue(const Epilogue& epilogue);
Status enqueue_epilogue(const EpilogueKernels& kernels, const Gpu& gpu, CUstream stream, void* y,
                        const void* c, const void* z, size_t count);
inline Status enqueue_epilogue(const EpilogueKernels& kernels, CudaQueue& queue, void* y,
                               const void* c, const void* z, size_t count) {
  return enqueue_epilogue(kernels, queue.gpu(), queue.stream(), y, c, z, count);
}

// v clamped as `activation` says, as a statement of generated code; NaN stays. Empty when off.
std::string clamp_code(const ops::Activation& activation);

}  // namespace anynpu::device::cuda
