// SPDX-License-Identifier: Apache-2.0
// The linear maps along single axes (ops/resize/axis_weights.h) that aclnn's operators are made of.
#pragma once

#include <cstdint>

#include "aclnn/recipe.h"
#include "ops/resize/axis_weights.h"

namespace anynpu::aclnn {

using ops::AxisWeights;

// Applies the map to `x` along `axis`.
Value apply(Recipe& r, Value x, int64_t axis, const AxisWeights& weights);

// Windows of average pooling. `divisor` 0: the number of elements, with or without the padding.
struct AverageWindow {
  int64_t kernel = 1, stride = 1, pad = 0;
  bool count_pads = false;
};
AxisWeights averaged(int64_t in, int64_t out, const AverageWindow& window, bool sums);
AxisWeights averaged_adaptive(int64_t in, int64_t out);

// Interpolation as in torch. `scale`: output size by input size, 0 if the program gives none.
enum class Interpolation {
  nearest,
  nearest_exact,
  linear,
  cubic,
  linear_antialiased,
  cubic_antialiased
};
AxisWeights interpolated(int64_t in, int64_t out, Interpolation kind, bool align_corners,
                         double scale);

}  // namespace anynpu::aclnn
