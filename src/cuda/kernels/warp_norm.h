// SPDX-License-Identifier: Apache-2.0
// LayerNormalization and RMSNormalization of 16-bit floats with one warp per row. The row is held
// in registers, so the input is read once.
#pragma once

#include <memory>

#include "cuda/kernels/jit_kernel.h"

namespace anynpu::device::cuda {

struct WarpNorm {
  DType type = DType::f16;
  int64_t rows = 0, length = 0;
  bool centred = true, shift = false;
  double epsilon = 0;
};

bool can_run_warp_norm(const WarpNorm& norm);
std::string warp_norm_source(const WarpNorm& norm, unsigned warps);

// kernel(x, scale, shift, y); all addresses are aligned to 16 bytes.
struct WarpNormKernel {
  std::shared_ptr<const JitKernel> kernel;
  size_t blocks = 0;
  unsigned threads = 0;
};
Result<WarpNormKernel> make_warp_norm(const WarpNorm& norm);

}  // namespace anynpu::device::cuda
