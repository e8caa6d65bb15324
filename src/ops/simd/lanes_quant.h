// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution of bytes over blocked channels (lanes.h has the one of floats): four
// neighbouring pixels of a row are turned into four taps of 16 channels by VPERMB (AVX512-VBMI) and
// multiplied by VPDPBUSD, for several output rows at a time.
#pragma once

#include <cstdint>

#include "ops/simd/tile_quant.h"

namespace anynpu::ops {

constexpr int64_t kQuantRows = 4;  // output rows that share what they read

struct QuantLaneRows {
  const uint8_t* in = nullptr;      // the first pixel read; 48 bytes behind the last are read too
  int64_t in_row = 0;               // bytes from row to row, padding included
  int64_t kernel_h = 1, quads = 1;  // taps down, and groups of four across
  int64_t stride_h = 1, stride_w = 1;
  const int8_t* weights = nullptr;  // [kernel_h][quads][16][4]
  const int32_t* start = nullptr;   // 16 values each
  const float* scale = nullptr;
  const float* bias = nullptr;
  const QuantEpilogue* epilogue = nullptr;
  const uint8_t* residual = nullptr;  // null, or laid out as out
  void* out = nullptr;                // bytes or floats
  int64_t rows = 1;                   // at most kQuantRows
  int64_t out_w = 0;
};

// Ok when the processor and this build have the instructions; otherwise a reason.
Status check_vbmi();
// Kernels of up to 7 rows and 8 columns.
void depthwise_quant_rows(const QuantLaneRows& rows);

// out[i] = table[in[i]], a table of 256; in may be out.
void look_up_bytes(const uint8_t* table, const uint8_t* in, int64_t count, uint8_t* out);

}  // namespace anynpu::ops
