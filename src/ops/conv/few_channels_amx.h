// SPDX-License-Identifier: Apache-2.0
// The left side of the product for images of few channels (the first layer of a network): the whole
// window of an output pixel is one row of 32 elements, [line][column][channel], padded with zeros.
//
// Lines of the input are interleaved first, [column][channel] with the padding around them, so that
// the part of a window in one line is contiguous; the last few such lines are kept. Both steps move
// 32 elements at a time (RowPermute, RowBlend).
#pragma once

#include <vector>

#include "ops/amx/tiles.h"
#include "ops/conv/conv.h"

namespace anynpu::ops::conv {

class Fold {
 public:
  Fold() = default;
  explicit Fold(const ConvShape& conv);

  // Whether the convolution is supported.
  static bool takes(const ConvShape& conv);

  int64_t scratch_bytes() const;
  // Builds the rows for the output pixels of lines [top, end) of an image.
  void run(const amx::Engine& engine, const BF16* input, int64_t image, int64_t top, int64_t end,
           BF16* scratch, BF16* to) const;

 private:
  void mix(const amx::Engine& engine, const BF16* input, int64_t image, int64_t y, BF16* to) const;

  int64_t channels_ = 0, batch_ = 0;
  Window window_;
  int64_t seen_ = 0;   // columns with the pads
  int64_t pitch_ = 0;  // elements of a mixed line
  std::vector<uint16_t> mixing_;
  std::vector<uint32_t> masks_;
};

}  // namespace anynpu::ops::conv
