// SPDX-License-Identifier: Apache-2.0
// The transforms of Winograd's F(2x2, 3x3): 3x3 convolutions of stride 1 take 16 products for four
// outputs instead of 36. Over blocks of 16 channels, with AVX-512; between the two transforms are
// 16 matrix products over channels.
#pragma once

#include <cstdint>

namespace anynpu::ops::conv {

constexpr int64_t kWinogradTaps = 16;   // of a transformed kernel or tile: 4 x 4
constexpr int64_t kWinogradPanel = 32;  // output channels that are packed together

// Transforms 4 x 4 pixels of every block of 16 input channels to 16 taps.
struct WinogradInput {
  const float* in = nullptr;  // the first block's plane: h x w pixels
  int64_t blocks = 0, h = 0, w = 0;
  int64_t y = 0, x = 0;                // of the first pixel; pixels outside the plane are zeros
  float* out = nullptr;                // the first block's first tap
  int64_t out_block = 0, out_tap = 0;  // steps in elements
};
void winograd_input(const WinogradInput& tile);

// 16 taps to 2 x 2 outputs of some blocks of 16 channels, with bias, residual and clamp.
struct WinogradOutput {
  const float* in = nullptr;
  int64_t in_block = 0, in_tap = 0;
  int64_t blocks = 0;
  const float* bias = nullptr;      // 16 * blocks values
  const float* residual = nullptr;  // null, or as out
  float* out = nullptr;             // the first pixel
  int64_t out_row = 0, out_block = 0;
  int64_t rows = 2, columns = 2;  // that lie inside the output
  bool clamp = false;
  float min = 0, max = 0;
};
void winograd_output(const WinogradOutput& tile);

// 3 x 3 kernels of 32 output channels to their 16 taps.
void winograd_weights(const float kernel[9][kWinogradPanel],
                      float taps[kWinogradTaps][kWinogradPanel]);

}  // namespace anynpu::ops::conv
