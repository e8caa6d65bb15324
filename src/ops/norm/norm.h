// SPDX-License-Identifier: Apache-2.0
// Normalisations, one register function per file. kernels.cpp has the order of their kernels.
#pragma once

#include "ops/plain_kernel.h"

namespace anynpu::ops {
class Registry;
}

namespace anynpu::ops::norm {

// The kernel list of `op` (kernels.cpp): faster kernels in order, then `reference`.
void add_list(Registry& registry, std::string_view op, const KernelLine& reference);

// The vectorised row kernels for an operator; may be empty.
std::vector<KernelLine> layer_row_kernels(std::string_view op);
std::vector<KernelLine> channel_row_kernels(std::string_view op);

void register_batch_norm(Registry& registry);
void register_norm_groups(Registry& registry);
void register_lrn(Registry& registry);
void register_channel_gradient(Registry& registry);

}  // namespace anynpu::ops::norm
