// SPDX-License-Identifier: Apache-2.0
// Builds rows of 32 elements from several lines. Included after multiply.h, in the same way.
#pragma once

#include "ops/amx/multiply.h"

namespace anynpu::ops::amx {
namespace {

template <typename Tiles>
void permute_rows(const RowPermute& p) {
  for (int64_t i = 0; i < p.rows; ++i) {
    Words row{};
    for (int64_t line = 0; line < p.count; ++line) {
      Words from, order;
      std::memcpy(&from, p.lines[line] + i * p.step, sizeof from);
      std::memcpy(&order, p.orders + line * kDepth, sizeof order);
      row = Tiles::permute(row, order, from);
    }
    std::memcpy(static_cast<void*>(p.to + i * p.to_step), &row, sizeof row);
  }
}

template <typename Tiles, int known>
inline void blend_rows(const RowBlend& j) {
  const int64_t count = known > 0 ? known : j.count;
  for (int64_t i = 0; i < j.rows; ++i) {
    Words row{};
#pragma GCC unroll 4
    for (int64_t line = 0; line < count; ++line) {
      const BF16* const from = j.lines[line] + i * j.step - line * j.width;
      row = Tiles::take(row, j.masks[line], from);
    }
    std::memcpy(static_cast<void*>(j.to + i * kDepth), &row, sizeof row);
  }
}

template <typename Tiles>
void blend_lines(const RowBlend& blend) {
  blend.count == 3 ? blend_rows<Tiles, 3>(blend) : blend_rows<Tiles, 0>(blend);
}

}  // namespace
}  // namespace anynpu::ops::amx
