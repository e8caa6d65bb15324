// SPDX-License-Identifier: Apache-2.0
// Registration of the losses that have their own file: CTC, multi-label margin and the
// edit distance.
#pragma once

#include "ops/plain_kernel.h"

namespace anynpu::ops {
class Registry;
}

namespace anynpu::ops::loss {

void register_ctc(Registry& registry);
void register_multilabel(Registry& registry);
void register_edit_distance(Registry& registry);

}  // namespace anynpu::ops::loss
