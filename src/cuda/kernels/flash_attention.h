// SPDX-License-Identifier: Apache-2.0
// Flash attention for 16-bit floats: a thread block computes some rows of a head, iterating over
// tiles of keys with an online softmax, so scores are never stored. Needs compute capability 8.0.
#pragma once

#include <memory>

#include "cuda/kernels/jit_kernel.h"
#include "ops/attention/attention.h"

namespace anynpu::device::cuda {

struct FlashAttention {
  std::shared_ptr<const JitKernel> kernel;
  size_t blocks = 0;
  unsigned threads = 0;

  // enqueue() needs all addresses aligned to 16 bytes.
  static bool aligned(const ops::RunArgs& args);
  Status enqueue(const ops::RunArgs& args, CudaQueue& queue, bool has_mask) const;
};

// `type` is the type of Q, K, V and Y.
bool can_run_flash(const ops::attention::AttentionShape& shape, DType type);
Result<FlashAttention> make_flash(const ops::attention::AttentionShape& shape, DType type,
                                  DType mask_type);
// The CUDA source for blocks of `warps` warps with 16 rows each.
std::string flash_source(const ops::attention::AttentionShape& shape, DType type, DType mask_type,
                         int64_t warps);

}  // namespace anynpu::device::cuda
