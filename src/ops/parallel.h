// SPDX-License-Identifier: Apache-2.0
// parallel(count, min_range, body): ThreadPool::parallel_for without an allocation for the closure.
#pragma once

#include <algorithm>
#include <cstddef>

#include "base/thread_pool.h"

namespace anynpu::ops {

template <typename Body>
void parallel(size_t count, size_t min_range, const Body& body) {
  if (count == 0) return;
  // A closure of one reference fits std::function's own storage.
  ThreadPool::instance().parallel_for(count, std::max<size_t>(min_range, 1),
                                      [&body](size_t begin, size_t end) { body(begin, end); });
}

}  // namespace anynpu::ops
