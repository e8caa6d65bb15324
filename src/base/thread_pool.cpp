// SPDX-License-Identifier: Apache-2.0
#include "base/thread_pool.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/env.h"
#include "base/fork_guard.h"

namespace anynpu {

namespace {

constexpr uint64_t kSpinAfterLastNs = 50'000;

thread_local bool t_is_helper = false;

size_t cores_of_process() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return static_cast<size_t>(CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

size_t choose_threads() {
  const int64_t wanted = env::integer(env::Name::threads, 0);
  return wanted >= 1 && wanted <= 1024 ? static_cast<size_t>(wanted) : cores_of_process();
}

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

// Moves this thread off a core that the thread it helps needs. The system may wake a helper on the
// core of the thread that woke it and leave it there for milliseconds while another is idle.
void leave_core(int core) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < 2) return;
  cpu_set_t others = allowed;
  CPU_CLR(core, &others);
  if (sched_setaffinity(0, sizeof others, &others) == 0) {
    sched_setaffinity(0, sizeof allowed, &allowed);  // it has moved; it may come back later
  }
}

// Sleeps while the word still has the value seen, at most until it is due.
void sleep_on(std::atomic<uint32_t>& word, uint32_t seen, uint64_t due_ns) {
  timespec left{};
  if (due_ns != UINT64_MAX) {
    const uint64_t now = now_ns();
    if (due_ns <= now) return;
    left = {static_cast<time_t>((due_ns - now) / 1'000'000'000),
            static_cast<long>((due_ns - now) % 1'000'000'000)};
  }
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, due_ns == UINT64_MAX ? nullptr : &left,
          nullptr, 0);
}

void wake(std::atomic<uint32_t>& word, size_t sleepers) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, static_cast<int>(sleepers), nullptr, nullptr, 0);
}

// The pool's mutex is held for tens of nanoseconds, and sleeping for it costs microseconds.
void lock_soon(std::unique_lock<std::mutex>& lock) {
  for (int tries = 0; tries < 200; ++tries) {
    if (lock.try_lock()) return;
    relax();
  }
  lock.lock();
}
std::unique_lock<std::mutex> lock_soon(std::mutex& mutex) {
  std::unique_lock lock(mutex, std::defer_lock);
  lock_soon(lock);
  return lock;
}

}  // namespace

// A parallel_for in flight. Lives on the caller's stack: helpers enter under the pool's mutex while
// the loop is listed, and the caller leaves last.
struct ThreadPool::ParallelLoop {
  const std::function<void(size_t, size_t)>* body;
  size_t count;
  size_t ranges;
  int core = sched_getcpu();  // of the caller
  std::atomic<size_t> next{0};
  std::atomic<int> helpers{0};  // lowering it is the last that a helper does with the loop
};

struct ThreadPool::Shared {
  struct Timer {
    uint64_t due_ns;
    std::function<void()> job;
    bool operator<(const Timer& other) const { return due_ns > other.due_ns; }  // a min-heap
  };
  struct List {
    Job* first = nullptr;
    Job* last = nullptr;
  };

  // A helper that sleeps. Woken on the core of a busy thread, it would run only when that one's
  // turn is over, which takes milliseconds: it can be told to wake on another one.
  class Sleeper {
   public:
    // By the thread that wakes it.
    void keep_off(int core) {
      if (moved_ || sched_getaffinity(thread_, sizeof allowed_, &allowed_) != 0) return;
      cpu_set_t others = allowed_;
      CPU_CLR(core, &others);
      moved_ = CPU_COUNT(&others) > 0 && sched_setaffinity(thread_, sizeof others, &others) == 0;
    }
    // By itself: takes back what it may use. It stays where it is.
    void woken() {
      if (moved_) sched_setaffinity(0, sizeof allowed_, &allowed_);
    }

   private:
    const pid_t thread_ = gettid();
    bool moved_ = false;
    cpu_set_t allowed_;
  };

