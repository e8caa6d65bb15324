// SPDX-License-Identifier: Apache-2.0
// The kernels that the back end brings along (ops/backend_kernels.h), a file a family.
#pragma once

#include <vector>

#include "ops/kernel.h"

namespace anynpu::device::cuda {

void add_elementwise(std::vector<ops::KernelDef>& kernels);
void add_copies(std::vector<ops::KernelDef>& kernels);
void add_products(std::vector<ops::KernelDef>& kernels);
void add_convolutions(std::vector<ops::KernelDef>& kernels);
void add_pools(std::vector<ops::KernelDef>& kernels);
void add_rows(std::vector<ops::KernelDef>& kernels);
void add_attention(std::vector<ops::KernelDef>& kernels);
void add_gathers(std::vector<ops::KernelDef>& kernels);

// Tells the registry of all of them, once.
void add_kernels();

}  // namespace anynpu::device::cuda
