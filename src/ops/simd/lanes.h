// SPDX-License-Identifier: Apache-2.0
// Row kernels that work on 16 channels at a time without sums across them (pooling, depthwise
// convolution over blocked tensors), and maxima and sums of rows of plain tensors. Compiled once
// per instruction set (see isa.h).
#pragma once

#include <cstdint>

#include "ops/simd/isa.h"

namespace anynpu::ops {

// One output row of one block of 16 channels. Steps are in pixels of 16 floats.
struct LaneRow {
  const float* in = nullptr;  // the block's plane: in_h x in_w pixels
  float* out = nullptr;       // out_w pixels
  int64_t in_h = 0, in_w = 0, out_w = 0;
  int64_t y = 0;  // first input row under the kernel; negative in the pads
  int64_t x = 0;  // first input column for output column 0; negative in the pads
  int64_t kernel_h = 1, kernel_w = 1, stride_w = 1, dilation_h = 1, dilation_w = 1;

  // Average pooling: what to divide by. With count_pads, pads count up to count_h and count_w.
  bool count_pads = false;
  int64_t count_h = 0, count_w = 0;  // extents with the pads at the end

  // Depthwise convolution: [kernel_h][kernel_w][16] and 16 values; residual null or as out.
  const float* weights = nullptr;
  const float* bias = nullptr;
  const float* residual = nullptr;
  bool clamp = false;
  float min = 0, max = 0;
};

struct LaneSet {
  void (*max_row)(const LaneRow& row);
  void (*average_row)(const LaneRow& row);
  void (*depthwise_row)(const LaneRow& row);
  // y[i] = the largest, or the sum, of rows[0][i] ... rows[n - 1][i]; n is at least 1 and y none of
  // them. NaN wins.
  void (*max_of_rows)(const float* const* rows, int64_t n, float* y, int64_t count);
  void (*sum_of_rows)(const float* const* rows, int64_t n, float* y, int64_t count);
};

const LaneSet& lane_set(Isa isa);
extern const LaneSet kLanesBaseline, kLanesAvx2, kLanesAvx512;

}  // namespace anynpu::ops
