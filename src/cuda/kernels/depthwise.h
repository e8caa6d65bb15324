// SPDX-License-Identifier: Apache-2.0
// Convolutions whose channels have a filter each, channels last: a thread has some channels of some
// neighbouring results.
#pragma once

#include "cuda/kernels/channels_last_convolution.h"
#include "ops/conv/conv.h"

namespace anynpu::device::cuda {

struct Depthwise {
  DType type = DType::f16;
  ops::conv::ConvShape shape;  // of two spatial axes
  bool bias = false;
  ops::Activation activation, input_clamp;
};

bool can_run_depthwise(const ops::conv::ConvShape& shape);
Result<std::shared_ptr<const ChannelsLastConvolution>> make_depthwise(const Depthwise& work);

}  // namespace anynpu::device::cuda
