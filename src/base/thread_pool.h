// SPDX-License-Identifier: Apache-2.0
// The thread pool of the process: threads() helpers, started on first use and never joined. As many
// as threads, because one may run the task of a caller that sleeps. Three kinds of work: jobs
// (a stream that has become runnable), timers (a job that is due later), and parallel_for (the
// caller works too and never depends on a helper). Importing the library starts nothing. All calls
// are thread-safe; none may be made while holding a lock that a job takes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace anynpu {

class ThreadPool {
 public:
  static constexpr int kPriorities = 8;  // 0 is served first

  // A job carries its own storage: intrusive, so that submitting allocates nothing.
  struct Job {
    void (*run)(Job&) = nullptr;
    Job* next = nullptr;
    int priority = 0;
  };

  static ThreadPool& instance();

  // Cores that AnyNPU uses: ANYNPU_THREADS, else the cores this process may run on. Fixed per
  // process.
  size_t threads() const { return threads_; }

  // Hands `job` to a helper; it must stay alive and unsubmitted until its run function was entered.
  void submit(Job& job);

  // Runs `job` on a helper `delay_ns` from now (never earlier). The callable is owned by the pool.
  void submit_after(uint64_t delay_ns, std::function<void()> job);

  // Whether jobs wait for a helper; a long-running job checks this before it continues.
  bool has_waiting_jobs() const { return waiting_.load(std::memory_order_relaxed) > 0; }

  using Body = std::function<void(size_t begin, size_t end)>;
  // Calls body(begin, end) over [0, count) in at most threads() ranges of at least min_range. The
  // split depends only on the arguments and threads(), so results do not depend on which thread
  // runs which range. The caller runs every range that no helper has taken. `body` must not throw.
  // Takes no lock unless sleeping helpers must be woken, or one is late.
  void parallel_for(size_t count, size_t min_range, const Body& body);

  // While one is alive, helpers spin for work instead of sleeping (a multi-thread plan is in
  // flight), and for 50 us after the last.
  class SpinScope {
   public:
    explicit SpinScope(ThreadPool& pool);
    ~SpinScope();
    SpinScope(const SpinScope&) = delete;
    SpinScope& operator=(const SpinScope&) = delete;

   private:
    ThreadPool& pool_;
  };

  // Nanoseconds that helpers spent working so far; grows while a helper works.
  uint64_t busy_ns() const { return busy_ns_.load(std::memory_order_relaxed); }

  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

 private:
  ThreadPool();
  struct Shared;
  struct Loop;
  void start_helpers();
  void help(size_t number);
  bool help_loop();
  bool help_listed(uint64_t& due);
  static bool run_one_range(Loop& loop, const Body& body);
  void leave(const std::atomic<int>& inside);

  size_t threads_;
  Shared* shared_;  // never destroyed: helpers may outlive main
  std::atomic<int> waiting_{0};
  alignas(64) std::atomic<uint64_t> busy_ns_{0};  // helpers write it while callers read the rest
};

}  // namespace anynpu
