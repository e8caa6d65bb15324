// SPDX-License-Identifier: Apache-2.0
// Operators that stand alone, one register function per file.
#pragma once

#include "ops/plain_kernel.h"

namespace anynpu::ops {

class Registry;

void register_loss(Registry& registry);
void register_einsum(Registry& registry);
void register_det(Registry& registry);
void register_lp_pool(Registry& registry);
void register_training(Registry& registry);
void register_optional(Registry& registry);
void register_random(Registry& registry);

}  // namespace anynpu::ops
