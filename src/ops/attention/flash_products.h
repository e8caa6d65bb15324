// SPDX-License-Identifier: Apache-2.0
// Matrix products of FlashAttention and its gradient on register tiles. They accumulate into `out`,
// or start from `zeros`, which points to 32 zeros.
#pragma once

#include <algorithm>

#include "ops/attention/elements.h"
#include "ops/simd/tile.h"

namespace anynpu::ops::attention {

struct TileProducts {
  static constexpr int64_t kLanes = 16;
  const TileSet* tiles = nullptr;
  const float* zeros = nullptr;

  // out[i][16] (+)= rows[i] x panel, n rows of `size` elements; panel: [element][16].
  void by_columns(const float* rows, int64_t step, int64_t size, int64_t n, const float* panel,
                  float* out, bool add) const {
    TileArgs t = tile(size);
    t.pixel_step = step;
    t.out_pixel = kLanes;
    t.weights = panel;
    for (int64_t i = 0; i < n; i += tiles->max_pixels) {
      t.in = rows + i * step;
      t.out = out + i * kLanes;
      t.residual = add ? t.out : nullptr;
      tiles->find(Walk::any, 1, std::min(tiles->max_pixels, n - i), 1)(t);
    }
  }

  // out[i][width] += rows[i] x matrix, n rows of `size` elements; the matrix is packed.
  void by_panels(const float* rows, int64_t step, int64_t n, const Panels& shape,
                 const float* packed, float* out, int64_t out_step) const {
    TileArgs t = tile(shape.k);
    t.pixel_step = step;
    t.out_pixel = out_step;
    for (int64_t panel = 0; panel < shape.count(); ++panel) {
      t.weights = packed + panel * shape.width() * shape.k;
      for (int64_t i = 0; i < n; i += tiles->max_pixels) {
        t.in = rows + i * step;
        t.out = out + i * out_step + panel * shape.width();
        t.residual = t.out;
        tiles->find(Walk::any, 1, std::min(tiles->max_pixels, n - i), shape.blocks_of(panel))(t);
      }
    }
  }

  // Row `row` of the matrix that by_panels reads.
  static void pack_row(const Panels& shape, int64_t row, const float* line, float* packed) {
    for (int64_t panel = 0; panel < shape.count(); ++panel) {
      const int64_t column = panel * shape.width(), wide = shape.blocks_of(panel) * 16;
      float* to = packed + column * shape.k + row * wide;
      const int64_t valid = std::min(wide, shape.n - column);
      std::copy_n(line + column, valid, to);
      std::fill(to + valid, to + wide, 0.0f);
    }
  }

 private:
  TileArgs tile(int64_t length) const {
    static constexpr int64_t kStart[] = {0};
    TileArgs t;
    t.runs = kStart;
    t.run_count = 1;
    t.run_length = length;
    t.bias = zeros;
    t.out_block = kLanes;
    return t;
  }
};

}  // namespace anynpu::ops::attention
