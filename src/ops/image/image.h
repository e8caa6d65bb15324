// SPDX-License-Identifier: Apache-2.0
// Operators on images, one register function per file.
#pragma once

#include "ops/plain_kernel.h"

namespace anynpu::ops {

class Registry;

void register_resize(Registry& registry);
void register_conv_transpose(Registry& registry);
void register_grid_sample(Registry& registry);
void register_boxes(Registry& registry);
void register_regions(Registry& registry);
void register_deform_conv(Registry& registry);
void register_image_decoder(Registry& registry);

}  // namespace anynpu::ops
