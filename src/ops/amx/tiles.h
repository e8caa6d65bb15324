// SPDX-License-Identifier: Apache-2.0
// Matrix products of bfloat16 on tiles: eight registers of 16 rows x 64 bytes, as Intel's AMX has
// them. What is done with tiles (multiply.h) is written once over a small set of operations; two
// engines instantiate it:
//   amx_engine()       the instructions, where the processor and the system allow them
//   software_engine()  the same by loops: lets the tests prove packing, remainders and conversions
//                      on every processor. No kernel of the list uses it.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "ops/cpu/rows.h"
#include "tensor/half.h"

namespace anynpu::ops::amx {

constexpr int64_t kRows = 16;   // of a tile; also its columns of f32
constexpr int64_t kDepth = 32;  // bfloat16 of a row: the k of one tile product
constexpr int64_t kPanel = 32;  // rows and columns of a block: two tiles each way
constexpr int64_t kStepElements = kPanel * kDepth;  // of a packed panel, for one step of k
constexpr int64_t kBlockSums = kPanel * kPanel;

// sums (+)= a * b for row panels x column panels, all of the same steps of k.
struct Job {
  const BF16* a = nullptr;  // [row panel][step][2][16 rows][32]
  const BF16* b = nullptr;  // [column panel: b_panel elements apart][step][2][16 pairs][16][2]
  int64_t b_panel = 0;
  int64_t row_panels = 0, column_panels = 0, steps = 0;
  bool first = true;      // false: the sums go on
  float* sums = nullptr;  // [column panel][row panel][2 row tiles][2 column tiles][16][16]
};

// 16 sums become 16 results: out = bf16(curve or clamp(alpha * sum + bias + residual)).
struct Finish {
  const float* bias = nullptr;     // 16 values
  const BF16* residual = nullptr;  // null, or laid out as out
  BF16* out = nullptr;
  int64_t lanes = 16;  // results that are stored
  float alpha = 1;
  bool clamp = false;
  float min = 0, max = 0;
  RowMap curve = nullptr;  // instead of the clamp
};

struct Engine {
  void (*multiply)(const Job& job);
  void (*finish)(const Finish& finish, const float* sums);
};

const Engine& software_engine();

// Ok when AMX may be used: CPUID, the system's permission for tile data (asked once for the
// process), and a product of known tiles that came out right. Otherwise a reason.
Status check_amx();
// To be used after check_amx() alone.
const Engine& amx_engine();

// The reason of check_amx() as text for `anynpu doctor`; empty when AMX is used.
const char* refusal();

}  // namespace anynpu::ops::amx
