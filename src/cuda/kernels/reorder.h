// SPDX-License-Identifier: Apache-2.0
// Kernels that turn tensors between plain layout and channels last.
#pragma once

#include <memory>

#include "cuda/kernels/jit_kernel.h"

namespace anynpu::device::cuda {

// kernel(x, y) with a fixed grid.
struct LayoutConversion {
  std::shared_ptr<const JitKernel> kernel;
  size_t blocks = 0;
  unsigned threads = 0;
  size_t bytes = 0;  // of y
  std::shared_ptr<const LayoutConversion>
      unaligned;  // for an x that does not start at a multiple of 16 bytes

  Status enqueue(CudaQueue& queue, void** arguments) const {
    const auto x = reinterpret_cast<uintptr_t>(*static_cast<void**>(arguments[0]));
    if (unaligned && x % 16 != 0) return unaligned->enqueue(queue, arguments);
    return kernel->launch(queue, blocks, threads, arguments);
  }
};

// To channels last with `wide` channels, zeros behind those of the model; from plain layout, or
// from channels last without the zeros.
Result<std::shared_ptr<const LayoutConversion>> make_to_channels_last(DType type, int64_t batch,
                                                                      int64_t channels,
                                                                      int64_t plane, int64_t wide,
                                                                      bool from_plain);

// Windows that lie beside each other, a row each: channel by channel as a filter lies. From plain
// layout.
struct Patches {
  int64_t batch, channels, height, width, window_height, window_width, down, across;
};
Result<std::shared_ptr<const LayoutConversion>> make_patches(DType type, const Patches& patches);

// Matrices of rows x columns to columns x rows.
Result<std::shared_ptr<const LayoutConversion>> make_transpose(size_t element_bytes, int64_t batch,
                                                               int64_t rows, int64_t columns);

}  // namespace anynpu::device::cuda
