// SPDX-License-Identifier: Apache-2.0
// The files of this family.
#pragma once

#include "ops/registry.h"

namespace anynpu::ops::linalg {

void register_solvers(Registry& registry);

}  // namespace anynpu::ops::linalg
