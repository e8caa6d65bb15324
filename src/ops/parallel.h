// SPDX-License-Identifier: Apache-2.0
// Work of kernels over the thread pool, without an allocation for the closure.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>

#include "base/thread_pool.h"

namespace anynpu::ops {

// body(begin, end) over fixed ranges of [0, count), each at least min_range long.
template <typename Body>
void parallel(size_t count, size_t min_range, const Body& body) {
  if (count == 0) return;
  // A closure of one reference fits std::function's own storage.
  ThreadPool::instance().parallel_for(count, std::max<size_t>(min_range, 1),
                                      [&body](size_t begin, size_t end) { body(begin, end); });
}

// body(task) for every task of [0, count); threads take the next one as they become free. A task
// must compute the same bytes whoever runs it and whenever.
template <typename Body>
void parallel_tasks(size_t count, const Body& body) {
  std::atomic<size_t> next{0};
  parallel(std::min(count, ThreadPool::instance().threads()), 1, [&](size_t begin, size_t end) {
    for (size_t task; (task = next.fetch_add(1, std::memory_order_relaxed)) < count;) body(task);
  });
}

}  // namespace anynpu::ops
