// SPDX-License-Identifier: Apache-2.0
// Operators whose parameters (sizes, axes, pads) are computed at run time, while the model states
// the output's shape: the values of the parameters are copied to the host, which waits for them,
// and the GPU's kernel for these values is planned and launched. Plans are kept by value. It is
// the GPU's counterpart of ops/runtime_params.h.
#pragma once

#include "ops/kernel.h"

namespace anynpu::device::cuda {

void add_late_plans(std::vector<ops::KernelDef>& kernels);

}  // namespace anynpu::device::cuda
