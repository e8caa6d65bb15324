// SPDX-License-Identifier: Apache-2.0
// One output row of a depthwise convolution over blocked bfloat16 (see lanes.h), by AVX-512. Sums
// are f32. A register holds eight channels of two pixels: the even ones are the low halves of
// 32-bit words, the odd ones the high halves, so that neither reading nor writing moves anything
// about.
#pragma once

#include <cstdint>

#include "tensor/half.h"

namespace anynpu::ops {

struct ShortLaneRow {
  const BF16* in = nullptr;  // the block's plane: in_h x in_w pixels of 16 channels
  BF16* out = nullptr;       // out_w pixels
  int64_t in_h = 0, in_w = 0, out_w = 0;
  int64_t y = 0, x = 0;  // as in LaneRow
  int64_t kernel_h = 1, kernel_w = 1, stride_w = 1, dilation_h = 1, dilation_w = 1;
  const float* weights = nullptr;  // [kernel_h][kernel_w][16]; channels in short_lane() order
  const float* bias = nullptr;     // 16 values in the same order
  const BF16* residual = nullptr;  // null, or as out
  bool clamp = false;
  float min = 0, max = 0;
};

// Where the weights of a channel of a block stand: first the even channels, then the odd ones.
constexpr int64_t short_lane(int64_t channel) { return channel % 2 * 8 + channel / 2; }

// Where check_isa(Isa::avx512) is ok.
void depthwise_row_bf16(const ShortLaneRow& row);

}  // namespace anynpu::ops
