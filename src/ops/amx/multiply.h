// SPDX-License-Identifier: Apache-2.0
// Work of an engine, over its operations on tiles. Included by the file of each engine, which may
// have set the compiler's target; what it stands on must be included before that.
// Tiles: 0-3 sums (row tile * 2 + column tile), 4-5 rows of a, 6-7 columns of b.
#pragma once

#include "ops/amx/tiles.h"

namespace anynpu::ops::amx {

template <typename Tiles>
void multiply(const Job& job) {
  Tiles tiles;  // configures the unit of this thread, and releases it at the end
  constexpr int64_t kTile = kRows * kDepth, kSums = kRows * kRows;
  constexpr int64_t kRowBytes = kDepth * 2, kSumBytes = kRows * 4;
  float* sums = job.sums;
  for (int64_t column = 0; column < job.column_panels; ++column) {
    for (int64_t row = 0; row < job.row_panels; ++row, sums += kBlockSums) {
      const BF16* a = job.a + row * job.steps * kStepElements;
      const BF16* b = job.b + column * job.b_panel;
      if (job.first) {
        tiles.template zero<0>();
        tiles.template zero<1>();
        tiles.template zero<2>();
        tiles.template zero<3>();
      } else {
        tiles.template load<0>(sums, kSumBytes);
        tiles.template load<1>(sums + kSums, kSumBytes);
        tiles.template load<2>(sums + 2 * kSums, kSumBytes);
        tiles.template load<3>(sums + 3 * kSums, kSumBytes);
      }
      for (int64_t step = 0; step < job.steps; ++step, a += kStepElements, b += kStepElements) {
        tiles.template load_once<6>(b, kRowBytes);
        tiles.template load<4>(a, kRowBytes);
        tiles.template add_product<0, 4, 6>();
        tiles.template load_once<7>(b + kTile, kRowBytes);
        tiles.template add_product<1, 4, 7>();
        tiles.template load<5>(a + kTile, kRowBytes);
        tiles.template add_product<2, 5, 6>();
        tiles.template add_product<3, 5, 7>();
      }
      tiles.template store<0>(sums, kSumBytes);
      tiles.template store<1>(sums + kSums, kSumBytes);
      tiles.template store<2>(sums + 2 * kSums, kSumBytes);
      tiles.template store<3>(sums + 3 * kSums, kSumBytes);
    }
  }
}

template <typename Tiles>
void finish(const Finish& f, const float* sums) {
  alignas(64) float values[kRows];
  for (int64_t j = 0; j < kRows; ++j) values[j] = f.alpha * sums[j] + f.bias[j];
  if (f.residual && f.lanes == kRows) {
    for (int64_t j = 0; j < kRows; ++j) values[j] += to_float(f.residual[j]);
  } else if (f.residual) {
    for (int64_t j = 0; j < f.lanes; ++j) values[j] += to_float(f.residual[j]);
  }
  if (f.curve) {
    f.curve(values, values, kRows);
  } else if (f.clamp) {
    for (int64_t j = 0; j < kRows; ++j) {  // comparisons in this order keep NaN
      values[j] = values[j] < f.min ? f.min : values[j];
      values[j] = values[j] > f.max ? f.max : values[j];
    }
  }
  if (f.lanes == kRows) {
    for (int64_t j = 0; j < kRows; ++j) f.out[j] = to_bf16(values[j]);
  } else {
    for (int64_t j = 0; j < f.lanes; ++j) f.out[j] = to_bf16(values[j]);
  }
}

}  // namespace anynpu::ops::amx
