// SPDX-License-Identifier: Apache-2.0
// The wide engine: element-wise operators of any number of broadcast inputs, as functions over
// blocks of at most kBlockLength elements in a wide type (elements/wide.h). An operator is one row
// of the tables in wide_unary.cpp and wide_nary.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "ops/elements/wide.h"
#include "ops/plain_kernel.h"

namespace anynpu::ops::elementwise {

using Params = std::array<double, 4>;  // attributes, read once per plan

// out[i] = f(in[0][i], in[1][i], ...); `out` may be in[0].
template <typename W>
using BlockFunction = void (*)(const W* const* in, W* out, int64_t count, const Params& params);

// What an operator computes, by wide type; null where it has no meaning.
struct BlockOp {
  BlockFunction<double> float64 = nullptr;
  BlockFunction<int64_t> int64 = nullptr;
  BlockFunction<uint64_t> uint64 = nullptr;
  bool folds = false;  // variadic: f(f(in0, in1), in2) ...
  SmallFloatRule rule = {};
};

// Block functions from a lambda of elements: apply1<[](double x, const Params&) {...}, double>.
template <auto f, typename W>
void apply1(const W* const* in, W* out, int64_t count, const Params& params) {
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<W>(f(in[0][i], params));
}
template <auto f, typename W>
void apply2(const W* const* in, W* out, int64_t count, const Params& params) {
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<W>(f(in[0][i], in[1][i], params));
}

// `kind`: the wide type to compute in. Inputs are broadcast to outputs[0].
PlanResult plan_blocks(const OpContext& context, const BlockOp& op, WideKind kind,
                       const Params& params);

// The broadcast shape of all inputs into output 0, with type `dtype`.
Status broadcast_rule(OpContext& context, DType dtype);

}  // namespace anynpu::ops::elementwise
