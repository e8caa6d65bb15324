// SPDX-License-Identifier: Apache-2.0
// Quantised operators, one register function per file.
#pragma once

#include "ops/plain_kernel.h"

namespace anynpu::ops {

class Registry;

void register_linear(Registry& registry);
void register_integer_matmul(Registry& registry);
void register_integer_conv(Registry& registry);

}  // namespace anynpu::ops
