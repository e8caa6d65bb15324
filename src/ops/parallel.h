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

// Calls body(task, slot) for every task of [0, count); `slot` is less than `threads` (those that
// the plan was made for: Target::threads) and unique to the running thread. A thread starts with a
// range of neighbouring tasks, the same one for every operator, so that what it wrote for one
// operator is in its cache when the next reads it; then it takes over tasks of others. The result
// of a task must not depend on the thread or the time.
template <typename Body>
void parallel_slots(size_t threads, size_t count, const Body& body) {
  constexpr size_t kMostParts = 64;
  struct alignas(64) Part {
    std::atomic<size_t> next;
    size_t end;
  };
  threads = std::min({threads, count, ThreadPool::instance().threads()});
  if (threads <= 1) {
    for (size_t task = 0; task < count; ++task) body(task, size_t{0});
    return;
  }
  const size_t parts = std::min(threads, kMostParts);
  Part part[kMostParts];
  for (size_t i = 0; i < parts; ++i) {
    part[i].next.store(count * i / parts, std::memory_order_relaxed);
    part[i].end = count * (i + 1) / parts;
  }
  parallel(threads, 1, [&](size_t begin, size_t end) {
    for (size_t slot = begin; slot < end; ++slot) {
      for (size_t i = 0, home = slot * parts / threads; i < parts; ++i) {
        Part& from = part[(home + i) % parts];
        for (size_t task; (task = from.next.fetch_add(1, std::memory_order_relaxed)) < from.end;)
          body(task, slot);
      }
    }
  });
}

// The same for tasks without a slot.
template <typename Body>
void parallel_tasks(size_t count, const Body& body) {
  parallel_slots(ThreadPool::instance().threads(), count,
                 [&body](size_t task, size_t) { body(task); });
}

}  // namespace anynpu::ops
