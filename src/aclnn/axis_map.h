// SPDX-License-Identifier: Apache-2.0
// Linear maps along axes: scaling of pictures, mean pools and paddings are one small matrix for each
// axis, their gradients the transposed matrices.
#pragma once

#include <vector>

#include "aclnn/recipe.h"

namespace anynpu::aclnn {

// Element (o, i): how much of input element i goes into output element o.
struct AxisMap {
  int64_t inputs = 0, outputs = 0;
  std::vector<double> weights;

  AxisMap(int64_t in, int64_t out)
      : inputs(in), outputs(out), weights(static_cast<size_t>(in * out)) {}
  double& at(int64_t output, int64_t input) {
    return weights[static_cast<size_t>(output * inputs + input)];
  }
  AxisMap transposed() const;
};

// One map for each of the last axes of `value`.
Value map_axes(Recipe& r, Value value, const std::vector<AxisMap>& maps);

// Input element of each output element of a copy along an axis.
using AxisIndex = std::vector<int64_t>;
Value gather_axes(Recipe& r, Value value, const std::vector<AxisIndex>& axes);
// The map that does the same.
AxisMap map_of(const AxisIndex& index, int64_t inputs);

}  // namespace anynpu::aclnn
