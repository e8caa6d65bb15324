// SPDX-License-Identifier: Apache-2.0
// The one thread pool of the process: `threads() - 1` helpers (at least one), started on first use,
// never joined. Two kinds of work: jobs (a stream that has become runnable) and parallel_for (the
// caller works too and never depends on a helper). Importing the library starts nothing.
#pragma once

#include <cstddef>
#include <functional>

namespace anynpu {

class ThreadPool {
 public:
  // A job carries its own storage: intrusive, no allocation on submit.
  struct Job {
    void (*run)(Job&) = nullptr;
    Job* next = nullptr;
  };

  static ThreadPool& instance();

  // Cores that AnyNPU uses: ANYNPU_THREADS, else the cores of this process. Fixed per process.
  size_t threads() const;

  // Hands `job` to a helper; the job must stay alive until its run function was entered.
  void submit(Job& job);

  // Calls body(begin, end) over [0, count) in at most threads() fixed ranges. The split depends on
  // count and threads() alone, so that results are the same whoever runs which range. The caller
  // runs every range that no helper has taken. `body` must not throw.
  void parallel_for(size_t count, size_t min_range,
                    const std::function<void(size_t begin, size_t end)>& body);

  // While held, helpers spin for work instead of sleeping (a multi-thread plan is in flight).
  class SpinScope {
   public:
    explicit SpinScope(ThreadPool& pool);
    ~SpinScope();
    SpinScope(const SpinScope&) = delete;
    SpinScope& operator=(const SpinScope&) = delete;

   private:
    ThreadPool& pool_;
  };

  // Busy nanoseconds of all helpers so far: what the utilisation query reads.
  unsigned long long busy_ns() const;

  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

 private:
  ThreadPool();
  struct Impl;
  Impl* impl_;  // never destroyed: helpers may outlive main
};

}  // namespace anynpu
