// SPDX-License-Identifier: Apache-2.0
// Kernels of back ends. Registry has those of the CPU; an operator for which a back end has no
// kernel falls back to them (choose_kernel). Thread-safe.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "ops/kernel.h"

namespace anynpu::ops {

// Called by a back end, once, before it creates its first device. The list must live as long as the
// process; an operator's kernels are in order of preference. Each makes an EnqueuedPlan
// (enqueued_plan.h).
void add_backend_kernels(std::span<const KernelDef> kernels);

// Plans of a back end may ask for Layout::channels_last if it has a kernel of this name, which no
// schema has: it turns the layout of its input into that of its output.
inline constexpr std::string_view kReorderOp = "Reorder", kReorderDomain = "anynpu";

// The kernels of one back end for one operator, in order; may be empty.
std::vector<const KernelDef*> backend_kernels(std::string_view backend, std::string_view op,
                                              std::string_view domain);

}  // namespace anynpu::ops
