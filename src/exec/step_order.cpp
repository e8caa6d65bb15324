// SPDX-License-Identifier: Apache-2.0
#include "exec/step_order.h"

#include <algorithm>

namespace anynpu::exec {

namespace {

bool collide(const TouchedRange& a, const TouchedRange& b) {
  return (a.written || b.written) && a.bytes > 0 && b.bytes > 0 && a.begin < b.begin + b.bytes &&
         b.begin < a.begin + a.bytes;
}

bool collide(const TouchedRanges& a, const TouchedRanges& b) {
  return std::any_of(a.begin(), a.end(), [&](const TouchedRange& one) {
    return std::any_of(b.begin(), b.end(),
                       [&](const TouchedRange& other) { return collide(one, other); });
  });
}

}  // namespace

std::vector<std::vector<uint32_t>> order_of_steps(const std::vector<TouchedRanges>& steps) {
  std::vector<std::vector<uint32_t>> after(steps.size());
  // behind[i][j]: step i waits for step j, directly or through others.
  std::vector<std::vector<bool>> behind(steps.size());
  for (size_t i = 0; i < steps.size(); ++i) {
    behind[i].resize(i);
    for (size_t j = i; j-- > 0;) {
      if (behind[i][j] || !collide(steps[i], steps[j])) continue;
      after[i].push_back(static_cast<uint32_t>(j));
      behind[i][j] = true;
      for (size_t k = 0; k < j; ++k) {
        if (behind[j][k]) behind[i][k] = true;
      }
    }
  }
  return after;
}

}  // namespace anynpu::exec
