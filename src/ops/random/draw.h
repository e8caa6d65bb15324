// SPDX-License-Identifier: Apache-2.0
// Draw (domain anynpu): random numbers whose seed and offset are values of the run.
#pragma once

#include "ops/registry.h"

namespace anynpu::ops::random {

void register_draw(Registry& registry);

}  // namespace anynpu::ops::random
