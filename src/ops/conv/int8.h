// SPDX-License-Identifier: Apache-2.0
// ConvInteger and QLinearConv as one problem: sums of (x - x_zero) * (w - w_zero) and a bias that
// wrap as int32, for QLinearConv scaled and rounded to a byte. Padding counts as x_zero.
#pragma once

#include "ops/quantize/quantize.h"
#include "ops/window.h"

namespace anynpu::ops::conv {

using quantize::QuantParameter;

struct IntegerConv {
  Window window;
  int64_t batch = 0, in_channels = 0, channels = 0;
  int64_t groups = 1, group_in = 0, group_out = 0;  // channels of a group
  int64_t in_size = 0, out_size = 0, taps = 0;      // elements of one channel
  size_t weight = 1;                                // the input
  DType x_type = DType::u8, w_type = DType::u8, out_type = DType::i32;
  bool linear = false;
  QuantParameter x_zero, w_zero, x_scale, w_scale, y_scale, y_zero, bias;

  // The scale of the sums of output channel m; QLinearConv only.
  double factor(const RunArgs& args, int64_t m) const;
  int32_t low() const { return out_type == DType::i8 ? -128 : 0; }
  int32_t high() const { return out_type == DType::i8 ? 127 : 255; }
};

Result<IntegerConv> integer_conv_of(const OpContext& context);

// The oracle of the tests (int8_reference.cpp).
PlanResult plan_int8_conv(const OpContext& context);
// On register tiles of AVX512-VNNI (int8_avx512.cpp).
Status can_run_packed_conv(const OpContext& context);
Result<std::unique_ptr<Kernel>> create_packed_conv(const OpContext& context);

}  // namespace anynpu::ops::conv
