// SPDX-License-Identifier: Apache-2.0
// Kernels in which a block of threads has a row. Sums are kept in float (double for float64) and
// joined in a fixed order.
#pragma once

#include <string>

#include "ops/plain_kernel.h"

namespace anynpu::device::cuda {

// kernel(inputs..., output). `body` sees `row`, p0, p1 ... and y, computes in C, and joins what the
// threads have with join_block(value, Sum(), (C)0), Product, Highest or Lowest.
ops::PlanResult plan_rows(const ops::OpContext& context, int64_t rows, int64_t length,
                          size_t inputs, const std::string& body);

Status check_rows(int64_t rows);

// A kernel of floats that is planned by plan_rows.
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
