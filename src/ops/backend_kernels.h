// SPDX-License-Identifier: Apache-2.0
// Kernels that back ends bring along. Registry has those of the CPU; what a back end has no kernel
// for falls back to them (choose_kernel). Thread-safe.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "ops/kernel.h"

namespace anynpu::ops {

// For a back end, once, before it makes its first device. The list stays for the life of the
// process; an operator's kernels stand in order of preference. Each makes plans of
// enqueued_plan.h.
void add_backend_kernels(std::span<const KernelDef> kernels);

// Those of one back end for one operator, in order; empty when there are none.
std::vector<const KernelDef*> backend_kernels(std::string_view backend, std::string_view op,
                                              std::string_view domain);

}  // namespace anynpu::ops
