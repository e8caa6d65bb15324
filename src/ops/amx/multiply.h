// SPDX-License-Identifier: Apache-2.0
// The GEMM loops of an engine, over its tile operations. Each engine's file includes this after it
// has set the compiler's target, so everything this file needs must be included before. Tiles: 0-3
// accumulators (row tile * 2 + column tile), 4-5 rows of a, 6-7 columns of b.
#pragma once

#include <cstring>

#include "base/align.h"
#include "ops/amx/tiles.h"

namespace anynpu::ops::amx {

// Private to the including file: another file compiles it for another target.
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

// A block whose accumulators are stored but whose epilogue is not done. It runs row by row between
// the tile products of the next block, which leave the vector units idle.
struct PendingBlock {
  float* sums = nullptr;
  float* partial = nullptr;  // of earlier jobs (split k), in the same order
  int64_t row = 0, column = 0;
  int64_t done = kPanel;  // rows whose epilogue has run
};

constexpr int64_t kTileSums = kRows * kRows;

// The epilogue of 16 sums. `activated`: apply_activation() has done all but the rounding.
// `partial`: partial sums of earlier jobs are added.
template <bool activated, bool partial>
struct EpilogueRow {
  Floats alpha, bias, low, high;

  [[gnu::always_inline]] EpilogueRow(const Epilogue& f, const float* bias_at)
      : alpha(Floats{} + f.alpha), bias(load_floats(bias_at)) {
    constexpr float kInfinity = __builtin_inff();
    low = Floats{} + (f.clamp ? f.min : -kInfinity);
    high = Floats{} + (f.clamp ? f.max : kInfinity);
  }
  [[gnu::always_inline]] Floats value_of(const float* sums, const float* partial_sums,
                                         const BF16* residual) const {
    Floats value = load_floats(sums);
    if constexpr (!activated) {
      if constexpr (partial) value += load_floats(partial_sums);
      value = alpha * value + bias;
      if (residual) value += widen_16(residual);
      value = value < low ? low : value;  // comparisons in this order keep NaN
      value = value > high ? high : value;
    }
    return value;
  }
};

// Applies alpha, bias, residual and the activation function to rows of sums, in place: only
// rounding is left.
template <bool partial>
[[gnu::noinline]] void apply_activation(const Epilogue& f, const PendingBlock& block, int64_t sum,
                                        int64_t row, int64_t rows, int64_t column) {
  const Floats bias = load_floats(f.bias + column);
  const int64_t left = f.columns - column, tile = column / kRows * f.tile_step;
  const auto bytes = static_cast<size_t>(left < kRows ? left : kRows) * sizeof(BF16);
  float* const values = block.sums + sum;
  for (int64_t i = 0; i < rows; ++i) {
    Floats value = load_floats(values + i * kRows);
    if constexpr (partial) value += load_floats(block.partial + sum + i * kRows);
    value = f.alpha * value + bias;
    const int64_t at = f.row_at ? f.row_at[row + i] : (row + i) * f.row_step;
    if (f.residual && at >= 0) {
      BF16 cut[kRows] = {};
      std::memcpy(static_cast<void*>(cut), f.residual + at + tile, bytes);
      value += widen_16(cut);
    }
    std::memcpy(values + i * kRows, &value, sizeof value);
  }
  f.activation_function(values, values, rows * kRows);
}

// Epilogue of a row with fewer than 16 columns, at the edge of the product.
template <bool activated, bool partial>
[[gnu::noinline]] void store_cut_row(const Epilogue& f, const float* sums,
                                     const float* partial_sums, const float* bias, int64_t at,
                                     int64_t lanes) {
  const auto bytes = static_cast<size_t>(lanes) * sizeof(BF16);
  BF16 cut[kRows] = {};
  if (f.residual) std::memcpy(static_cast<void*>(cut), f.residual + at, bytes);
  const Halves halves = round_16(EpilogueRow<activated, partial>(f, bias).value_of(
      sums, partial_sums, f.residual ? cut : nullptr));
  std::memcpy(static_cast<void*>(f.out + at), &halves, bytes);
}

// Epilogue of rows of one whole tile, or of two side by side, whose sums begin at `sum`.
template <typename Tiles, bool activated, bool partial, int tiles, bool mapped>
[[gnu::always_inline]] inline void store_whole_rows(const Epilogue& f, const PendingBlock& block,
                                                    int64_t sum, int64_t row, int64_t rows) {
  const int64_t second = f.tile_step, first = block.column / kRows * f.tile_step;
  const float* const bias = f.bias + block.column;
  const EpilogueRow<activated, partial> left(f, bias), right(f, tiles == 2 ? bias + kRows : bias);
  BF16* const out = f.out + first;
  const BF16* const residual = f.residual ? f.residual + first : nullptr;
  const float *const sums = block.sums, *const partial_sums = block.partial;
  const int64_t* const row_at = f.row_at;
  const int64_t row_step = f.row_step;
  for (const int64_t end = row + rows; row < end; ++row, sum += kRows) {
    const int64_t at = mapped ? row_at[row] : row * row_step;
    if (mapped && at < 0) continue;
    const BF16* const added = residual ? residual + at : nullptr;
    const float* const other = partial ? partial_sums + sum : nullptr;
    Tiles::round_to(left.value_of(sums + sum, other, added), out + at);
    if constexpr (tiles == 2) {
      Tiles::round_to(right.value_of(sums + sum + kTileSums, partial ? other + kTileSums : nullptr,
                                     added ? added + second : nullptr),
                      out + at + second);
    }
  }
}

template <typename Tiles, bool activated, bool partial>
[[gnu::always_inline]] inline void run_epilogue(const Epilogue& f, PendingBlock& block,
                                                int64_t count) {
  const int64_t end = block.done + count < kPanel ? block.done + count : kPanel;
  const int64_t columns = f.columns - block.column;
  while (block.done < end) {
    const int64_t lower = block.done >= kRows;  // row tile
    const int64_t stop = lower || end < kRows ? end : kRows, row = block.row + block.done;
    const int64_t sum = lower * 2 * kTileSums + block.done % kRows * kRows;
    const int64_t rows = f.rows - row < stop - block.done ? f.rows - row : stop - block.done;
    block.done = stop;
    if (rows <= 0) continue;
    if constexpr (activated) {
      for (int64_t half = 0; half * kRows < columns && half < 2; ++half) {
        apply_activation<partial>(f, block, sum + half * kTileSums, row, rows,
                                  block.column + half * kRows);
      }
    }
    if (columns >= kPanel) [[likely]] {
      f.row_at ? store_whole_rows<Tiles, activated, partial, 2, true>(f, block, sum, row, rows)
               : store_whole_rows<Tiles, activated, partial, 2, false>(f, block, sum, row, rows);
      continue;
    }
    if (columns >= kRows) {
      f.row_at ? store_whole_rows<Tiles, activated, partial, 1, true>(f, block, sum, row, rows)
               : store_whole_rows<Tiles, activated, partial, 1, false>(f, block, sum, row, rows);
    }
    if (columns % kRows == 0) continue;
    const int64_t half = columns / kRows, column = block.column + half * kRows;
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t at = f.row_at ? f.row_at[row + i] : (row + i) * f.row_step;
      const int64_t from = sum + half * kTileSums + i * kRows;
      if (at < 0) continue;
      store_cut_row<activated, partial>(f, block.sums + from,
                                        partial ? block.partial + from : nullptr, f.bias + column,
                                        at + column / kRows * f.tile_step, columns % kRows);
    }
  }
}

