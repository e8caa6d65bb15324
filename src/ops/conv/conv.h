// SPDX-License-Identifier: Apache-2.0
// Convolution: the problem as every kernel of the family sees it.
#pragma once

#include <limits>
#include <memory>

#include "ops/cpu/isa.h"
#include "ops/kernel.h"
#include "ops/window.h"

namespace anynpu::ops {

struct ConvShape {
  int64_t batch = 0, in_channels = 0, out_channels = 0, group = 1;
  Window window;
};

// Clamp to [min, max] after bias and residual; NaN stays NaN.
struct Activation {
  bool on = false;
  float min = -std::numeric_limits<float>::infinity();
  float max = std::numeric_limits<float>::infinity();
};

// Checks channels, groups, kernel_shape and bias. Extents of the input may be -1.
Result<ConvShape> conv_shape_of(const OpContext& context);
// The fused activation of a node of domain "anynpu"; off for others.
Result<Activation> activation_of(const OpContext& context);

Result<std::unique_ptr<Kernel>> create_conv_reference(const OpContext& context);

class Registry;

void register_causal_conv(Registry& registry);

template <Isa isa>
Status can_run_depthwise_conv(const OpContext& context);
template <Isa isa>
Result<std::unique_ptr<Kernel>> create_depthwise_conv(const OpContext& context);

}  // namespace anynpu::ops
