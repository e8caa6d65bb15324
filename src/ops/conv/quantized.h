// SPDX-License-Identifier: Apache-2.0
// QuantizedConv: a convolution of bytes with everything around it, made by plans from
// DequantizeLinear, Conv, Relu, Add and QuantizeLinear (compile/join_quantized.cpp). See
// quantize/requantize.h for what it computes; inputs are those of FusedConv.
#pragma once

#include "ops/conv/conv.h"
#include "ops/quantize/requantize.h"

namespace anynpu::ops::conv {

struct QuantizedConvCase {
  ConvShape shape;
  quantize::Requantize requantize;
  const int8_t* weights = nullptr;  // constant
  const float* bias = nullptr;      // constant, or none

  static Result<QuantizedConvCase> of(const OpContext& context);
  int64_t taps() const { return element_count(shape.window.kernel); }
  int64_t group_in() const { return shape.in_channels / shape.group; }
  // What the sums of channel `o` start with: the zero of the input times all its weights.
  int32_t start(int64_t o) const;
};

void add_quantized_conv_schema(Registry& registry);

// Register tiles of AVX512-VNNI over blocked channels.
Status can_run_quantized_conv(const OpContext& context);
Result<std::unique_ptr<Kernel>> create_quantized_conv(const OpContext& context);
// One filter per channel (depthwise_quantized.cpp).
Status can_run_quantized_depthwise(const OpContext& context);
Result<std::unique_ptr<Kernel>> create_quantized_depthwise(const OpContext& context);
// The oracle of the tests.
Result<std::unique_ptr<KernelPlan>> plan_quantized_conv_reference(const OpContext& context);

}  // namespace anynpu::ops::conv
