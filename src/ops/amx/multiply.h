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

// A block whose sums are there. It is finished row by row while tiles of the next one are loaded
// and multiplied, which leaves the rest of the processor idle.
struct Waiting {
  static constexpr int64_t kRowsOfTiles = 2 * kPanel;  // [2 column tiles][32 rows]
  float* sums = nullptr;
  int64_t row = 0, column = 0;
  int64_t done = kRowsOfTiles;
};

inline int64_t place_of(const Finish& f, int64_t row) {
  if (row >= f.rows) return -1;
  return f.row_at ? f.row_at[row] : row * f.row_step;
}

// `curved`: apply_curve() has been there, and rounding is left.
template <bool curved>
struct Row {
  Floats alpha, bias, low, high;
  bool clamp;

  [[gnu::always_inline]] Row(const Finish& f, const float* bias_at)
      : alpha(Floats{} + f.alpha),
        bias(load_floats(bias_at)),
        low(Floats{} + f.min),
        high(Floats{} + f.max),
        clamp(f.clamp) {}
  [[gnu::always_inline]] Floats value_of(const float* sums, const BF16* residual) const {
    Floats value = load_floats(sums);
    if constexpr (!curved) {
      value = alpha * value + bias;
      if (residual) value += widen_16(residual);
      if (clamp) {  // comparisons in this order keep NaN
        value = value < low ? low : value;
        value = value > high ? high : value;
      }
    }
    return value;
  }
};

// A row whose 16 columns are not all of the product's.
template <bool curved>
[[gnu::noinline]] void finish_cut_row(const Finish& f, const float* sums, const float* bias,
                                      int64_t at, int64_t lanes) {
  const auto bytes = static_cast<size_t>(lanes) * sizeof(BF16);
  BF16 cut[kRows] = {};
  if (f.residual) std::memcpy(static_cast<void*>(cut), f.residual + at, bytes);
  const Halves halves = round_16(Row<curved>(f, bias).value_of(sums, f.residual ? cut : nullptr));
  std::memcpy(static_cast<void*>(f.out + at), &halves, bytes);
}

template <typename Tiles, bool curved>
[[gnu::always_inline]] inline void finish_rows(const Finish& f, Waiting& block, int64_t count) {
  const int64_t end =
      block.done + count < Waiting::kRowsOfTiles ? block.done + count : Waiting::kRowsOfTiles;
  while (block.done < end) {
    const int64_t part = static_cast<int64_t>(static_cast<uint64_t>(block.done) / kRows);
    const int64_t half = part >> 1, first = (part & 1) * kRows;
    const int64_t stop = end < (part + 1) * kRows ? end : (part + 1) * kRows;
    const int64_t column = block.column + half * kRows, lanes = f.columns - column;
    int64_t row = block.row + first + block.done - part * kRows;
    int64_t rows = stop - block.done;
    const float* sums =
        block.sums + ((part & 1) * 2 + half) * kRows * kRows + (block.done - part * kRows) * kRows;
    block.done = stop;
    if (lanes <= 0) continue;
    if (f.rows - row < rows) rows = f.rows - row;
    const int64_t tile = column / kRows * f.tile_step;
    if (lanes < kRows) [[unlikely]] {
      for (; rows > 0; --rows, ++row, sums += kRows) {
        const int64_t at = f.row_at ? f.row_at[row] : row * f.row_step;
        if (at >= 0) finish_cut_row<curved>(f, sums, f.bias + column, at + tile, lanes);
      }
      continue;
    }
    const Row<curved> finished(f, f.bias + column);
    BF16* const out = f.out + tile;
    const BF16* const residual = f.residual ? f.residual + tile : nullptr;
    const int64_t* const row_at = f.row_at;
    const int64_t row_step = f.row_step;
    for (; rows > 0; --rows, ++row, sums += kRows) {
      const int64_t at = row_at ? row_at[row] : row * row_step;
      if (at < 0) continue;
      Tiles::round_to(finished.value_of(sums, residual ? residual + at : nullptr), out + at);
    }
  }
}

// A curve takes many values at a time: the sums of a block become its arguments, and then what is
// left to do is to round them.
inline void apply_curve(const Finish& f, const Waiting& block) {
  for (int64_t half = 0; half < 2 && block.column + half * kRows < f.columns; ++half) {
    const int64_t column = block.column + half * kRows;
    const int64_t lanes = f.columns - column < kRows ? f.columns - column : kRows;
    const Floats bias = load_floats(f.bias + column);
    for (int64_t part = 0; part < 2; ++part) {
      float* const tile = block.sums + (part * 2 + half) * kRows * kRows;
      for (int64_t i = 0; i < kRows; ++i) {
        Floats value = f.alpha * load_floats(tile + i * kRows) + bias;
        const int64_t at = place_of(f, block.row + part * kRows + i);
        if (f.residual && at >= 0) {
          BF16 cut[kRows] = {};
          std::memcpy(static_cast<void*>(cut), f.residual + at + column / kRows * f.tile_step,
                      static_cast<size_t>(lanes) * sizeof(BF16));
          value += widen_16(cut);
        }
        std::memcpy(tile + i * kRows, &value, sizeof value);
      }
      f.curve(tile, tile, kRows * kRows);
    }
  }
}

