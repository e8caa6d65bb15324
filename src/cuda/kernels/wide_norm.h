// SPDX-License-Identifier: Apache-2.0
// LayerNormalization and RMSNormalization of 16-bit floats whose rows fit into the registers of a
// warp: each number is read once.
#pragma once

#include <memory>

#include "cuda/kernels/jit_kernel.h"

namespace anynpu::device::cuda {

struct WideNorm {
  DType type = DType::f16;
  int64_t rows = 0, length = 0;
  bool centred = true, shift = false;
  double epsilon = 0;
};

bool can_run_wide_norm(const WideNorm& norm);
std::string wide_norm_source(const WideNorm& norm, unsigned warps);

// kernel(x, scale, shift, y), all at multiples of 16 bytes.
struct WideNormKernel {
  std::shared_ptr<const JitKernel> kernel;
  size_t blocks = 0;
  unsigned threads = 0;
};
Result<WideNormKernel> make_wide_norm(const WideNorm& norm);

}  // namespace anynpu::device::cuda
