// SPDX-License-Identifier: Apache-2.0
// bfloat16 matrix products on AMX tiles: eight registers of 16 rows x 64 bytes. The loops over
// tiles (multiply.h) are written once over a small set of operations; two engines instantiate
// them:
//   amx_engine()       the instructions, where the processor and the system allow them
//   software_engine()  the same with plain loops: for tests of packing, remainders and conversions
//                      on every processor. No kernel uses it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/status.h"
#include "ops/simd/lanes_bf16.h"
#include "ops/simd/rows.h"
#include "tensor/half.h"

namespace anynpu::ops::amx {

constexpr int64_t kRows = 16;   // of a tile; also its columns of f32
constexpr int64_t kDepth = 32;  // bfloat16 of a row: the k of one tile product
constexpr int64_t kPanel = 32;  // rows and columns of a block: two tiles each way
constexpr int64_t kStepElements = kPanel * kDepth;  // of a packed panel, for one step of k
constexpr int64_t kBlockSums = kPanel * kPanel;

// The epilogue: bf16(f(alpha * sum + bias + residual)), f a clamp or an activation function.
struct Epilogue {
  const float* bias = nullptr;     // of column 0; there for whole tiles
  const BF16* residual = nullptr;  // null, or laid out as out
  BF16* out = nullptr;
  // Offset of a row's results, in elements; -1: it has none. Null: row * row_step.
  const int64_t* row_at = nullptr;
  int64_t row_step = 0;
  int64_t tile_step = 0;          // from 16 columns of a row to the next 16
  int64_t rows = 0, columns = 0;  // of the whole product; the blocks of the edge are cut
  float alpha = 1;
  bool clamp = false;
  float min = 0, max = 0;
  RowMap activation_function = nullptr;  // instead of the clamp
};

// Blocks of 32 x 32 results. A long k may be split into consecutive jobs, which add to the same
// sums; the last one runs the epilogue.
struct Job {
  // Row r of panel p, step s: 64 bytes at a + p * panel_bytes + step_at[s] + r * row_bytes.
  const std::byte* a = nullptr;
  int64_t panel_bytes = 0, row_bytes = 0;
  const int64_t* step_at = nullptr;
  const std::byte* last_a = nullptr;  // the last panel is here instead, unless null
  const BF16* b = nullptr;  // [column panel: b_panel elements apart][step][2][16 pairs][16][2]
  int64_t b_panel = 0;
  int64_t row_panels = 0, column_panels = 0, steps = 0;
  bool columns_outside = false;    // which of the two loops is the outer one
  bool first = true, last = true;  // of the jobs that split k
  float* sums = nullptr;           // [row panel][column panel][2][2][16][16]; unused by an only job
  int64_t row = 0, column = 0;     // of the product, where the first block begins
  // For jobs that split k: what the next job reads first, its b (of the same shape) and the first
  // panel of its a. They are prefetched, and so is this job's own data; a must then be packed in
  // whole steps.
  const BF16* next_b = nullptr;
  const std::byte* next_a = nullptr;
  const Epilogue* epilogue = nullptr;
};

// bf16(clamp(sum + bias + residual)) of pixels, in blocks of 16 channels.
struct PixelProduct {
  const BF16* a = nullptr;  // [step: a_step elements apart][pixel][32], whole tiles of pixels
  int64_t a_step = 0;
  const BF16* b = nullptr;  // [two blocks: b_panel elements apart][step][2][16 pairs][16][2]
  int64_t b_panel = 0;
  const float* bias = nullptr;     // for whole panels
  const BF16* residual = nullptr;  // null, or as out
  BF16* out = nullptr;             // [block: block_step elements apart][pixel][16]
  int64_t block_step = 0;
  int64_t pixels = 0, blocks = 0, steps = 0;
  float min = 0, max = 0;  // infinities where nothing is cut off
};

// Builds rows of 32 elements from several lines; all lines advance by `step` per row.
struct RowPermute {
  const BF16* const* lines = nullptr;
  int64_t count = 0;
  // [line][32]: for each element of the row its index in the line, plus 32; its own index if it
  // comes from another line. Elements that no line has are zero.
  const uint16_t* orders = nullptr;
  int64_t step = 0, rows = 0;
  BF16* to = nullptr;
  int64_t to_step = 0;
};

// Rows of 32 elements: `width` of each line side by side, then zeros. Lines advance by `step` per
// row; 32 elements before and after the joined ones must be readable.
struct RowBlend {
  const BF16* const* lines = nullptr;
  int64_t count = 0, width = 0;
  const uint32_t* masks = nullptr;  // of each line: the elements of a row that are its own
  int64_t step = 0, rows = 0;
  BF16* to = nullptr;
};

struct Engine {
  void (*multiply)(const Job& job);
  // `count` rows of 32 elements: 16 from `from`, and 16 from `second` elements after it, or zeros
  // if `second` is 0; the next row starts `step` elements later.
  void (*join_units)(const BF16* from, int64_t second, int64_t step, int64_t count, BF16* to);
  // Packs 32 whole columns of b; `rows` of k is even.
  void (*pair_rows)(const BF16* from, int64_t row_step, int64_t rows, BF16* to);
  // Runs the epilogue for a job that ended with `parts` partial sums per block, which are `step`
  // floats apart.
  void (*add_sums)(const Job& job, int64_t parts, int64_t step);
  void (*multiply_pixels)(const PixelProduct& product);
  void (*permute_rows)(const RowPermute& permute);
  void (*blend_lines)(const RowBlend& blend);
  void (*depthwise_rows)(const ShortLaneRows& rows);
};

const Engine& software_engine();

// Ok when AMX may be used: CPUID, the system's permission for tile data (requested once per
// process), and a correct test product. Otherwise the reason.
Status check_amx();
// Only after check_amx() was ok.
const Engine& amx_engine();

// The reason of check_amx() as text for `anynpu doctor`; empty when AMX is used.
const char* refusal();

}  // namespace anynpu::ops::amx
