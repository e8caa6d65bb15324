// SPDX-License-Identifier: Apache-2.0
// Weights of 4 or 8 bits that are widened in registers, for products of floats
// (gemm/weight_only.h). Columns are cut into blocks of 16. One block holds
//   8 bits: [k][16] signed bytes
//   4 bits: [word][16] of 32 bits: eight unsigned codes, that of the first k in the lowest bits. A
//           group (the rows that share a scale) begins with a word of its own.
// and [group][16] scales, and zero points where they are not all the same. A weight is
// (code - zero) * scale. Compiled once per instruction set (see isa.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "ops/simd/isa.h"

namespace anynpu::ops {

struct WeightColumns {
  int bits = 8;
  int64_t k = 0;      // rows
  int64_t group = 1;  // rows that share a scale; the last group may be shorter
  const std::byte* codes = nullptr;
  const float* scales = nullptr;
  const float* zeros = nullptr;  // null: `zero` is that of all
  float zero = 0;

  int64_t groups() const { return (k + group - 1) / group; }
  int64_t words_of_group() const { return (group + 7) / 8; }
  // From one block of 16 columns to the next: bytes of codes, elements of scales and zeros.
  int64_t code_step() const {
    if (bits == 8) return k * 16;
    const int64_t whole = k / group;
    return (whole * words_of_group() + (k - whole * group + 7) / 8) * 64;
  }
  int64_t scale_step() const { return groups() * 16; }
};

constexpr int64_t kWeightRows = 4;    // of a call of multiply()
constexpr int64_t kWeightBlocks = 4;  // the same, of 16 columns

struct WeightOnlySet {
  // sums[i * 64 + j] = sum over k of a[i * a_step + k] * weight[k][j], for `rows` rows and `blocks`
  // blocks of 16 columns. The order of the sums depends on k and group alone.
  void (*multiply)(const WeightColumns& w, int64_t blocks, const float* a, int64_t a_step,
                   int64_t rows, float* sums);
  // out[(k - begin) * step + j] = weight[k][j] for k in [begin, end) of one block of 16 columns.
  void (*widen)(const WeightColumns& w, int64_t begin, int64_t end, float* out, int64_t step);
};

const WeightOnlySet& weight_only_set(Isa isa);
extern const WeightOnlySet kWeightOnlyBaseline, kWeightOnlyAvx2, kWeightOnlyAvx512;

}  // namespace anynpu::ops
