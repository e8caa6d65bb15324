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
#include "base/spin.h"
#include "base/start_thread.h"

namespace anynpu {

namespace {

constexpr uint64_t kSpinAfterLastNs = 50'000;

thread_local bool t_is_helper = false;

std::atomic<bool> helpers_run{false};
void (*start_helpers_of)(ThreadPool& pool) = nullptr;  // set by the pool

// Of this thread's last try to start them.
Status& no_helpers_because() {
  thread_local Status status;
  return status;
}

size_t cores_of_process() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return static_cast<size_t>(CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

size_t choose_threads() {
  const int64_t wanted = env::integer(env::Name::threads, 0);
  return wanted >= 1 && wanted <= 1024 ? static_cast<size_t>(wanted) : cores_of_process();
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
    spin_pause();
  }
  lock.lock();
}
std::unique_lock<std::mutex> lock_soon(std::mutex& mutex) {
  std::unique_lock lock(mutex, std::defer_lock);
  lock_soon(lock);
  return lock;
}

}  // namespace

// A place for a parallel_for in flight, where helpers find it without a lock. A helper counts
// itself in before it looks whether a loop is there; the caller takes the loop out and waits until
// nobody is inside. All in one line: each that a helper has to fetch from the caller's core costs
// 0.1 us.
struct alignas(64) ThreadPool::Loop {
  std::atomic<const Body*> body{nullptr};  // null: none
  size_t count = 0, ranges = 0;
  std::atomic<size_t> next{0};  // range
  std::atomic<int> inside{0};   // helpers
  int core = -1;                // of the caller
  std::atomic<bool> taken{false};
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

  // A helper that spins until the epoch moves. Who lists a job tells one of them, and no two tell
  // the same.
  struct alignas(64) Looker {
    std::atomic<bool> untold{false};
  };
  static constexpr size_t kLoops = 16;  // one that finds no place is run by its caller alone

  explicit Shared(size_t threads) : lookers(threads) {}

  std::mutex mutex;
  std::condition_variable leave;  // callers of parallel_for that a helper lets wait for long
  std::atomic<int> leaving{0};    // how many of them sleep there
  std::array<List, kPriorities> jobs{};
  std::vector<Timer> timers;
  std::atomic<size_t> listed{0};  // jobs and timers; written under the mutex
  std::array<Loop, kLoops> loops;
  std::vector<Looker> lookers;
  std::vector<Sleeper*> sleepers;  // in the order they went to sleep, which is that of waking
  // What callers read for every loop, and what helpers write for every loop, lie in lines of their
  // own.
  alignas(64) std::atomic<size_t> sleeping{0};  // sleepers, read without the mutex
  std::atomic<size_t> spin_scopes{0};
  std::atomic<size_t> outside_scopes{0};  // those of threads that are no helpers
  std::atomic<uint64_t> spin_until{0};
  alignas(64) std::atomic<size_t> spinning{0};  // helpers
  std::atomic<size_t> working{0};               // helpers
  // Moves with every piece of new work. Helpers spin or sleep on it: a bare futex, because waking
  // through a condition variable costs a submitter 0.3 us more.
  alignas(64) std::atomic<uint32_t> epoch{0};

