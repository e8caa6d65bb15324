// SPDX-License-Identifier: Apache-2.0
// Random numbers: the same ones for the same seed and shape, whatever the number of threads.
#pragma once

#include "ops/plain_kernel.h"

namespace anynpu::ops {
class Registry;
}

namespace anynpu::ops::random {

// Dropout (schema and kernel list: shape/reshape.cpp). Where training_mode is on, elements become 0
// with the probability of the ratio and the others grow by it.
PlanResult plan_dropout(const OpContext& context);

void register_philox(Registry& registry);

}  // namespace anynpu::ops::random
