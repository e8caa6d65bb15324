// SPDX-License-Identifier: Apache-2.0
// Row kernels over blocked bfloat16 (see lanes.h), by AVX-512. A register holds the 16 channels of
// one pixel as f32; results are rounded once.
#pragma once

#include <cstdint>

#include "tensor/half.h"

namespace anynpu::ops {

// Output rows of one block of 16 channels, next to each other.
struct ShortLaneRows {
  const BF16* in = nullptr;  // the block's plane: in_h x in_w pixels of 16 channels
  BF16* out = nullptr;       // rows x out_w pixels
  int64_t in_h = 0, in_w = 0, out_w = 0;
  int64_t out_pixel = 16;  // of depthwise rows: elements from a pixel of out to the next
  int64_t rows = 1;        // at most kShortRows
  int64_t y = 0, x = 0;    // as in LaneRow, for the first row
  int64_t kernel_h = 1, kernel_w = 1, stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1;
  const float* weights = nullptr;  // [kernel_h][kernel_w][16]; channels in short_lane() order
  const float* bias = nullptr;     // 16 values in the same order
  const BF16* residual = nullptr;  // null, or as out
  float min = 0, max = 0;          // infinities where nothing is cut off
  // Average pooling, as in LaneRow.
  bool count_pads = false;
  int64_t count_h = 0, count_w = 0;
};

constexpr int64_t kShortRows = 4;

// The position of a channel's weights in a block: the second and third group of four are swapped.
constexpr int64_t short_lane(int64_t channel) {
  return (channel / 8 + channel / 4 % 2 * 2) * 4 + channel % 4;
}

struct ShortLaneSet {
  void (*max_rows)(const ShortLaneRows& rows);
  void (*average_rows)(const ShortLaneRows& rows);
  void (*depthwise_rows)(const ShortLaneRows& rows);
};

// For this processor, where check_isa(Isa::avx512) is ok.
const ShortLaneSet& short_lane_set();
// Rounding by integers; and by AVX512-BF16, where results below 1e-38 become 0.
extern const ShortLaneSet kShortLanesAvx512, kShortLanesBf16;

}  // namespace anynpu::ops
