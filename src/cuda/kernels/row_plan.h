// SPDX-License-Identifier: Apache-2.0
// Kernels with one thread block per row. Reductions accumulate in float (double for float64) in a
// fixed order, so results are deterministic.
#pragma once

#include <string>

#include "ops/plain_kernel.h"

namespace anynpu::device::cuda {

// Generates kernel(inputs..., output). `body` is CUDA code that uses `row`, the inputs p0, p1 ...,
// the output y and the compute type C. join_block(value, Sum(), (C)0) reduces over the block;
// Product, Highest and Lowest work the same way.
// Further outputs are y1, y2 ...; null where they are not asked for.
ops::PlanResult plan_rows(const ops::OpContext& context, int64_t rows, int64_t length,
                          size_t inputs, const std::string& body, size_t outputs = 1);

Status check_rows(int64_t rows);

// A kernel definition for float types whose plans come from plan_rows.
inline ops::KernelDef row_kernel(
    std::string_view op, Result<std::unique_ptr<ops::Kernel>> (*create)(const ops::OpContext&),
    Status (*can_run)(const ops::OpContext&) = nullptr) {
  return {.op = op,
          .name = "cuda_rows",
          .backend = "cuda",
          .types = ops::kFloats,
          .can_run = can_run,
          .create = create};
}

}  // namespace anynpu::device::cuda
