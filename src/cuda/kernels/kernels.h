// SPDX-License-Identifier: Apache-2.0
// Registers the kernels of this back end (ops/backend_kernels.h); one file per family. The first
// kernel that accepts a node is used, so the order matters where noted.
#pragma once

#include <vector>

#include "ops/kernel.h"

namespace anynpu::device::cuda {

void add_elementwise(std::vector<ops::KernelDef>& kernels);
void add_copies(std::vector<ops::KernelDef>& kernels);
void add_products(std::vector<ops::KernelDef>& kernels);
void add_channels_last_kernels(std::vector<ops::KernelDef>& kernels);  // before add_convolutions
void add_convolutions(std::vector<ops::KernelDef>& kernels);
void add_conv_transpose(std::vector<ops::KernelDef>& kernels);
void add_reorder(std::vector<ops::KernelDef>& kernels);
void add_channels_last_pools(std::vector<ops::KernelDef>& kernels);  // before add_pools
void add_pools(std::vector<ops::KernelDef>& kernels);
void add_pad_resize(std::vector<ops::KernelDef>& kernels);
void add_rows(std::vector<ops::KernelDef>& kernels);
void add_reductions(std::vector<ops::KernelDef>& kernels);
void add_attention(std::vector<ops::KernelDef>& kernels);
void add_generic_attention(std::vector<ops::KernelDef>& kernels);  // after add_attention
void add_losses(std::vector<ops::KernelDef>& kernels);
void add_scans(std::vector<ops::KernelDef>& kernels);
void add_quantize(std::vector<ops::KernelDef>& kernels);
void add_gathers(std::vector<ops::KernelDef>& kernels);
// Those below come after the ones above, which are faster for what they take.
void add_direct(std::vector<ops::KernelDef>& kernels);
void add_recurrent(std::vector<ops::KernelDef>& kernels);
void add_linear_attention(std::vector<ops::KernelDef>& kernels);
void add_sampling(std::vector<ops::KernelDef>& kernels);
void add_signal(std::vector<ops::KernelDef>& kernels);
void add_selection(std::vector<ops::KernelDef>& kernels);
void add_rare_norms(std::vector<ops::KernelDef>& kernels);
void add_small_types(std::vector<ops::KernelDef>& kernels);

// Registers all of them, once.
void add_kernels();

}  // namespace anynpu::device::cuda
