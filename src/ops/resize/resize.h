// SPDX-License-Identifier: Apache-2.0
// Sampling between pixels: Resize and Upsample, GridSample and AffineGrid.
#pragma once

#include "ops/plain_kernel.h"

namespace anynpu::ops {
class Registry;
}

namespace anynpu::ops::resize {

void register_grid_sample(Registry& registry);
void register_grid_gradient(Registry& registry);

}  // namespace anynpu::ops::resize
