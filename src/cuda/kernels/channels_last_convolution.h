// SPDX-License-Identifier: Apache-2.0
// Convolutions of 16-bit floats with channels last (NHWC, ops::Layout::channels_last), fused with
// bias, residual and clamp: a cuDNN graph, or a cuBLASLt matrix product for patch embeddings and
// for 1x1 convolutions where autotuning finds it faster. Depthwise convolutions have a generated
// kernel.
#pragma once

#include <memory>
#include <span>

#include "cuda/cuda_queue.h"
#include "ops/activation.h"
#include "ops/schema.h"

namespace anynpu::device::cuda {

struct ChannelsLastOptions {
  bool from_plain = false;                    // the input has plain layout (NCHW)
  ops::Activation input_clamp;                // applied to the input; depthwise only
  std::optional<ops::Activation> activation;  // replaces the node's activation
};

class ChannelsLastConvolution {
 public:
  // `context` is a Conv or FusedConv. Equal problems share one object.
  static Result<std::shared_ptr<const ChannelsLastConvolution>> make(
      const ops::OpContext& context, const ChannelsLastOptions& options);
  virtual ~ChannelsLastConvolution() = default;

  // Converts the node's filters to the layout that enqueue() takes.
  virtual size_t packed_bytes() const = 0;
  virtual void pack(std::span<const std::byte> filters, std::span<std::byte> packed) const = 0;

  virtual size_t workspace_bytes() const = 0;
  struct Operands {
    const void *x = nullptr, *filters = nullptr, *bias = nullptr, *residual = nullptr;
    void* y = nullptr;
    std::byte* workspace = nullptr;
  };
  virtual Status enqueue(CudaQueue& queue, const Operands& operands) const = 0;
  // Whether this is the depthwise kernel, which applies input_clamp.
  virtual bool is_depthwise() const { return false; }
};

}  // namespace anynpu::device::cuda
