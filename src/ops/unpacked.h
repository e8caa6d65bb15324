// SPDX-License-Identifier: Apache-2.0
// Data movement of 4-bit elements, which are stored two to a byte: they are unpacked to one byte
// each in the workspace, the plan for int8 runs on that, and the result is packed again.
#pragma once

#include "ops/plain_kernel.h"

namespace anynpu::ops {

// The plan of `function`; if the first input has 4 bits, the int8 plan with unpacking and packing.
// For operators of at most 8 inputs and outputs that read no values of these operands.
PlanResult plan_unpacked(const OpContext& context, PlanFunction function);

template <PlanFunction function>
PlanResult plan_unpacked(const OpContext& context) {
  return plan_unpacked(context, function);
}

}  // namespace anynpu::ops
