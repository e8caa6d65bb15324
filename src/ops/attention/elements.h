// SPDX-License-Identifier: Apache-2.0
// Reading float32, float16 and bfloat16 tensors as float32, and packing them into panels for the
// register tiles.
#pragma once

#include <algorithm>

#include "base/align.h"
#include "tensor/dtype.h"
#include "tensor/half_arrays.h"

namespace anynpu::ops::attention {

// Elements of float32, float16 or bfloat16, read as float32.
struct Elements {
  DType type = DType::f32;
  const std::byte* data = nullptr;

  const std::byte* at(int64_t index) const {
    return data + static_cast<size_t>(index) * size_of(type);
  }
  bool are_floats() const { return type == DType::f32; }
  void read(int64_t index, int64_t count, float* to) const {
    if (are_floats()) {
      std::copy_n(floats(index), count, to);
    } else {
      widen(type, at(index), to, static_cast<size_t>(count));
    }
  }
  const float* floats(int64_t index) const { return reinterpret_cast<const float*>(at(index)); }
  // Their address if they are float32, else `scratch` with a converted copy.
  const float* line(int64_t index, int64_t count, float* scratch) const {
    if (are_floats()) return floats(index);
    read(index, count, scratch);
    return scratch;
  }
};

// Panels of 16 * panel_blocks columns, [panel][k][columns], as gemm/packed.cpp has them.
struct Panels {
  int64_t k = 0, n = 0, panel_blocks = 1;

  int64_t blocks() const { return ceil_div(n, 16); }
  int64_t width() const { return panel_blocks * 16; }
  int64_t count() const { return ceil_div(blocks(), panel_blocks); }
  int64_t blocks_of(int64_t panel) const {
    return std::min(panel_blocks, blocks() - panel * panel_blocks);
  }
  int64_t floats() const { return blocks() * 16 * k; }

  // A matrix whose rows start `step` elements apart.
  void pack_rows(const Elements& from, int64_t first, int64_t step, float* to) const {
    for (int64_t panel = 0; panel < count(); ++panel) {
      const int64_t column = panel * width(), wide = blocks_of(panel) * 16;
      const int64_t valid = std::min(wide, n - column);
      for (int64_t row = 0; row < k; ++row, to += wide) {
        from.read(first + row * step + column, valid, to);
        std::fill(to + valid, to + wide, 0.0f);
      }
    }
  }

  // A matrix whose columns start `step` elements apart; `scratch` holds k floats.
  void pack_columns(const Elements& from, int64_t first, int64_t step, float* scratch,
                    float* to) const {
    for (int64_t panel = 0; panel < count(); ++panel) {
      const int64_t column = panel * width(), wide = blocks_of(panel) * 16;
      const int64_t valid = std::min(wide, n - column);
      for (int64_t j = 0; j < wide; ++j) {
        const float* line =
            j < valid ? from.line(first + (column + j) * step, k, scratch) : nullptr;
        for (int64_t row = 0; row < k; ++row) to[row * wide + j] = line ? line[row] : 0.0f;
      }
      to += wide * k;
    }
  }
};

}  // namespace anynpu::ops::attention