  std::mutex mutex;
  std::condition_variable leave;  // callers of parallel_for that a helper lets wait for long
  std::atomic<int> leaving{0};    // how many of them sleep there
  std::array<List, kPriorities> jobs{};
  std::vector<Timer> timers;
  std::vector<ParallelLoop*> loops;
  std::vector<Sleeper*> sleepers;  // in the order they went to sleep, which is that of waking
  size_t spinning = 0;             // helpers that look for work and have not been told of any
  size_t working = 0;
  bool started = false;
  // Moves with every piece of new work, under the mutex. Helpers spin or sleep on it: a bare futex,
  // because waking through a condition variable costs a submitter 0.3 us more.
  std::atomic<uint32_t> epoch{0};
  std::atomic<size_t> spin_scopes{0};
  std::atomic<size_t> outside_scopes{0};  // those of threads that are no helpers
  std::atomic<uint64_t> spin_until{0};

  // Ends the lock under which work was listed, and sees to it that `wanted` helpers know: those who
  // spin see the epoch move, sleepers are woken for the rest. Woken without the lock: one that
  // wakes into it would have to be woken twice. `core`: of a caller that works on beside them; -1:
  // none.
  void announce(std::unique_lock<std::mutex>& lock, size_t wanted, int core = -1) {
    const size_t woken = std::min(wanted - std::min(wanted, spinning), sleepers.size());
    spinning = 0;
    if (core >= 0)
      for (Sleeper* sleeper : std::span(sleepers).first(woken)) sleeper->keep_off(core);
    epoch.fetch_add(1, std::memory_order_release);
    lock.unlock();
    if (woken > 0) wake(epoch, woken);
  }
  // Whether one more helper may spin for the next piece of a plan in flight, or of one that ended
  // just now, without taking a core from those who work.
  bool may_spin(size_t threads) const {
    const bool in_flight = spin_scopes.load(std::memory_order_relaxed) > 0;
    const size_t outside = in_flight ? outside_scopes.load(std::memory_order_relaxed) : 1;
    return working + spinning + outside < threads &&
           (in_flight || now_ns() < spin_until.load(std::memory_order_relaxed));
  }
  Job* pop() {
    for (List& list : jobs) {
      if (Job* job = list.first) {
        list.first = job->next;
        if (!list.first) list.last = nullptr;
        job->next = nullptr;
        return job;
      }
    }
    return nullptr;
  }
};

ThreadPool& ThreadPool::instance() {
  static auto* pool = new ThreadPool;
  return *pool;
}

ThreadPool::ThreadPool() : threads_(choose_threads()), shared_(new Shared) {}

void ThreadPool::start_helpers() {
  // Called with the mutex held.
  if (shared_->started) return;
  shared_->started = true;
  mark_runtime_used();
  shared_->sleepers.reserve(threads_);  // so that going to sleep never allocates
  for (size_t i = 0; i < threads_; ++i) {
    std::thread thread([this] { help(); });
    pthread_setname_np(thread.native_handle(), "anynpu");
    thread.detach();
  }
}

void ThreadPool::submit(Job& job) {
  std::unique_lock lock = lock_soon(shared_->mutex);
  start_helpers();
  job.next = nullptr;
  Shared::List& list = shared_->jobs[std::clamp(job.priority, 0, kPriorities - 1)];
  (list.last ? list.last->next : list.first) = &job;
  list.last = &job;
  waiting_.fetch_add(1, std::memory_order_relaxed);
  shared_->announce(lock, 1);
}

void ThreadPool::submit_after(uint64_t delay_ns, std::function<void()> job) {
  std::unique_lock lock = lock_soon(shared_->mutex);
  start_helpers();
  shared_->timers.push_back({now_ns() + delay_ns, std::move(job)});
  std::push_heap(shared_->timers.begin(), shared_->timers.end());
  shared_->announce(lock, 1);
}

bool ThreadPool::run_one_range(ParallelLoop& loop) {
  const size_t range = loop.next.fetch_add(1, std::memory_order_relaxed);
  if (range >= loop.ranges) return false;
  const size_t begin = loop.count * range / loop.ranges;
  const size_t end = loop.count * (range + 1) / loop.ranges;
  (*loop.body)(begin, end);
  return true;
}

