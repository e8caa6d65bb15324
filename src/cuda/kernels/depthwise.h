// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions with channels last. Each thread computes a few channels of one or more
// neighbouring outputs.
#pragma once

#include "cuda/kernels/channels_last_convolution.h"
#include "ops/conv/conv.h"

namespace anynpu::device::cuda {

struct Depthwise {
  DType type = DType::f16;
  ops::conv::ConvShape shape;  // with two spatial axes
  bool bias = false;
  ops::Activation activation, input_clamp;
};

bool can_run_depthwise(const ops::conv::ConvShape& shape);
Result<std::shared_ptr<const ChannelsLastConvolution>> make_depthwise(const Depthwise& work);

}  // namespace anynpu::device::cuda
