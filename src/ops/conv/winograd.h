// SPDX-License-Identifier: Apache-2.0
// 3x3 convolutions of stride 1 by Winograd's F(2x2, 3x3) on register tiles: f32, one group, weights
// and bias constant, AVX-512.
#pragma once

#include "ops/conv/conv.h"

namespace anynpu::ops::conv {

Status can_run_winograd_conv(const OpContext& context);
Result<std::unique_ptr<Kernel>> create_winograd_conv(const OpContext& context);

}  // namespace anynpu::ops::conv
