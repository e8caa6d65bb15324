// SPDX-License-Identifier: Apache-2.0
// Pieces of broadcast inputs in the order of the output: how element-wise engines read operands of
// other shapes and of 16-bit floats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ops/kernel.h"
#include "tensor/dtype.h"

namespace anynpu::ops::elementwise {

constexpr int64_t kPiece = 1024;  // elements of one call of a loop

// The type that a loop computes `type` in: float32 for 16-bit floats.
inline DType carried_type(DType type) {
  return type == DType::f16 || type == DType::bf16 ? DType::f32 : type;
}

// The elements of one input for outputs in order. Extents of 1 are left out and neighbouring
// dimensions joined, so that the last stride is 0 or 1.
struct Source {
  bool dense = false;   // the same order as the output
  bool single = false;  // one element
  std::vector<int64_t> extent, stride;
  int64_t rows = 1, inner = 1;  // the last two extents
  DType type = DType::undefined;
  size_t bytes = 1;  // of an element
  bool widens = false;
};

// Plain tensors, and dense ones of any layout.
Source source_of(const Operand& operand, const Shape& out);
// One element for each channel of an output in blocks of 16 channels, itself in blocks.
Source channel_source(const Operand& operand, const Shape& out);

// Elements [at, at + count) of the output's order, of at most 8 bytes each, one after the other.
void lay_out_bytes(const Source& source, const std::byte* base, int64_t at, std::byte* out,
                   int64_t count);

// The address of elements [at, at + count) of a source in the carried type: in the input itself, or
// in `place`, which has room for them. At most kPiece elements.
const std::byte* piece_of(const Source& s, const std::byte* base, int64_t at, int64_t count,
                          std::byte* place);

}  // namespace anynpu::ops::elementwise