// For a block that later jobs continue (split k): adds its sums to the partial sums.
[[gnu::always_inline]] inline void add_partial_sums(PendingBlock& block, int64_t count,
                                                    bool first) {
  const int64_t end = block.done + count < kPanel ? block.done + count : kPanel;
  for (; block.done < end; ++block.done) {
    for (int64_t half = 0; half < 2; ++half) {
      const int64_t at = (2 * block.done + half) * kRows;
      Floats value = load_floats(block.sums + at);
      if (!first) value += load_floats(block.partial + at);
      std::memcpy(block.partial + at, &value, sizeof value);
    }
  }
}

// Prefetches packed panels into the L2 cache: a few cache lines per step of k, because more at a
// time would stall.
class PanelPrefetcher {
 public:
  PanelPrefetcher() = default;
  // Prefetches `part` bytes of each panel, spread over the steps of `blocks` blocks.
  PanelPrefetcher(const void* from, int64_t part, int64_t panel_bytes, int64_t blocks)
      : line_(static_cast<const std::byte*>(from)),
        end_(line_ + part),
        part_(part),
        panel_bytes_(panel_bytes),
        each_(from ? ceil_div(kPanel, blocks) : 0) {}
  [[gnu::always_inline]] void prefetch() {
    for (int64_t i = 0; i < each_; ++i, line_ += 64) {
      if (line_ == end_) line_ += panel_bytes_ - part_, end_ = line_ + part_;
      __builtin_prefetch(line_, 0, 2);
    }
  }

 private:
  const std::byte *line_ = nullptr, *end_ = nullptr;
  int64_t part_ = 0, panel_bytes_ = 0, each_ = 0;
};

// One step of k: two tiles of rows, `row_bytes` apart, times two of columns. `streaming`: loads
// of b bypass the L1 cache, because it is not read again soon.
template <bool streaming, typename Tiles>
[[gnu::always_inline]] inline void add_step(Tiles& tiles, const void* upper, const void* lower,
                                            int64_t row_bytes, const BF16* b) {
  constexpr int64_t kTile = kRows * kDepth, kRowBytes = kDepth * 2;
  streaming ? tiles.template load_streaming<6>(b, kRowBytes) : tiles.template load<6>(b, kRowBytes);
  tiles.template load<4>(upper, row_bytes);
  tiles.template add_product<0, 4, 6>();
  streaming ? tiles.template load_streaming<7>(b + kTile, kRowBytes)
            : tiles.template load<7>(b + kTile, kRowBytes);
  tiles.template add_product<1, 4, 7>();
  tiles.template load<5>(lower, row_bytes);
  tiles.template add_product<2, 5, 6>();
  tiles.template add_product<3, 5, 7>();
}

