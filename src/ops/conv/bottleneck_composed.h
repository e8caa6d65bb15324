// SPDX-License-Identifier: Apache-2.0
// A bottleneck by the kernels of its convolutions, one after the other, with what lies between them
// in the workspace: nothing is lost where no kernel runs them as one.
#pragma once

#include "ops/kernel.h"

namespace anynpu::ops::conv {

using ChooseKernel = Result<const KernelDef*> (*)(const OpContext& stage);

Result<const KernelDef*> choose_fastest(const OpContext& stage);
Result<const KernelDef*> choose_reference(const OpContext& stage);

template <ChooseKernel choose>
Result<std::unique_ptr<Kernel>> create_composed(const OpContext& context);

}  // namespace anynpu::ops::conv
