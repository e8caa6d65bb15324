// SPDX-License-Identifier: Apache-2.0
// A convolution of 16-bit floats with channels last (Layout::channels_last), its bias, residual
// and clamp in one kernel: through cuDNN, as a matrix product where it is one, or generated where
// each channel has a filter of its own. The fastest is taken, by measurement.
#pragma once

#include <memory>
#include <span>

#include "cuda/cuda_queue.h"
#include "ops/activation.h"
#include "ops/schema.h"

namespace anynpu::device::cuda {

struct LastOptions {
  bool from_plain = false;       // the input is in plain layout
  ops::Activation input_clamp;   // of what is read; for filters of one channel alone
  std::optional<ops::Activation> activation;  // in place of the node's
};

class LastConvolution {
 public:
  // `context` is a Conv or FusedConv. The same object for the same problem.
  static Result<std::shared_ptr<const LastConvolution>> make(const ops::OpContext& context,
                                                             const LastOptions& options);
  virtual ~LastConvolution() = default;

  // Filters as enqueue() wants them, from those of the node.
  virtual size_t packed_bytes() const = 0;
  virtual void pack(std::span<const std::byte> filters, std::span<std::byte> packed) const = 0;

  virtual size_t workspace_bytes() const = 0;
  struct Operands {
    const void *x = nullptr, *filters = nullptr, *bias = nullptr, *residual = nullptr;
    void* y = nullptr;
    std::byte* workspace = nullptr;
  };
  virtual Status enqueue(CudaQueue& queue, const Operands& operands) const = 0;
  // Whether each channel has a filter of its own, so that input_clamp is taken.
  virtual bool by_channel() const { return false; }
};

}  // namespace anynpu::device::cuda