// Position of a job among those that split k: the only one, one that others follow, the last.
enum class Stage : uint8_t { only, early, last };

template <typename Tiles, bool activated, Stage stage>
class Multiplication {
 public:
  explicit Multiplication(const Job& job)
      : job_(job),
        epilogue_(*job.epilogue),
        next_b_(job.next_b, job.steps * kStepBytes, job.b_panel * 2, job.row_panels) {}

  void run() {
    alignas(64) float sums[2][kBlockSums];
    const int64_t outer = job_.columns_outside ? job_.column_panels : job_.row_panels;
    const int64_t inner = job_.columns_outside ? job_.row_panels : job_.column_panels;
    for (int64_t i = 0, turn = 0; i < outer; ++i) {
      for (int64_t j = 0; j < inner; ++j, turn ^= 1) {
        const int64_t row = job_.columns_outside ? j : i, column = job_.columns_outside ? i : j;
        block(row, column, sums[turn]);
        const int64_t number = row * job_.column_panels + column;
        previous_ = {sums[turn], stage == Stage::only ? nullptr : job_.sums + number * kBlockSums,
                     job_.row + row * kPanel, job_.column + column * kPanel, 0};
      }
    }
    finish_previous(kPanel);
  }

 private:
  static constexpr bool kPartial = stage == Stage::last;
  static constexpr int64_t kStepBytes = kStepElements * 2;

  // Runs the epilogue (or adds to the partial sums) of up to `rows` rows of the previous block.
  [[gnu::always_inline]] void finish_previous(int64_t rows) {
    if constexpr (stage == Stage::early) {
      add_partial_sums(previous_, rows, job_.first);
    } else {
      run_epilogue<Tiles, activated, kPartial>(epilogue_, previous_, rows);
    }
  }

  // Stores the block's accumulators to `sums`, and finishes the previous block on the way.
  void block(int64_t row, int64_t column, float* sums) {
    constexpr int64_t kSumBytes = kRows * 4;
    const bool last = row == job_.row_panels - 1;
    const std::byte* const a = job_.last_a && last ? job_.last_a : job_.a + row * job_.panel_bytes;
    const std::byte* const lower = a + kRows * job_.row_bytes;
    const BF16* b = job_.b + column * job_.b_panel;
    const int64_t part = job_.steps * kStepBytes;
    if (stage == Stage::only) {
      // b is read for the first time: prefetch the next panel, or that of the next job.
      const int64_t blocks = job_.columns_outside ? job_.row_panels : 1;
      if (row == 0) next_b_ = PanelPrefetcher(b + job_.b_panel, part, 0, blocks);
      if (row == blocks) next_b_ = {};
    } else if (job_.next_a && column == 0) {
      const std::byte* const from = last ? job_.next_a : a + job_.step_at[0] + job_.panel_bytes;
      next_a_ = PanelPrefetcher(from, part, 0, job_.column_panels);
    }
    tiles_.template zero<0>();
    tiles_.template zero<1>();
    tiles_.template zero<2>();
    tiles_.template zero<3>();
    const int64_t row_bytes = job_.row_bytes;
    const int64_t left = kPanel - previous_.done;
    const int64_t share = job_.steps > 0 ? ceil_div(left, job_.steps) : 0;
    for (int64_t step = 0; step < job_.steps; ++step, b += kStepElements) {
      const int64_t at = job_.step_at[step];
      add_step<true>(tiles_, a + at, lower + at, row_bytes, b);
      next_b_.prefetch();
      if constexpr (stage != Stage::only) next_a_.prefetch();
      finish_previous(share);
    }
    finish_previous(kPanel);  // when there are no steps
    tiles_.template store<0>(sums, kSumBytes);
    tiles_.template store<1>(sums + kTileSums, kSumBytes);
    tiles_.template store<2>(sums + 2 * kTileSums, kSumBytes);
    tiles_.template store<3>(sums + 3 * kTileSums, kSumBytes);
  }

  const Job& job_;
  const Epilogue& epilogue_;
  Tiles tiles_;  // configures the unit of this thread, and releases it at the end
  PendingBlock previous_;
  PanelPrefetcher next_b_, next_a_;
};

template <typename Tiles>
void multiply(const Job& job) {
  const bool activated = job.epilogue->activation_function;
  if (!job.last) return Multiplication<Tiles, false, Stage::early>(job).run();
  if (job.first) {
    return activated ? Multiplication<Tiles, true, Stage::only>(job).run()
                     : Multiplication<Tiles, false, Stage::only>(job).run();
  }
  activated ? Multiplication<Tiles, true, Stage::last>(job).run()
            : Multiplication<Tiles, false, Stage::last>(job).run();
}

// Interleaves pairs of rows of 32 columns, as packed b has them (VNNI layout).
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
