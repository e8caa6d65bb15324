// SPDX-License-Identifier: Apache-2.0
// The activation in the epilogue of convolutions and matrix products: a clamp.
#pragma once

#include <limits>

#include "ops/schema.h"

namespace anynpu::ops {

// Clamp to [min, max] after bias and residual; NaN stays NaN.
struct Activation {
  bool on = false;
  float min = -std::numeric_limits<float>::infinity();
  float max = std::numeric_limits<float>::infinity();
};

// The fused activation of a node of domain "anynpu"; off for others.
Result<Activation> activation_of(const OpContext& context);

}  // namespace anynpu::ops
