// SPDX-License-Identifier: Apache-2.0
// The placement of a plan's buffers in its arena: two buffers overlap only if no step needs both.
#pragma once

#include <cstddef>
#include <vector>

namespace anynpu::exec {

struct ArenaBuffer {
  size_t bytes = 0;
  int first_step = 0, last_step = 0;  // both included
  size_t offset = 0;                  // set by place_buffers; a multiple of 64
};

// Largest first, each at the lowest free offset. Returns the size of the arena. Deterministic.
size_t place_buffers(std::vector<ArenaBuffer>& buffers);

}  // namespace anynpu::exec
