// SPDX-License-Identifier: Apache-2.0
#include "ops/amx/product.h"

#include <cstring>

namespace anynpu::ops::amx {

void PackedB::pack_rows(const Engine& engine, int64_t panel, const BF16* from, int64_t row_step,
                        BF16* packed) const {
  if ((panel + 1) * kPanel > n) {
    return pack_panel(
        panel, [&](int64_t row, int64_t column) { return from[row * row_step + column]; }, packed);
  }
  from += panel * kPanel;
  BF16* const to = packed + panel * panel_elements();
  const int64_t paired = k / 2 * 2;
  engine.pair_rows(from, row_step, paired, to);
  // An odd row, and those that fill the last step.
  BF16 rows[2][kPanel] = {};
  if (paired < k) std::copy_n(from + paired * row_step, kPanel, rows[0]);
  for (int64_t row = paired; row < steps() * kDepth; row += 2) {
    BF16* const step = to + row / kDepth * kStepElements + row % kDepth / 2 * kDepth;
    engine.pair_rows(rows[0], kPanel, 2, step);
    std::fill_n(rows[0], kPanel, BF16{});
  }
}

void PackedB::pack_lines(int64_t panel, const BF16* from, int64_t column_step, BF16* packed) const {
  BF16* tile = packed + panel * panel_elements();
  for (int64_t step = 0; step < steps(); ++step) {
    const int64_t count = std::min(kDepth, k - step * kDepth);
    for (int64_t half = 0; half < 2; ++half, tile += kRows * kDepth) {
      for (int64_t i = 0; i < kRows; ++i) {
        const int64_t column = panel * kPanel + half * kRows + i;
        const BF16* line = from + column * column_step + step * kDepth;
        BF16 cut[kDepth] = {};
        if (column >= n || count < kDepth) {
          if (column < n) std::copy_n(line, count, cut);
          line = cut;
        }
        for (int64_t pair = 0; pair < kRows; ++pair)
          std::memcpy(static_cast<void*>(tile + pair * kDepth + 2 * i), line + 2 * pair, 4);
      }
    }
  }
}

}  // namespace anynpu::ops::amx
