// SPDX-License-Identifier: Apache-2.0
// The register tile that convolution and matrix products share:
//   out[pixel][channel] = clamp(bias[channel] + residual + sum over r, k of
//                               in[runs[r] + k + pixel * step] * weights[r][k][channel])
// for up to max_pixels pixels and 16 or 32 channels, all sums in registers. A convolution over
// NCHW16c input has one run per (channel block, kernel row), a matrix product a single run.
// Sums are split into accumulation chunks (tile_body.inc) to reduce rounding errors. Their order
// depends only on runs: tiles of any size give the same bits.
#pragma once

#include <cstdint>

#include "ops/simd/isa.h"

namespace anynpu::ops {

struct TileArgs {
  const float* in = nullptr;      // first pixel of the tile
  const int64_t* runs = nullptr;  // offsets in elements
  int64_t run_count = 0;
  int64_t run_length = 0;
  int64_t pixel_step = 0;           // read by Walk::any only
  int64_t in_row = 0;               // from the first row of the tile to the second
  const float* weights = nullptr;   // [run][k][16 * blocks]
  const float* bias = nullptr;      // 16 * blocks values
  const float* residual = nullptr;  // null, or laid out as out
  float* out = nullptr;
  int64_t out_row = 0, out_pixel = 0, out_block = 0;  // steps in elements
  int64_t lanes = 16;                                 // channels that the last block stores
  bool prefetch = false;  // input and results do not fit the caches: fetch them ahead
  // What the next tiles read and no cache holds (other weights): fetched into the second-level
  // cache, ahead_step floats for each k; by Walk::packed, step16 and step32. Null: nothing.
  const float* ahead = nullptr;
  int64_t ahead_step = 0;
  bool clamp = false;
  float min = 0, max = 0;
};

// How pixels follow each other in the input. Fixed steps let the compiler fold addresses.
enum class Walk : uint8_t {
  any,     // TileArgs::pixel_step
  step16,  // NCHW16c, stride 1
  step32,  // NCHW16c, stride 2
  step3,   // three interleaved channels, stride 1
  step6,   // the same, stride 2
  packed,  // in[k * pixels + pixel]: a packed panel of a matrix
};

using TileFunction = void (*)(const TileArgs& args);

struct TileSet {
  Isa isa = Isa::baseline;
  int64_t max_pixels = 1;    // of one row; two rows take max_pixels / 2 each
  int64_t panel_blocks = 1;  // blocks of 16 channels that a full weight panel holds: 1 or 2
  // rows 1 or 2 (2 for step16 and step32 alone), pixels per row, blocks 1 to panel_blocks.
  TileFunction (*find)(Walk walk, int64_t rows, int64_t pixels, int64_t blocks) = nullptr;
};

// Sets what tile `at` of `count` fetches ahead: its part of `next`, weights like its own of `width`
// floats for each k. Null: nothing.
inline void fetch_ahead(TileArgs& t, const float* next, int64_t width, int64_t at, int64_t count) {
  const int64_t step = (width + count - 1) / count;
  const bool any = next && at * step < width;
  t.ahead = any ? next + at * step * t.run_count * t.run_length : nullptr;
  t.ahead_step = any ? step : 0;
}
// Weights of more bytes come from memory in each run of a network: others drove them out.
constexpr int64_t kMostCachedWeights = 1 << 20;

const TileSet& tile_set(Isa isa);
extern const TileSet kTilesBaseline, kTilesAvx2, kTilesAvx512;

}  // namespace anynpu::ops
