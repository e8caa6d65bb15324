// SPDX-License-Identifier: Apache-2.0
// Normalisations: one engine over groups of elements, one register function per file.
#pragma once

#include "ops/plain_kernel.h"

namespace anynpu::ops {
class Registry;
}

namespace anynpu::ops::norm {

void register_batch_norm(Registry& registry);
void register_layer_rows(Registry& registry);
void register_channel_rows(Registry& registry);
void register_norm_groups(Registry& registry);
void register_lrn(Registry& registry);

}  // namespace anynpu::ops::norm
