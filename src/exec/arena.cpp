// SPDX-License-Identifier: Apache-2.0
#include "exec/arena.h"

#include <algorithm>
#include <numeric>

#include "base/align.h"
#include "ops/kernel.h"

namespace anynpu::exec {

namespace {

bool live_together(const ArenaBuffer& a, const ArenaBuffer& b) {
  return a.first_step <= b.last_step && b.first_step <= a.last_step;
}

}  // namespace

size_t place_buffers(std::vector<ArenaBuffer>& buffers) {
  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return buffers[a].bytes > buffers[b].bytes; });
  std::vector<size_t> placed;  // by offset
  size_t total = 0;
  for (size_t index : order) {
    ArenaBuffer& buffer = buffers[index];
    buffer.offset = 0;
    for (size_t other : placed) {  // by rising offset: the first gap that is wide enough wins
      const ArenaBuffer& b = buffers[other];
      if (!live_together(buffer, b)) continue;
      if (buffer.offset + round_up(buffer.bytes, ops::kBufferAlignment) <= b.offset) break;
      buffer.offset = std::max(buffer.offset, b.offset + round_up(b.bytes, ops::kBufferAlignment));
    }
    total = std::max(total, buffer.offset + round_up(buffer.bytes, ops::kBufferAlignment));
    const auto at = std::upper_bound(placed.begin(), placed.end(), index, [&](size_t a, size_t b) {
      return buffers[a].offset < buffers[b].offset;
    });
    placed.insert(at, index);
  }
  return total;
}

}  // namespace anynpu::exec
