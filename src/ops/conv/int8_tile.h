// SPDX-License-Identifier: Apache-2.0
// Register tiles of int8 convolutions: rows are output channels, columns are neighbouring pixels of
// four bytes each (unsigned, multiplied with signed weights by VPDPBUSD of AVX512-VNNI). Sums wrap
// as int32 does, nothing saturates. check_vnni() in simd/tile_int8.h says whether the processor has
// the instruction.
#pragma once

#include <cstdint>

namespace anynpu::ops::conv {

constexpr int64_t kConv8Rows = 14;
constexpr int64_t kConv8Lanes = 16;    // pixels of one register
constexpr int64_t kConv8Widest = 128;  // pixels of the widest tile

struct Conv8Tile {
  const uint8_t* in = nullptr;       // the first pixel; all that a tile is wide are read
  const int64_t* offsets = nullptr;  // [steps]: bytes from `in` to where the step reads
  const int8_t* weights = nullptr;   // [step][rows][4]
  int64_t steps = 0;
  int32_t* sums = nullptr;  // [rows][width]
};
using Conv8TileFunction = void (*)(const Conv8Tile& tile);

// Pixels of the widest tile that keeps this many rows (at most kConv8Rows) in registers.
constexpr int64_t conv8_width(int64_t rows) {
  return kConv8Lanes * (rows <= 2 ? 8 : rows <= 6 ? 4 : 2);
}
// The tile of `rows` by `width`, which is conv8_width of at least as many rows.
Conv8TileFunction find_conv8_tile(int64_t rows, int64_t width);

// Bytes first, first + stride, ... of a row of `extent` bytes; those outside it are padding.
struct Conv8Source {
  const uint8_t* row = nullptr;  // null: zeros
  int64_t extent = 0, first = 0;
};
// to[4 * i + s] = byte i of source s, or `pad` outside, with `flip` applied (exclusive or).
void interleave_conv8_row(const Conv8Source sources[4], int64_t stride, uint8_t pad, uint8_t flip,
                          int64_t count, uint8_t* to);

// The epilogue of one channel, in int32 that wraps:
//   total = sum + add - weight_zero * sum of the pixel's bytes
// For bytes: round(total * factor) to even, + zero, within [low, high]; NaN gives 0.
struct Conv8Channel {
  double factor = 1;
  int32_t add = 0, weight_zero = 0;
};
// Pixels of a tile that are contiguous in the result too.
struct Conv8Store {
  const Conv8Channel* channels = nullptr;  // [rows]
  int64_t rows = 0, count = 0;
  const int32_t* sums = nullptr;        // the first pixel of the first row
  int64_t sums_row = 0;                 // elements from row to row
  const int32_t* pixel_sums = nullptr;  // null: every weight_zero is 0
  int64_t out_row = 0;
  int32_t zero = 0, low = 0, high = 255;
};
void store_conv8_sums(const Conv8Store& store, int32_t* out);
void store_conv8_bytes(const Conv8Store& store, uint8_t* out);

}  // namespace anynpu::ops::conv
