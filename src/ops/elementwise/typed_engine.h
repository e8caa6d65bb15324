// SPDX-License-Identifier: Apache-2.0
// The typed engine: element-wise operators whose loops run on the stored element type. Broadcast
// inputs are expanded piece by piece, 16-bit floats are converted to float32 and rounded once. So a
// loop sees only rows of equal length, and is compiled once per operator and type. Other cases go
// to the wide engine (wide_engine.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "ops/elementwise/wide_engine.h"
#include "tensor/element.h"

namespace anynpu::ops::elementwise {

// out[i] = f(in[0][i], in[1][i], ...) for i in [0, count); `out` may be any of them.
using TypedLoop = void (*)(const std::byte* const* in, std::byte* out, int64_t count,
                           const double* params);

struct TypedOp {
  TypedLoop loop = nullptr;
  bool folds = false;   // variadic, two inputs at least: f(f(in0, in1), in2) ...
  bool finite = false;  // finite inputs give finite outputs: works on blocked tensors too
};

// The type that a loop computes `type` in: float32 for 16-bit floats.
inline DType carried_type(DType type) {
  return type == DType::f16 || type == DType::bf16 ? DType::f32 : type;
}

// Calls f with a value of the C++ type that carries numbers of `type`; false for other types.
template <typename F>
bool visit_carried(DType type, F&& f) {
  if (carried_type(type) == DType::f32) return f(float{}), true;
  if (type == DType::f64) return f(double{}), true;
  return visit_integers(type, f);
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

// `operand` broadcast to `out`.
Source source_of(const Operand& operand, const Shape& out);
// Elements [at, at + count) of the output's order, of at most 8 bytes each, one after the other.
void lay_out_bytes(const Source& source, const std::byte* base, int64_t at, std::byte* out,
                   int64_t count);

// All inputs that are present are broadcast to output 0.
PlanResult plan_typed(const OpContext& context, const TypedOp& op, const Params& params = {});

// The refusal of a kernel that has no loop for the types of `context`.
Status no_typed_loop(const OpContext& context);

}  // namespace anynpu::ops::elementwise
