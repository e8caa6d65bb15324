// SPDX-License-Identifier: Apache-2.0
// Kernels that convert tensors between plain layout (NCHW) and channels last (NHWC).
#pragma once

#include <memory>

#include "cuda/kernels/jit_kernel.h"

namespace anynpu::device::cuda {

// A kernel(x, y) and its launch configuration.
struct LayoutConversion {
  std::shared_ptr<const JitKernel> kernel;
  size_t blocks = 0;
  unsigned threads = 0;
  size_t bytes = 0;                                   // size of y
  std::shared_ptr<const LayoutConversion> unaligned;  // for an x not aligned to 16 bytes

  Status enqueue(CudaQueue& queue, void** arguments) const {
    const auto x = reinterpret_cast<uintptr_t>(*static_cast<void**>(arguments[0]));
    if (unaligned && x % 16 != 0) return unaligned->enqueue(queue, arguments);
    return kernel->launch(queue, blocks, threads, arguments);
  }
};

// Converts to channels last and pads the channels with zeros from `channels` to `wide`. The input
// has plain layout, or is channels last without padding.
Result<std::shared_ptr<const LayoutConversion>> make_to_channels_last(DType type, int64_t batch,
                                                                      int64_t channels,
                                                                      int64_t plane, int64_t wide,
                                                                      bool from_plain);

// im2col for non-overlapping windows (patch embedding), from plain layout: one row per window, in
// the order of a filter (CRS).
struct Patches {
  int64_t batch, channels, height, width, window_height, window_width, down, across;
};
Result<std::shared_ptr<const LayoutConversion>> make_patches(DType type, const Patches& patches);

// Transposes a batch of matrices.
Result<std::shared_ptr<const LayoutConversion>> make_transpose(size_t element_bytes, int64_t batch,
                                                               int64_t rows, int64_t columns);

}  // namespace anynpu::device::cuda
