// SPDX-License-Identifier: Apache-2.0
// The register tile of tile.h over bytes: products of four unsigned bytes with four signed ones are
// summed in int32 by VPDPBUSD (AVX512-VNNI; nothing saturates), scaled to real numbers, and rounded
// to bytes again before a result leaves its register (QuantEpilogue).
#pragma once

#include <cstdint>
#include <limits>

#include "base/status.h"

namespace anynpu::ops {

// What follows the sum of an output channel, all in float:
//   v = fma(sum, scale, add)                       scale and add of the channel
//   with a residual z:
//     v = fma(round(clamp(v, first_low, first_high)), first_scale, fma(z, added_scale, added))
//     (first_scale 0: v = v + fma(z, added_scale, added))
//   clamp(v, low, high), for bytes rounded to even, + zero
struct QuantEpilogue {
  bool floats = false;  // the results are floats
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
  int32_t zero = 0;
  float first_scale = 0, first_low = 0, first_high = 0;
  float added_scale = 0, added = 0;
};

struct QuantTileArgs {
  const uint8_t* in = nullptr;    // first pixel of the tile; four k lie side by side
  const int64_t* runs = nullptr;  // offsets in bytes
  int64_t run_count = 0;
  int64_t run_length = 0;           // a multiple of 4
  int64_t pixel_step = 0;           // read where find() was given another step than 16 and 32
  int64_t in_row = 0;               // as in TileArgs; a tile has one row here
  const int8_t* weights = nullptr;  // [run][k / 4][16 * blocks][4]
  const int32_t* start = nullptr;   // 16 * blocks sums to begin with
  const float* scale = nullptr;     // 16 * blocks values each
  const float* bias = nullptr;
  const QuantEpilogue* epilogue = nullptr;
  const uint8_t* residual = nullptr;                  // null, or laid out as out
  void* out = nullptr;                                // bytes or floats
  int64_t out_row = 0, out_pixel = 0, out_block = 0;  // steps in elements
  int64_t lanes = 16;                                 // channels that the last block stores
};
using QuantTileFunction = void (*)(const QuantTileArgs& args);

constexpr int64_t kQuantPixels = 14, kQuantBlocks = 2;

// check_vnni() in tile_int8.h says whether the processor has the instruction. `step`: bytes from
// pixel to pixel.
QuantTileFunction find_quant_tile(int64_t step, int64_t pixels, int64_t blocks);

// [k][width] of whole numbers to [k / 4][width][4], k a multiple of 4.
void quad_weights(const float* from, int64_t k, int64_t width, int8_t* to);

}  // namespace anynpu::ops
