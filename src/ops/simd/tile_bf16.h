// SPDX-License-Identifier: Apache-2.0
// The register tile of tile.h over bfloat16: products of pairs (k, k + 1) are summed in f32 by
// VDPBF16PS (AVX512-BF16), the result is rounded once. That instruction takes denormals as 0.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "ops/simd/rows.h"
#include "tensor/half.h"

namespace anynpu::ops {

struct Bf16TileArgs {
  const BF16* in = nullptr;       // first pixel of the tile; pairs of k lie side by side
  const int64_t* runs = nullptr;  // offsets in elements
  int64_t run_count = 0;
  int64_t run_length = 0;          // even
  int64_t pixel_step = 0;          // even; read where find() was given another step than 16 and 32
  int64_t in_row = 0;              // as in TileArgs; a tile has one row here
  const BF16* weights = nullptr;   // [run][k / 2][16 * blocks][2]
  const float* bias = nullptr;     // 16 * blocks values
  const BF16* residual = nullptr;  // null, or laid out as out
  BF16* out = nullptr;
  int64_t out_row = 0, out_pixel = 0, out_block = 0;  // steps in elements
  int64_t lanes = 16;                                 // channels that the last block stores
  bool clamp = false;
  float min = 0, max = 0;
  RowMap activation_function = nullptr;  // instead of the clamp
};

using Bf16TileFunction = void (*)(const Bf16TileArgs& args);

constexpr int64_t kBf16Pixels = 14, kBf16Blocks = 2;

// How pixels follow each other: a step that is known lets the compiler fold addresses.
enum class Bf16Walk : uint8_t { any, step16, step32, packed /* in[k / 2][pixel][2] */ };

// Ok when the processor and this build have the instruction; otherwise a reason.
Status check_bf16();
Bf16TileFunction find_bf16_tile(Bf16Walk walk, int64_t pixels, int64_t blocks);

// [k][width] of f32 to [k / 2][width][2], k even.
void pair_weights(const float* from, int64_t k, int64_t width, BF16* to);

}  // namespace anynpu::ops
