// SPDX-License-Identifier: Apache-2.0
// Linear maps along single axes: every output element is a weighted sum of a few input elements.
// Interpolation, padding with the tensor's own elements and averages over windows are such maps;
// their gradients are the transposed ones.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "aclnn/recipe.h"

namespace anynpu::aclnn {

struct AxisWeights {
  int64_t in = 0;
  std::vector<std::vector<std::pair<int64_t, double>>> rows;  // of each output: place, weight

  AxisWeights transposed() const;
};

// `x` with the map along `axis`.
Value apply(Recipe& r, Value x, int64_t axis, const AxisWeights& weights);

// Padding by `begin` and `end` elements: mirrored without the edge, or the edge repeated.
AxisWeights reflected(int64_t in, int64_t begin, int64_t end);
AxisWeights replicated(int64_t in, int64_t begin, int64_t end);

// Windows of average pooling. Pads count as elements or not; `divisor` 0: as many as there are.
struct AverageWindow {
  int64_t kernel = 1, stride = 1, pad = 0;
  bool count_pads = false;
};
AxisWeights averaged(int64_t in, int64_t out, const AverageWindow& window, bool sums);
AxisWeights averaged_adaptive(int64_t in, int64_t out);

// Interpolation as torch does it. `scale`: output by input as the program says, 0 when it does not.
enum class Interpolation { nearest, nearest_exact, linear, cubic, linear_antialiased, cubic_antialiased };
AxisWeights interpolated(int64_t in, int64_t out, Interpolation kind, bool align_corners,
                         double scale);

}  // namespace anynpu::aclnn
