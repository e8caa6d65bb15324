// SPDX-License-Identifier: Apache-2.0
// A bottleneck as three convolutions, each with the kernel that would run it alone; intermediate
// tensors are in the workspace. For cases that no fused kernel takes.
#pragma once

#include "ops/kernel.h"

namespace anynpu::ops::conv {

using ChooseKernel = Result<const KernelDef*> (*)(const OpContext& stage);

Result<const KernelDef*> choose_fastest(const OpContext& stage);
Result<const KernelDef*> choose_reference(const OpContext& stage);

template <ChooseKernel choose>
Result<std::unique_ptr<Kernel>> create_composed(const OpContext& context);

}  // namespace anynpu::ops::conv
