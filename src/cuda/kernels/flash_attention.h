// SPDX-License-Identifier: Apache-2.0
// Attention of 16-bit floats in one kernel: a block of threads has some rows of a head and goes
// over the keys in tiles, with running sums (no scores are stored). Needs compute capability 8.0.
#pragma once

#include <memory>

#include "cuda/kernels/jit_kernel.h"
#include "ops/attention/attention.h"

namespace anynpu::device::cuda {

struct FlashAttention {
  std::shared_ptr<const JitKernel> kernel;
  size_t blocks = 0;
  unsigned threads = 0;

  // Whether all addresses are multiples of 16 bytes, which enqueue() needs.
  static bool aligned(const ops::RunArgs& args);
  Status enqueue(const ops::RunArgs& args, CudaQueue& queue, bool has_mask) const;
};

// `type` is that of Q, K, V and Y.
bool can_run_flash(const ops::attention::AttentionShape& shape, DType type);
Result<FlashAttention> make_flash(const ops::attention::AttentionShape& shape, DType type,
                                  DType mask_type);
// The text of its kernel for blocks of `warps` times 16 rows.
std::string flash_source(const ops::attention::AttentionShape& shape, DType type, DType mask_type,
                         int64_t warps);

}  // namespace anynpu::device::cuda