// 32 lines into the second-level cache.
[[gnu::always_inline]] inline void fetch_lines(const void* from, int64_t step) {
  const auto* line = static_cast<const std::byte*>(from);
  for (int64_t i = 0; i < kPanel; ++i, line += step) __builtin_prefetch(line, 0, 2);
}

// Leaves the block's sums in `sums`, and has finished `before` by then.
template <typename Tiles, bool curved>
inline void multiply_block(const Job& job, const Finish& finish, Tiles& tiles, int64_t row,
                           int64_t column, float* sums, Waiting& before) {
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
  // What is read for the first time comes from far: the next panel is on its way meanwhile.
  const bool next_b = row == 0, next_a = column == 0 && job.far_left;
  const int64_t left = Waiting::kRowsOfTiles - before.done;
  const int64_t share = job.steps > 0 ? (left + job.steps - 1) / job.steps : 0;
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
    if (next_b) fetch_lines(b + job.b_panel, kRowBytes);
    if (next_a) fetch_lines(a + job.panel_bytes + at, row_bytes);
    finish_rows<Tiles, curved>(finish, before, share);
  }
  finish_rows<Tiles, curved>(finish, before, Waiting::kRowsOfTiles);  // of no steps
  if (!job.last) sums = kept;
  tiles.template store<0>(sums, kSumBytes);
  tiles.template store<1>(sums + kSums, kSumBytes);
  tiles.template store<2>(sums + 2 * kSums, kSumBytes);
  tiles.template store<3>(sums + 3 * kSums, kSumBytes);
}

template <typename Tiles, bool curved>
void multiply_all(const Job& job) {
  Tiles tiles;  // configures the unit of this thread, and releases it at the end
  alignas(64) float sums[2][kBlockSums];
  const Finish& finish = *job.finish;
  Waiting before;
  const int64_t outer = job.columns_outside ? job.column_panels : job.row_panels;
  const int64_t inner = job.columns_outside ? job.row_panels : job.column_panels;
  for (int64_t i = 0, turn = 0; i < outer; ++i) {
    for (int64_t j = 0; j < inner; ++j, turn ^= 1) {
      const int64_t row = job.columns_outside ? j : i, column = job.columns_outside ? i : j;
      multiply_block<Tiles, curved>(job, finish, tiles, row, column, sums[turn], before);
      if (!job.last) continue;
      before = {sums[turn], job.row + row * kPanel, job.column + column * kPanel, 0};
      if constexpr (curved) apply_curve(finish, before);
    }
  }
  finish_rows<Tiles, curved>(finish, before, Waiting::kRowsOfTiles);
}

template <typename Tiles>
void multiply(const Job& job) {
  job.finish->curve ? multiply_all<Tiles, true>(job) : multiply_all<Tiles, false>(job);
}

// Rows of 32 columns, two by two, as a right side has them.
template <typename Tiles>
void pair_rows(const BF16* from, int64_t row_step, int64_t rows, BF16* to) {
  for (int64_t row = 0; row < rows; row += 2, from += 2 * row_step) {
    // Both tiles of a step: [2][16 pairs].
    BF16* const step = to + row / kDepth * kStepElements + row % kDepth / 2 * kDepth;
    for (int64_t half = 0; half < 2; ++half) {
      Halves even, odd;
      std::memcpy(&even, from + half * kRows, sizeof even);
      std::memcpy(&odd, from + row_step + half * kRows, sizeof odd);
      const auto pairs =
          __builtin_shufflevector(even, odd, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23,
                                  8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
      std::memcpy(static_cast<void*>(step + half * kRows * kDepth), &pairs, sizeof pairs);
    }
  }
}

// 16 channels from `from` and 16 from `second` elements further, or zeros where that is 0.
template <typename Tiles>
void join_units(const BF16* from, int64_t second, int64_t step, int64_t count, BF16* to) {
  const Halves none{};
  for (int64_t i = 0; i < count; ++i, from += step, to += kDepth) {
    Halves low, high = none;
    std::memcpy(&low, from, sizeof low);
    if (second) std::memcpy(&high, from + second, sizeof high);
    std::memcpy(static_cast<void*>(to), &low, sizeof low);
    std::memcpy(static_cast<void*>(to + kRows), &high, sizeof high);
  }
}

}  // namespace
}  // namespace anynpu::ops::amx
