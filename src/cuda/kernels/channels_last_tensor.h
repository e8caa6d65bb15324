// SPDX-License-Identifier: Apache-2.0
// Shape and strides of a channels-last tensor as cuDNN graphs take them: extents in NCHW order,
// strides in elements.
#pragma once

#include <cstdint>
#include <vector>

namespace anynpu::device::cuda {

struct ChannelsLastTensor {
  std::vector<int64_t> extents, strides;  // the channel stride is 1

  ChannelsLastTensor(int64_t outer, int64_t channels, const std::vector<int64_t>& spatial) {
    extents = {outer, channels};
    extents.insert(extents.end(), spatial.begin(), spatial.end());
    strides.assign(extents.size(), 1);
    int64_t stride = channels;
    for (size_t d = extents.size(); d-- > 2;) {
      strides[d] = stride;
      stride *= extents[d];
    }
    strides[0] = stride;
  }
};

// Strides of the plain layout (NCHW).
inline std::vector<int64_t> plain_strides(const std::vector<int64_t>& extents) {
  std::vector<int64_t> strides(extents.size(), 1);
  for (size_t d = extents.size(); d-- > 1;) strides[d - 1] = strides[d] * extents[d];
  return strides;
}

}  // namespace anynpu::device::cuda
