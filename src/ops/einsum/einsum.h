// SPDX-License-Identifier: Apache-2.0
// Einsum: what its kernels share.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ops/plain_kernel.h"
#include "ops/simd/isa.h"

namespace anynpu::ops::einsum {

struct Equation {
  std::vector<std::string> terms;  // one per input; digits stand for the dimensions of "..."
  std::string out;
  std::map<char, int64_t> extents;
};

// All extents known.
Result<Equation> equation_of(const OpContext& context);

// f32 by matrix products, two operands at a time from the left (products.cpp).
template <Isa isa>
Status can_run_einsum_products(const OpContext& context);
template <Isa isa>
PlanResult plan_einsum_products(const OpContext& context);

}  // namespace anynpu::ops::einsum
