// SPDX-License-Identifier: Apache-2.0
// Moving elements of 4 bits, of which two share a byte: the plan for int8 runs between copies with
// one element to a byte, which lie in the workspace. Thread-safe as every plan.
#pragma once

#include "ops/plain_kernel.h"

namespace anynpu::ops {

// The plan of `function`; where the first input has 4 bits, that for int8 and the copies around it.
// For operators of at most 8 inputs and outputs that read no values of these operands.
PlanResult plan_unpacked(const OpContext& context, PlanFunction function);

template <PlanFunction function>
PlanResult plan_unpacked(const OpContext& context) {
  return plan_unpacked(context, function);
}

}  // namespace anynpu::ops
