// SPDX-License-Identifier: Apache-2.0
// Rows of floats to integers of 8 and 16 bits and back. Compiled once per instruction set
// (simd/isa.h).
#pragma once

#include <cstdint>

#include "ops/simd/isa.h"

namespace anynpu::ops::quantize {

struct QuantRow {
  const float* floats = nullptr;  // read by quantize
  float* result = nullptr;        // written by dequantize
  const float* scales = nullptr;
  const float* zeros = nullptr;  // whole numbers of the type
  bool each = false;             // a scale and a zero for each element, or one for all
  int64_t count = 0;
};

template <typename T>
struct QuantRows {
  // round(x / scale) to even, + zero, within the ends of T; NaN gives 0.
  void (*quantize)(const QuantRow& row, T* out);
  // (x - zero) * scale, rounded once.
  void (*dequantize)(const QuantRow& row, const T* in);
};

struct QuantRowSet {
  QuantRows<uint8_t> u8;
  QuantRows<int8_t> i8;
  QuantRows<uint16_t> u16;
  QuantRows<int16_t> i16;
  // Widens [low, high] to the minimum and maximum of x; NaN is skipped.
  void (*widen_range)(const float* x, int64_t count, float* low, float* high);
};

const QuantRowSet& quant_row_set(Isa isa);
extern const QuantRowSet kQuantRowsBaseline, kQuantRowsAvx2, kQuantRowsAvx512;

}  // namespace anynpu::ops::quantize
