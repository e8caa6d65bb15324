// SPDX-License-Identifier: Apache-2.0
// Work of an engine, over its operations on tiles. Included by the file of each engine, which may
// have set the compiler's target; what it stands on must be included before that.
// Tiles: 0-3 sums (row tile * 2 + column tile), 4-5 rows of a, 6-7 columns of b.
#pragma once

#include <cstring>

#include "ops/amx/tiles.h"

namespace anynpu::ops::amx {

// Of the file that includes this alone: another has it for another target.
namespace {

using Floats [[gnu::vector_size(64)]] = float;
using Words [[gnu::vector_size(64)]] = uint32_t;
using Halves [[gnu::vector_size(32)]] = uint16_t;

[[gnu::always_inline]] inline Floats load_floats(const float* from) {
  Floats value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

[[gnu::always_inline]] inline Floats widen_16(const BF16* from) {
  Halves halves;
  std::memcpy(&halves, from, sizeof halves);
  return reinterpret_cast<Floats>(__builtin_convertvector(halves, Words) << 16);
}

// As to_bf16().
[[gnu::always_inline]] inline Halves round_16(Floats value) {
  const Words bits = reinterpret_cast<Words>(value);
  const Words rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const Words chosen = value != value ? (bits >> 16) | 0x40u : rounded;
  return __builtin_convertvector(chosen, Halves);
}

// 16 rows x 16 columns of sums, in place until they are stored.
template <bool residual, bool partial>
inline void finish_tile(const Finish& f, float* sums, int64_t row, int64_t column) {
  const Floats bias = load_floats(f.bias + column);
  const int64_t rows = f.rows - row < kRows ? f.rows - row : kRows;
  const int64_t lanes = f.columns - column < kRows ? f.columns - column : kRows;
  const int64_t tile = column / kRows * f.tile_step;
  const auto place = [&](int64_t i) {
    const int64_t at = f.row_at ? f.row_at[row + i] : (row + i) * f.row_step;
    return at < 0 ? -1 : at + tile;
  };
  const auto value_of = [&](int64_t i, int64_t at) {
    Floats value = f.alpha * load_floats(sums + i * kRows) + bias;
    if constexpr (residual) {
      if constexpr (partial) {
        BF16 cut[kRows] = {};
        std::memcpy(static_cast<void*>(cut), f.residual + at, static_cast<size_t>(lanes) * sizeof(BF16));
        value += widen_16(cut);
      } else {
        value += widen_16(f.residual + at);
      }
    }
    return value;
  };
  const auto store = [&](Floats value, int64_t at) {
    const Halves halves = round_16(value);
    std::memcpy(static_cast<void*>(f.out + at), &halves, static_cast<size_t>(partial ? lanes : kRows) * sizeof(BF16));
  };
  if (f.curve) {
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t at = place(i);
      if (at < 0) continue;
      const Floats value = value_of(i, at);
      std::memcpy(sums + i * kRows, &value, sizeof value);
    }
    f.curve(sums, sums, rows * kRows);
    for (int64_t i = 0; i < rows; ++i) {
      if (const int64_t at = place(i); at >= 0) store(load_floats(sums + i * kRows), at);
    }
    return;
  }
  const Floats low = Floats{} + f.min, high = Floats{} + f.max;
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t at = place(i);
    if (at < 0) continue;
    Floats value = value_of(i, at);
    if (f.clamp) {  // comparisons in this order keep NaN
      value = value < low ? low : value;
      value = value > high ? high : value;
    }
    store(value, at);
  }
}

inline void finish_block(const Finish& f, float* sums, int64_t row, int64_t column) {
  for (int64_t half = 0; half < 2; ++half) {
    const int64_t at = column + half * kRows;
    if (at >= f.columns) return;
    for (int64_t part = 0; part < 2 && row + part * kRows < f.rows; ++part) {
      float* const tile = sums + (part * 2 + half) * kRows * kRows;
      const bool partial = f.columns - at < kRows;
      if (f.residual) {
        partial ? finish_tile<true, true>(f, tile, row + part * kRows, at)
                : finish_tile<true, false>(f, tile, row + part * kRows, at);
      } else {
        partial ? finish_tile<false, true>(f, tile, row + part * kRows, at)
                : finish_tile<false, false>(f, tile, row + part * kRows, at);
      }
    }
  }
}

template <typename Tiles>
inline void multiply_block(const Job& job, Tiles& tiles, int64_t row, int64_t column,
                           float* scratch) {
  constexpr int64_t kTile = kRows * kDepth, kSums = kRows * kRows;
  constexpr int64_t kRowBytes = kDepth * 2, kSumBytes = kRows * 4;
  const bool moved = job.last_a && row == job.row_panels - 1;
  const std::byte* const a = moved ? job.last_a : job.a + row * job.panel_bytes;
  const std::byte* const lower = a + kRows * job.row_bytes;
  const BF16* b = job.b + column * job.b_panel;
  float* const kept = job.sums + (row * job.column_panels + column) * kBlockSums;
  if (job.first) {
    tiles.template zero<0>();
    tiles.template zero<1>();
    tiles.template zero<2>();
    tiles.template zero<3>();
  } else {
    tiles.template load<0>(kept, kSumBytes);
    tiles.template load<1>(kept + kSums, kSumBytes);
    tiles.template load<2>(kept + 2 * kSums, kSumBytes);
    tiles.template load<3>(kept + 3 * kSums, kSumBytes);
  }
  const int64_t row_bytes = job.row_bytes;
  for (int64_t step = 0; step < job.steps; ++step, b += kStepElements) {
    const int64_t at = job.step_at[step];
    tiles.template load_once<6>(b, kRowBytes);
    tiles.template load<4>(a + at, row_bytes);
    tiles.template add_product<0, 4, 6>();
    tiles.template load_once<7>(b + kTile, kRowBytes);
    tiles.template add_product<1, 4, 7>();
    tiles.template load<5>(lower + at, row_bytes);
    tiles.template add_product<2, 5, 6>();
    tiles.template add_product<3, 5, 7>();
  }
  float* const sums = job.last ? scratch : kept;
  tiles.template store<0>(sums, kSumBytes);
  tiles.template store<1>(sums + kSums, kSumBytes);
  tiles.template store<2>(sums + 2 * kSums, kSumBytes);
  tiles.template store<3>(sums + 3 * kSums, kSumBytes);
  if (job.last) {
    finish_block(*job.finish, sums, job.row + row * kPanel, job.column + column * kPanel);
  }
}

template <typename Tiles>
void multiply(const Job& job) {
  Tiles tiles;  // configures the unit of this thread, and releases it at the end
  alignas(64) float scratch[kBlockSums];
  const int64_t outer = job.columns_outside ? job.column_panels : job.row_panels;
  const int64_t inner = job.columns_outside ? job.row_panels : job.column_panels;
  for (int64_t i = 0; i < outer; ++i) {
    for (int64_t j = 0; j < inner; ++j) {
      multiply_block(job, tiles, job.columns_outside ? j : i, job.columns_outside ? i : j, scratch);
    }
  }
}

}  // namespace
}  // namespace anynpu::ops::amx
