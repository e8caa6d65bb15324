// SPDX-License-Identifier: Apache-2.0
// SearchSorted and CumExtreme (domain anynpu).
#pragma once

#include "ops/registry.h"

namespace anynpu::ops::index {

void register_search(Registry& registry);

}  // namespace anynpu::ops::index
