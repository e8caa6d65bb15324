// SPDX-License-Identifier: Apache-2.0
//
// The eleven TBB entry points that oneDNN's TBB build imports, over a small pool of ours: oneDNN
// then runs on AnyNPU's own threads and no libtbb is loaded. Types come from the public TBB headers
// (ABI of libtbb.so.12). rename.map gives them names of our own in the patched copy, so that a
// program's own TBB is neither used nor replaced; it also turns the two Intel compiler helpers into
// memcpy and memset (the rest of libimf is plain libm).
//
// Only what parallel_for with a static partitioner needs: tasks are independent, so the caller can
// run all of them alone, and the split into tasks depends on max_concurrency() only, never on who
// is free.
#include <oneapi/tbb/detail/_small_object_pool.h>
#include <oneapi/tbb/detail/_task.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>
#include <thread>

namespace tbb::detail::d1 {
class task_arena_base;
}

namespace {

namespace d1 = tbb::detail::d1;

constexpr int kSpins = 4000;  // about 50 us of pauses before a helper parks

int thread_count() {
  static const int n = [] {
    const char* s = std::getenv("THREADS");
    return s ? std::max(1, std::atoi(s)) : static_cast<int>(std::thread::hardware_concurrency());
  }();
  return n;
}

thread_local d1::slot_id this_slot = 0;

struct Item {
  d1::task* task;
  d1::task_group_context* context;
  d1::slot_id affinity;
};

// One bounded stack of pending tasks. A caller takes only tasks of its own context, helpers take
// any.
class Queue {
 public:
  bool push(const Item& item) {
    std::lock_guard lock(mutex_);
    if (count_ == kMax) return false;
    items_[count_++] = item;
    return true;
  }
  bool take(const d1::task_group_context* only, Item& out) {
    std::lock_guard lock(mutex_);
    for (int i = count_; i-- > 0;) {
      if (only && items_[i].context != only) continue;
      out = items_[i];
      items_[i] = items_[--count_];
      return true;
    }
    return false;
  }
  void reset_after_fork() {
    new (&mutex_) std::mutex;
    count_ = 0;
  }

 private:
  static constexpr int kMax = 1024;
  std::mutex mutex_;
  Item items_[kMax];
  int count_ = 0;
};

Queue& queue() {
  static auto* q = new Queue;
  return *q;
}

std::atomic<std::uint32_t> work_signal{0};
std::atomic<bool> have_helpers{false};

void run_item(Item item) {
  d1::execution_data ed{};
  ed.context = item.context;
  ed.original_slot = this_slot;
  ed.affinity_slot = item.affinity;
  for (d1::task* t = item.task; t != nullptr;) {
    t = t->execute(ed);
    ed.affinity_slot = d1::no_slot;
  }
}

void helper(int slot) {
  this_slot = static_cast<d1::slot_id>(slot);
  for (;;) {
    const auto seen = work_signal.load(std::memory_order_acquire);
    Item item;
    if (queue().take(nullptr, item)) {
      run_item(item);
      continue;
    }
    int spins = kSpins;
    while (spins-- > 0 && work_signal.load(std::memory_order_acquire) == seen)
      __builtin_ia32_pause();
    if (spins < 0) work_signal.wait(seen, std::memory_order_acquire);
  }
}

// A forked child has no helpers; it runs everything on the calling thread.
void start_helpers() {
  static std::once_flag once;
  std::call_once(once, [] {
    pthread_atfork(nullptr, nullptr, [] {
      queue().reset_after_fork();
      have_helpers = false;
    });
    for (int i = 1; i < thread_count(); ++i) std::thread(helper, i).detach();
    have_helpers = thread_count() > 1;
  });
}

// wait_context keeps its reference count private: {version, count}.
bool pending(const d1::wait_context& w) {
  static_assert(sizeof(d1::wait_context) == 16);
  return reinterpret_cast<const std::atomic<std::uint64_t>*>(&w)[1].load(
             std::memory_order_acquire) != 0;
}

}  // namespace

#define ENTRY extern "C" __attribute__((visibility("default")))

ENTRY void anynpu_tbb_spawn_affine(d1::task& t, d1::task_group_context& ctx, d1::slot_id id) {
  const Item item{&t, &ctx, id};
  if (!queue().push(item)) return run_item(item);
  if (!have_helpers.load(std::memory_order_relaxed)) return;
  work_signal.fetch_add(1, std::memory_order_release);
  work_signal.notify_one();
}

ENTRY void anynpu_tbb_spawn(d1::task& t, d1::task_group_context& ctx) {
  anynpu_tbb_spawn_affine(t, ctx, d1::no_slot);
}

ENTRY void anynpu_tbb_execute_and_wait(d1::task& t, d1::task_group_context& ctx,
                                       d1::wait_context& w, d1::task_group_context&) {
  start_helpers();
  run_item({&t, &ctx, d1::no_slot});
  while (pending(w)) {
    Item item;
    if (queue().take(&ctx, item))
      run_item(item);
    else
      __builtin_ia32_pause();
  }
}

ENTRY d1::slot_id anynpu_tbb_execution_slot(const d1::execution_data*) { return this_slot; }
ENTRY int anynpu_tbb_max_concurrency(const d1::task_arena_base*) { return thread_count(); }
ENTRY void anynpu_tbb_notify_waiters(std::uintptr_t) {}  // waiters spin
ENTRY void anynpu_tbb_initialize(d1::task_group_context&) {}
ENTRY void anynpu_tbb_destroy(d1::task_group_context&) {}

ENTRY void* anynpu_tbb_allocate(d1::small_object_pool*& pool, std::size_t n) {
  pool = nullptr;
  return std::aligned_alloc(64, (n + 63) / 64 * 64);
}
ENTRY void* anynpu_tbb_allocate_in(d1::small_object_pool*& pool, std::size_t n,
                                   const d1::execution_data&) {
  return anynpu_tbb_allocate(pool, n);
}
ENTRY void anynpu_tbb_deallocate(d1::small_object_pool&, void* p, std::size_t,
                                 const d1::execution_data&) {
  std::free(p);
}
