// SPDX-License-Identifier: Apache-2.0
// Dependencies between the steps of a plan: a step depends on an earlier one if it accesses memory
// that the earlier one writes, or writes memory that the earlier one accesses. Independent steps
// may run at the same time on a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace anynpu::exec {

struct TouchedRange {
  const std::byte* begin = nullptr;
  size_t bytes = 0;
  bool written = false;
};
using TouchedRanges = std::vector<TouchedRange>;  // of one step

// For each step the earlier steps that it depends on, without those that are implied by the
// others.
std::vector<std::vector<uint32_t>> order_of_steps(const std::vector<TouchedRanges>& steps);

}  // namespace anynpu::exec
