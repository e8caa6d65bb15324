// SPDX-License-Identifier: Apache-2.0
// Reduce*, ArgMax, ArgMin, CumSum and similar operators, one register function per file.
#pragma once

#include "ops/schema.h"

namespace anynpu::ops {
class Registry;
}

namespace anynpu::ops::reduce {

void register_arg_reduce(Registry& registry);
void register_rows(Registry& registry);

// The shape rule of Reduce*: axes and keepdims.
Status reduce_rule(OpContext& context);

}  // namespace anynpu::ops::reduce
