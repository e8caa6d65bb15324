// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ops/kernel.h"

namespace anynpu::ops {

// Whether `kernel` takes the type of the first input, where there is one, and this case of it; the
// failure says what it would take.
Status check_kernel(const KernelDef& kernel, const OpContext& context);

}  // namespace anynpu::ops
