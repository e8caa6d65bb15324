// SPDX-License-Identifier: Apache-2.0
// One task of tiled FlashAttention: up to 64 query rows that share a KV head.
#pragma once

#include <string>
#include <vector>

#include "base/align.h"
#include "ops/attention/flash_cache.h"
#include "ops/attention/flash_products.h"
#include "ops/simd/rows.h"

namespace anynpu::ops::attention {

// What all tasks of a plan share.
struct FlashWork {
  static constexpr int64_t kLanes = 16;    // rows of a panel
  static constexpr int64_t kPanels = 4;    // of a task
  static constexpr int64_t kKeyTile = 64;  // keys of a tile

  FlashShape a;
  std::vector<Operand> inputs, outputs;
  std::string label;
  const TileSet* tiles = nullptr;
  RowMap exp = nullptr;
  int64_t value_step = 0;  // floats of a row of results
  // In floats, in the scratch of a thread.
  size_t queries_at = 0, keys_at = 0, rope_at = 0, scores_at = 0, weights_at = 0, values_at = 0,
         line_at = 0, results_at = 0, stats_at = 0, zeros_at = 0;

  int64_t splits = 1;  // split KV (flash decoding): tasks that share the keys of a few rows

  // Places everything in the scratch; returns its floats.
  size_t lay_out();
  // Floats of a task's partial result: maximum, sum and unnormalised results of each row.
  int64_t part_floats() const { return kLanes * kPanels * (value_step + 2); }
  int64_t tasks_of_head() const { return ceil_div(a.rows * a.group(), kLanes * kPanels); }
};

struct FlashTask {
  static constexpr int64_t kLanes = FlashWork::kLanes, kPanels = FlashWork::kPanels,
                           kKeyTile = FlashWork::kKeyTile;
  const FlashWork& p;
  const RunArgs& args;
  const FlashSample& sample;
  int64_t b, g, first, count;
  float* scratch;
  // Split KV: the keys of this task, and where its partial result goes.
  int64_t keys_begin = 0, keys_end = INT64_MAX;
  float* part = nullptr;

  void run() const;
  // Combines the partial results of several tasks, `step` floats apart.
  void combine(const float* parts, int64_t count_of_parts, int64_t step) const;

 private:
  // Row i of the task: of the sample, and its head.
  int64_t row(int64_t i) const { return (first + i) / p.a.group(); }
  int64_t head(int64_t i) const { return g * p.a.group() + (first + i) % p.a.group(); }
  int64_t panels() const { return ceil_div(count, kLanes); }
  float* row_max() const { return scratch + p.stats_at; }
  float* row_sum() const { return row_max() + kLanes * kPanels; }
  float* results(int64_t i) const { return scratch + p.results_at + i * p.value_step; }
  TileProducts products() const { return {p.tiles, scratch + p.zeros_at}; }
  float* scores(int64_t panel) const { return scratch + p.scores_at + panel * kKeyTile * kLanes; }
  float* weights(int64_t i) const { return scratch + p.weights_at + i * kKeyTile; }

  // Transposes rows of Q into panels, [panel][element][16]; the rotary part follows.
  void transpose_queries() const;
  // n rows of a KV cache as floats.
  const float* rows_of(const CacheReader& cache, int64_t size, int64_t at, int64_t n, float* to,
                       int64_t& step) const;
  void prefetch(const CacheReader& cache, int64_t key) const;
  // scores[panel][key][16] = rows of keys times columns of queries.
  void score(const CacheReader& keys, int64_t at, int64_t n) const;
  void multiply(const float* k, int64_t step, int64_t size, int64_t from, int64_t n,
                bool add) const;
  // results += weights x values, in panels of columns.
  void add_values(const CacheReader& values, int64_t at, int64_t n) const;
  void store() const;

  // flash_scores.cpp: scale, bias, mask and online softmax of a tile of scores; the probabilities
  // are transposed to rows for the product with V.
  void online_softmax(int64_t panel, int64_t at, int64_t n, const KeyRange* ranges) const;
  void add_bias(int64_t panel, int64_t at, int64_t n, float* s) const;
  void mask(int64_t panel, int64_t at, int64_t n, float* s) const;
  void dropout(int64_t panel, int64_t at, int64_t n) const;
};

}  // namespace anynpu::ops::attention
