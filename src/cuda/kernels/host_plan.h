// SPDX-License-Identifier: Apache-2.0
// The CPU kernel's plan for a node. Data movement kernels reuse its index computation and only
// generate the copy for the GPU.
#pragma once

#include <memory>
#include <string>

#include "ops/kernel.h"

namespace anynpu::device::cuda {

// Fails if no CPU kernel accepts the node.
Result<std::unique_ptr<ops::KernelPlan>> host_plan(const ops::OpContext& context);

// The CUDA type for elements of 1, 2, 4, 8 or 16 bytes that are copied without conversion.
std::string bits_type(size_t bytes);

}  // namespace anynpu::device::cuda
