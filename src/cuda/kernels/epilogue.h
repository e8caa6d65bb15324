// SPDX-License-Identifier: Apache-2.0
// In-place epilogue of convolutions and matrix products: y = activation(y + c_scale * c + z).
#pragma once

#include <optional>
#include <string>

#include "cuda/kernels/jit_kernel.h"
#include "ops/activation.h"

namespace anynpu::device::cuda {

struct Epilogue {
  DType type = DType::f32;
  std::string c_index;  // expression for the index into c of element `i` of y; empty: no c
  float c_scale = 1;
  bool has_z = false;
  ops::Activation activation;
  std::string activation_code;  // CUDA expression of v, such as GELU; empty: none

  bool empty() const {
    return c_index.empty() && !has_z && !activation.on && activation_code.empty();
  }
};

// `vectorized` moves 16 bytes per access. It needs aligned addresses and a count that is a multiple
// of `pack`, and is null if c is added. `scalar` takes everything else.
struct EpilogueKernels {
  std::shared_ptr<const JitKernel> scalar, vectorized;
  size_t pack = 1;  // elements in 16 bytes
};

// Both kernels are null for an empty epilogue.
Result<EpilogueKernels> make_epilogue(const Epilogue& epilogue);
Status enqueue_epilogue(const EpilogueKernels& kernels, const Gpu& gpu, CUstream stream, void* y,
                        const void* c, const void* z, size_t count);
inline Status enqueue_epilogue(const EpilogueKernels& kernels, CudaQueue& queue, void* y,
                               const void* c, const void* z, size_t count) {
  return enqueue_epilogue(kernels, queue.gpu(), queue.stream(), y, c, z, count);
}

// A CUDA statement that clamps v and propagates NaN; empty if the activation is off.
std::string clamp_code(const ops::Activation& activation);

}  // namespace anynpu::device::cuda
