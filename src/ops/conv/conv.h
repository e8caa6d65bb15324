// SPDX-License-Identifier: Apache-2.0
// Convolution: the problem description that all kernels of the family share.
#pragma once

#include <limits>
#include <memory>

#include "ops/activation.h"
#include "ops/kernel.h"
#include "ops/simd/isa.h"
#include "ops/window.h"

namespace anynpu::ops {
class Registry;
}

namespace anynpu::ops::conv {

struct ConvShape {
  int64_t batch = 0, in_channels = 0, out_channels = 0, group = 1;
  Window window;
};

// Checks channels, groups, kernel_shape and bias. Extents of the input may be -1.
Result<ConvShape> conv_shape_of(const OpContext& context);
Result<std::unique_ptr<Kernel>> create_conv_reference(const OpContext& context);

// Schemas of the operators with a list in kernels.cpp; the others are beside their one kernel.
void add_conv_schemas(Registry& registry);
void add_conv_transpose_schema(Registry& registry);
void add_int8_conv_schemas(Registry& registry);
void add_bottleneck_schema(Registry& registry);  // after add_conv_schemas()
void register_causal_conv(Registry& registry);
void register_deform_conv(Registry& registry);
void register_col2im(Registry& registry);
void register_im2col_op(Registry& registry);

Result<std::unique_ptr<KernelPlan>> plan_conv_transpose(const OpContext& context);  // the reference

template <Isa isa>
Status can_run_depthwise_conv(const OpContext& context);
template <Isa isa>
Result<std::unique_ptr<Kernel>> create_depthwise_conv(const OpContext& context);

}  // namespace anynpu::ops::conv