void ThreadPool::parallel_for(size_t count, size_t min_range,
                              const std::function<void(size_t, size_t)>& body) {
  if (count == 0) return;
  const size_t most = (count + std::max<size_t>(1, min_range) - 1) / std::max<size_t>(1, min_range);
  const size_t ranges = std::min(threads_, most);
  if (ranges <= 1) {
    body(0, count);
    return;
  }
  ParallelLoop loop{&body, count, ranges};
  std::unique_lock lock = lock_soon(shared_->mutex);
  start_helpers();
  shared_->loops.push_back(&loop);
  shared_->announce(lock, ranges - 1, loop.core);
  while (run_one_range(loop)) {
  }
  lock_soon(lock);
  std::erase(shared_->loops, &loop);
  lock.unlock();
  // Nobody can enter any more; those inside are at work on the last ranges.
  for (int spins = 0; loop.helpers.load(std::memory_order_acquire) > 0 && spins < 20000; ++spins) {
    // The helper that is waited for may have been put on this very core.
    if (spins % 256 == 255) sched_yield();
    relax();
  }
  if (loop.helpers.load(std::memory_order_acquire) == 0) return;
  lock.lock();
  shared_->leaving.fetch_add(1);
  shared_->leave.wait(lock, [&] { return loop.helpers.load() == 0; });
  shared_->leaving.fetch_sub(1);
}

void ThreadPool::help() {
  t_is_helper = true;
  std::unique_lock lock = lock_soon(shared_->mutex);
  for (;;) {
    const uint32_t seen = shared_->epoch.load(std::memory_order_acquire);
    ParallelLoop* loop = nullptr;
    for (ParallelLoop* candidate : shared_->loops) {
      if (candidate->next.load(std::memory_order_relaxed) < candidate->ranges) loop = candidate;
    }
    if (loop) {
      loop->helpers.fetch_add(1, std::memory_order_relaxed);
      ++shared_->working;
      lock.unlock();
      if (sched_getcpu() == loop->core) leave_core(loop->core);
      const uint64_t start = now_ns();
      while (run_one_range(*loop)) {
      }
      busy_ns_.fetch_add(now_ns() - start, std::memory_order_relaxed);
      const bool last = loop->helpers.fetch_sub(1) == 1;
      // A caller that goes to sleep counts itself before it looks at `helpers` once more.
      const bool awaited = last && shared_->leaving.load() > 0;
      lock_soon(lock);
      --shared_->working;
      if (awaited) shared_->leave.notify_all();
      continue;
    }
    uint64_t due = UINT64_MAX;
    if (!shared_->timers.empty()) {
      due = shared_->timers.front().due_ns;
      if (due <= now_ns()) {
        std::pop_heap(shared_->timers.begin(), shared_->timers.end());
        auto job = std::move(shared_->timers.back().job);
        shared_->timers.pop_back();
        lock.unlock();
        job();
        job = nullptr;  // what it holds may take locks of its own when it goes
        lock_soon(lock);
        continue;
      }
    }
    if (Job* job = shared_->pop()) {
      waiting_.fetch_sub(1, std::memory_order_relaxed);
      ++shared_->working;
      lock.unlock();
      const uint64_t start = now_ns();
      job->run(*job);
      busy_ns_.fetch_add(now_ns() - start, std::memory_order_relaxed);
      lock_soon(lock);
      --shared_->working;
      continue;
    }
    if (shared_->may_spin(threads_)) {
      ++shared_->spinning;
      lock.unlock();
      for (int i = 0; i < 2000 && shared_->epoch.load(std::memory_order_acquire) == seen; ++i)
        relax();
      // The thread with the work may have been put on this very core.
      if (shared_->epoch.load(std::memory_order_acquire) == seen) sched_yield();
      lock_soon(lock);
      if (shared_->epoch.load(std::memory_order_relaxed) == seen) --shared_->spinning;
      continue;
    }
    Shared::Sleeper sleeper;
    shared_->sleepers.push_back(&sleeper);
    lock.unlock();
    sleep_on(shared_->epoch, seen, due);
    lock_soon(lock);
    std::erase(shared_->sleepers, &sleeper);
    sleeper.woken();
  }
}

ThreadPool::SpinScope::SpinScope(ThreadPool& pool) : pool_(pool) {
  pool_.shared_->spin_scopes.fetch_add(1, std::memory_order_relaxed);
  if (!t_is_helper) pool_.shared_->outside_scopes.fetch_add(1, std::memory_order_relaxed);
}

ThreadPool::SpinScope::~SpinScope() {
  if (!t_is_helper) pool_.shared_->outside_scopes.fetch_sub(1, std::memory_order_relaxed);
  if (pool_.shared_->spin_scopes.fetch_sub(1, std::memory_order_relaxed) == 1) {
    pool_.shared_->spin_until.store(now_ns() + kSpinAfterLastNs, std::memory_order_relaxed);
  }
}

}  // namespace anynpu
