// SPDX-License-Identifier: Apache-2.0
// Control flow, sequences and optionals.
#pragma once

namespace anynpu::ops {
class Registry;
}

namespace anynpu::ops::control_flow {

void register_optional(Registry& registry);

}  // namespace anynpu::ops::control_flow
