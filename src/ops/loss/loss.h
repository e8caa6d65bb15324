// SPDX-License-Identifier: Apache-2.0
// Losses that have a file of their own.
#pragma once

#include "ops/plain_kernel.h"

namespace anynpu::ops {
class Registry;
}

namespace anynpu::ops::loss {

void register_ctc(Registry& registry);
void register_multilabel(Registry& registry);

}  // namespace anynpu::ops::loss