  // Wakes sleepers and ends the lock first: one that wakes into it would have to be woken twice.
  // `core`: of a caller that works on beside them; -1: none.
  void wake_some(std::unique_lock<std::mutex>& lock, size_t wanted, int core = -1) {
    const size_t woken = std::min(wanted, sleepers.size());
    if (core >= 0)
      for (Sleeper* sleeper : std::span(sleepers).first(woken)) sleeper->keep_off(core);
    lock.unlock();
    if (woken > 0) wake(epoch, woken);
  }
  // Ends the lock under which a job or timer was listed, and sees to it that a helper knows.
  void announce_job(std::unique_lock<std::mutex>& lock) {
    epoch.fetch_add(1, std::memory_order_seq_cst);
    for (Looker& looker : lookers) {
      if (looker.untold.load(std::memory_order_relaxed) &&
          looker.untold.exchange(false, std::memory_order_acq_rel)) {
        lock.unlock();
        return;
      }
    }
    wake_some(lock, 1);
  }
  // A helper that is awake and not at work comes to see the loop by itself; one that is about to
  // sleep finds the epoch moved. So the mutex is taken to wake sleepers alone.
  void announce_loop(size_t wanted, int core) {
    epoch.fetch_add(1, std::memory_order_seq_cst);
    const size_t asleep = sleeping.load(std::memory_order_seq_cst);
    if (asleep == 0) return;
    const size_t away = asleep + working.load(std::memory_order_relaxed);
    const size_t coming = lookers.size() - std::min(lookers.size(), away);
    if (coming >= wanted) return;
    std::unique_lock lock = lock_soon(mutex);
    wake_some(lock, wanted - coming, core);
  }
  Loop* take_loop() {
    for (Loop& loop : loops) {
      if (!loop.taken.load(std::memory_order_relaxed) &&
          !loop.taken.exchange(true, std::memory_order_acquire))
        return &loop;
    }
    return nullptr;
  }
  // Whether one more helper may spin for the next piece of a plan in flight, or of one that ended
  // just now, without taking a core from those who work.
  bool may_spin(size_t threads) const {
    const bool in_flight = spin_scopes.load(std::memory_order_relaxed) > 0;
    const size_t outside = in_flight ? outside_scopes.load(std::memory_order_relaxed) : 1;
    return working.load(std::memory_order_relaxed) + spinning.load(std::memory_order_relaxed) +
                   outside <
               threads &&
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

ThreadPool::ThreadPool() : threads_(choose_threads()), shared_(new Shared(threads_)) {
  start_helpers_of = [](ThreadPool& pool) { pool.start_helpers(); };
}

void ThreadPool::start_helpers() {
  if (helpers_run.load(std::memory_order_acquire)) [[likely]]
    return;
  const std::lock_guard lock(shared_->mutex);
  if (helpers_run.load(std::memory_order_relaxed)) return;
  mark_runtime_used();
  shared_->sleepers.reserve(threads_);  // so that going to sleep never allocates
  for (size_t i = 0; i < threads_; ++i) {
    Status started = start_thread("anynpu", Signals::as_caller, [this, i] { help(i); });
    if (!started.ok() && i == 0) {
      no_helpers_because() = std::move(started);
      return;
    }
    if (!started.ok()) break;  // with fewer it works, more slowly
  }
  helpers_run.store(true, std::memory_order_release);
}

Status helpers_ready() {
  if (helpers_run.load(std::memory_order_acquire)) [[likely]]
    return {};
  ThreadPool& pool = ThreadPool::instance();
  start_helpers_of(pool);
  if (helpers_run.load(std::memory_order_acquire)) return {};
  return no_helpers_because();
}

void ThreadPool::submit(Job& job) {
  start_helpers();
  std::unique_lock lock = lock_soon(shared_->mutex);
  job.next = nullptr;
  Shared::List& list = shared_->jobs[std::clamp(job.priority, 0, kPriorities - 1)];
  (list.last ? list.last->next : list.first) = &job;
  list.last = &job;
  waiting_.fetch_add(1, std::memory_order_relaxed);
  shared_->listed.fetch_add(1, std::memory_order_relaxed);
  shared_->announce_job(lock);
}

void ThreadPool::submit_after(uint64_t delay_ns, std::function<void()> job) {
  start_helpers();
  std::unique_lock lock = lock_soon(shared_->mutex);
  shared_->timers.push_back({now_ns() + delay_ns, std::move(job)});
  std::push_heap(shared_->timers.begin(), shared_->timers.end());
  shared_->listed.fetch_add(1, std::memory_order_relaxed);
  shared_->announce_job(lock);
}

bool ThreadPool::run_one_range(Loop& loop, const Body& body) {
  const size_t range = loop.next.fetch_add(1, std::memory_order_relaxed);
  if (range >= loop.ranges) return false;
  const size_t begin = loop.count * range / loop.ranges;
  const size_t end = loop.count * (range + 1) / loop.ranges;
  body(begin, end);
  return true;
}

void ThreadPool::parallel_for(size_t count, size_t min_range, const Body& body) {
  if (count == 0) return;
  const size_t most = (count + std::max<size_t>(1, min_range) - 1) / std::max<size_t>(1, min_range);
  const size_t ranges = std::min(threads_, most);
  if (ranges <= 1) {
    body(0, count);
    return;
  }
  Loop* const loop = shared_->take_loop();
  if (!loop) {
    for (size_t i = 0; i < ranges; ++i) body(count * i / ranges, count * (i + 1) / ranges);
    return;
  }
  start_helpers();
  loop->count = count;
  loop->ranges = ranges;
  loop->core = sched_getcpu();
  loop->next.store(0, std::memory_order_relaxed);
  loop->body.store(&body, std::memory_order_release);
  shared_->announce_loop(ranges - 1, loop->core);
  while (run_one_range(*loop, body)) {
  }
  loop->body.exchange(nullptr, std::memory_order_seq_cst);
  leave(loop->inside);
  loop->taken.store(false, std::memory_order_release);
}

// Nobody can enter any more; those inside are at work on the last ranges.
void ThreadPool::leave(const std::atomic<int>& inside) {
  for (int spins = 0; inside.load(std::memory_order_seq_cst) > 0 && spins < 20000; ++spins) {
    // The helper that is waited for may have been put on this very core.
    if (spins % 256 == 255) sched_yield();
    spin_pause();
  }
  if (inside.load(std::memory_order_seq_cst) == 0) return;
  std::unique_lock lock(shared_->mutex);
  shared_->leaving.fetch_add(1);
  shared_->leave.wait(lock, [&] { return inside.load() == 0; });
  shared_->leaving.fetch_sub(1);
}

// True when it had a range of some loop to run.
bool ThreadPool::help_loop() {
  for (Loop& loop : shared_->loops) {
    if (!loop.body.load(std::memory_order_relaxed)) continue;
    loop.inside.fetch_add(1, std::memory_order_seq_cst);
    // Taken out by a caller that has run the last range, while another one is still run here.
    const Body* const body = loop.body.load(std::memory_order_seq_cst);
    const bool helps = body && loop.next.load(std::memory_order_relaxed) < loop.ranges;
    if (helps) {
      shared_->working.fetch_add(1, std::memory_order_relaxed);
      if (sched_getcpu() == loop.core) leave_core(loop.core);
      const uint64_t start = now_ns();
      while (run_one_range(loop, *body)) {
      }
      busy_ns_.fetch_add(now_ns() - start, std::memory_order_relaxed);
      shared_->working.fetch_sub(1, std::memory_order_relaxed);
    }
    // A caller that goes to sleep counts itself before it looks at `inside` once more.
    if (loop.inside.fetch_sub(1, std::memory_order_seq_cst) == 1 && shared_->leaving.load() > 0) {
      const std::lock_guard lock(shared_->mutex);
      shared_->leave.notify_all();
    }
    if (helps) return true;
  }
  return false;
}

// True when it ran a timer that is due, or a job. Sets when the next timer is.
bool ThreadPool::help_listed(uint64_t& due) {
  if (shared_->listed.load(std::memory_order_acquire) == 0) return false;
  std::unique_lock lock = lock_soon(shared_->mutex);
  if (!shared_->timers.empty()) {
    due = shared_->timers.front().due_ns;
    if (due <= now_ns()) {
      std::pop_heap(shared_->timers.begin(), shared_->timers.end());
      const auto job = std::move(shared_->timers.back().job);
      shared_->timers.pop_back();
      shared_->listed.fetch_sub(1, std::memory_order_relaxed);
      lock.unlock();
      job();  // what it holds goes without the lock: it may take locks of its own
      return true;
    }
  }
  Job* const job = shared_->pop();
  if (!job) return false;
  waiting_.fetch_sub(1, std::memory_order_relaxed);
  shared_->listed.fetch_sub(1, std::memory_order_relaxed);
  shared_->working.fetch_add(1, std::memory_order_relaxed);
  lock.unlock();
  const uint64_t start = now_ns();
  job->run(*job);
  busy_ns_.fetch_add(now_ns() - start, std::memory_order_relaxed);
  shared_->working.fetch_sub(1, std::memory_order_relaxed);
  return true;
}

void ThreadPool::help(size_t number) {
  t_is_helper = true;
  Shared::Looker& looker = shared_->lookers[number];
  for (;;) {
    // Before all that it looks at: work that comes later moves the epoch on.
    const uint32_t seen = shared_->epoch.load(std::memory_order_seq_cst);
    uint64_t due = UINT64_MAX;
    if (help_loop() || help_listed(due)) continue;
    if (shared_->may_spin(threads_)) {
      shared_->spinning.fetch_add(1, std::memory_order_relaxed);
      looker.untold.store(true, std::memory_order_release);
      for (int i = 0; i < 2000 && shared_->epoch.load(std::memory_order_acquire) == seen; ++i)
        spin_pause();
      looker.untold.store(false, std::memory_order_relaxed);
      shared_->spinning.fetch_sub(1, std::memory_order_relaxed);
      // The thread with the work may have been put on this very core.
      if (shared_->epoch.load(std::memory_order_acquire) == seen) sched_yield();
      continue;
    }
    std::unique_lock lock = lock_soon(shared_->mutex);
    Shared::Sleeper sleeper;
    shared_->sleepers.push_back(&sleeper);
    shared_->sleeping.fetch_add(1, std::memory_order_seq_cst);
    lock.unlock();
    sleep_on(shared_->epoch, seen, due);
    lock_soon(lock);
    shared_->sleeping.fetch_sub(1, std::memory_order_seq_cst);
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
