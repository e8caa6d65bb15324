// SPDX-License-Identifier: Apache-2.0
// Products of a few rows with a matrix that is read once, and transposes of blocks: what matrix
// products need beside their register tiles. Compiled once per instruction set (see isa.h).
#pragma once

#include <cstdint>

#include "ops/simd/isa.h"

namespace anynpu::ops {

struct ProductSet {
  // sums[i] += sum over k of a[i * step + k] * b[k] for i in [0, rows), rows at most kMostRows.
  void (*dots)(const float* a, int64_t step, int64_t rows, const float* b, int64_t count,
               float* sums);
  // y[i * y_step + j] += a[i * a_step + k] * b[k * b_step + j] for all j of [0, count) and k of
  // [0, depth).
  void (*add_rows)(const float* a, int64_t a_step, int64_t rows, const float* b, int64_t b_step,
                   int64_t depth, float* y, int64_t y_step, int64_t count);
  // y[j * y_step + i] = scale * x[i * x_step + j] for i in [0, rows) and j in [0, columns).
  void (*transpose)(const float* x, int64_t x_step, int64_t rows, int64_t columns, float scale,
                    float* y, int64_t y_step);
};
constexpr int64_t kMostProductRows = 4;

const ProductSet& product_set(Isa isa);
extern const ProductSet kProductsBaseline, kProductsAvx2, kProductsAvx512;

}  // namespace anynpu::ops
