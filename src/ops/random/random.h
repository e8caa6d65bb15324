// SPDX-License-Identifier: Apache-2.0
// Random numbers: the same for the same seed and shape, regardless of the number of threads.
#pragma once

#include "ops/plain_kernel.h"

namespace anynpu::ops {
class Registry;
}

namespace anynpu::ops::random {

// Dropout (schema and kernel list: shape/reshape.cpp). In training mode elements become 0 with
// probability `ratio`, and the others are scaled up.
PlanResult plan_dropout(const OpContext& context);

void register_philox(Registry& registry);

}  // namespace anynpu::ops::random
