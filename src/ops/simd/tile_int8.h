// SPDX-License-Identifier: Apache-2.0
// The register tile over bytes: sums of products of an unsigned and a signed byte, four at a time
// by VPDPBUSD (AVX512-VNNI). Sums wrap as int32 does, nothing saturates.
#pragma once

#include <cstdint>

#include "base/status.h"

namespace anynpu::ops {

constexpr int64_t kInt8Rows = 14, kInt8Columns = 32;

struct Int8TileArgs {
  const uint8_t* in = nullptr;      // [step][rows][4]
  const int8_t* weights = nullptr;  // [step][32][4]
  int64_t steps = 0;                // k / 4
  // out[r][j] = sum - row_zeros[r] * column_sums[j] - row_sums[r] * column_zeros[j]
  const int32_t* row_zeros = nullptr;
  const int32_t* row_sums = nullptr;
  const int32_t* column_sums = nullptr;   // 32 values
  const int32_t* column_zeros = nullptr;  // 32 values
  int32_t* out = nullptr;
  int64_t out_row = 0;             // elements from row to row
  int64_t columns = kInt8Columns;  // that are stored
};
using Int8TileFunction = void (*)(const Int8TileArgs& args);

// Ok when the processor and this build have the instruction; otherwise a reason.
Status check_vnni();
Int8TileFunction find_int8_tile(int64_t rows);

// to[4 * j + r] = rows[r][j] ^ flip for 16 columns; a null row is zeros.
void interleave_four(const uint8_t* const rows[4], uint8_t flip, uint8_t* to);

}  // namespace anynpu::ops
