// SPDX-License-Identifier: Apache-2.0
// A tensor as cuDNN's graphs describe it: extents with the channels second, steps in elements.
#pragma once

#include <cstdint>
#include <vector>

namespace anynpu::device::cuda {

struct LastTensor {
  std::vector<int64_t> extents, steps;  // channels innermost

  LastTensor(int64_t outer, int64_t channels, const std::vector<int64_t>& spatial) {
    extents = {outer, channels};
    extents.insert(extents.end(), spatial.begin(), spatial.end());
    steps.assign(extents.size(), 1);
    int64_t step = channels;
    for (size_t d = extents.size(); d-- > 2;) {
      steps[d] = step;
      step *= extents[d];
    }
    steps[0] = step;
  }
};

// The steps of a tensor of these extents in plain layout.
inline std::vector<int64_t> plain_steps(const std::vector<int64_t>& extents) {
  std::vector<int64_t> steps(extents.size(), 1);
  for (size_t d = extents.size(); d-- > 1;) steps[d - 1] = steps[d] * extents[d];
  return steps;
}

}  // namespace anynpu::device::cuda
