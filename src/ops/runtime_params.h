// SPDX-License-Identifier: Apache-2.0
// Operators whose parameters are tensors: axes, sizes, indices that determine the output shape. If
// they are constants, the plan is made once. If they are computed at run time (runtime parameters),
// the model states the shape of the output and every run makes a plan from the actual values;
// values that give another shape fail the run. Only this path allocates in a run.
#pragma once

#include <cstdint>

#include "ops/plain_kernel.h"

namespace anynpu::ops {

// True when every input of `mask` (bit i = input i) is absent or constant.
bool parameters_known(const OpContext& context, uint64_t mask);

PlanResult plan_with_runtime_params(const OpContext& context, PlanFunction function);

template <PlanFunction function, uint64_t mask>
PlanResult plan_known_or_runtime(const OpContext& context) {
  return parameters_known(context, mask) ? function(context)
                                         : plan_with_runtime_params(context, function);
}

// KernelDef::create for such an operator: `mask` names the parameters.
template <PlanFunction function, uint64_t mask>
Result<std::unique_ptr<Kernel>> create_with_runtime_params(const OpContext& context) {
  return create_plain<plan_known_or_runtime<function, mask>>(context);
}

// For shape rules: the output's type is known, its shape depends on the values of a parameter.
Status set_output(OpContext& context, size_t index, DType dtype, Shape shape);

}  // namespace anynpu::ops
