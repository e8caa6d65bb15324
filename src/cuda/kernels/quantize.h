// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "ops/quantize/linear.h"

namespace anynpu::device::cuda {

// The index of the scale of element `index`, as CUDA.
std::string scale_place(const ops::quantize::ScaleWalk& walk, std::string_view index);

}  // namespace anynpu::device::cuda
