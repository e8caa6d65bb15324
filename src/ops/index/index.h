// SPDX-License-Identifier: Apache-2.0
// Operators that read or write elements at indices given by another tensor, one register function
// per file.
#pragma once

#include "ops/elements/index_value.h"
#include "ops/runtime_params.h"
#include "ops/schema.h"

namespace anynpu::ops {
class Registry;
}

namespace anynpu::ops::index {

void register_gather(Registry& registry);
void register_scatter(Registry& registry);
void register_tensor_scatter(Registry& registry);
void register_select(Registry& registry);
void register_top_k(Registry& registry);
void register_one_hot(Registry& registry);
void register_unique(Registry& registry);
void register_route(Registry& registry);

}  // namespace anynpu::ops::index
