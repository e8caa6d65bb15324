// SPDX-License-Identifier: Apache-2.0
// Element-wise operators: one broadcasting engine for two operands, one loop for one operand. A new
// operator is a functor and a line in its table (unary.cpp, binary.cpp).
#pragma once

namespace anynpu::ops {

class Registry;

void register_unary_rows(Registry& registry);
void register_unary(Registry& registry);
void register_binary(Registry& registry);
void register_clip(Registry& registry);
void register_swish(Registry& registry);

}  // namespace anynpu::ops
