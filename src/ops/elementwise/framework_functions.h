// SPDX-License-Identifier: Apache-2.0
// Element-wise functions of training frameworks (domain anynpu); the table is in the .cpp.
#pragma once

#include "ops/registry.h"

namespace anynpu::ops::elementwise {

void register_framework_functions(Registry& registry);
void register_to_complex(Registry& registry);

}  // namespace anynpu::ops::elementwise
