// SPDX-License-Identifier: Apache-2.0
// The plan that the host has for a node, for kernels that do the same in the memory of the GPU:
// which elements go where is worked out in one place.
#pragma once

#include <memory>
#include <string>

#include "ops/kernel.h"

namespace anynpu::device::cuda {

// Fails as the host refuses the node.
Result<std::unique_ptr<ops::KernelPlan>> host_plan(const ops::OpContext& context);

// The type of generated code for elements of 1, 2, 4, 8 or 16 bytes that are only moved.
std::string bits_type(size_t bytes);

}  // namespace anynpu::device::cuda
