// SPDX-License-Identifier: Apache-2.0
#include "trace/registry.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <new>
#include <vector>

#include "trace/names.h"
#include "trace/ring.h"
#include "trace/trace.h"

namespace anynpu::trace {

namespace {

constinit std::atomic<Ring*> g_rings{nullptr};  // rings are pushed, never removed
constinit std::atomic<size_t> g_ring_count{0};
constinit std::atomic<uint64_t> g_lost_without_ring{0};
constinit std::mutex g_drain_mutex;
constinit ClockPair g_last_drain;  // guarded by g_drain_mutex

struct Sources {
  std::mutex mutex;
  std::vector<Source*> all;
};
Sources& sources() {
  static auto* one = new Sources;
  return *one;
}
std::vector<Source*> all_sources() {
  const std::lock_guard lock(sources().mutex);
  return sources().all;
}

// Trivial on purpose: it can be read while the thread's other thread-locals are torn down.
struct ThreadState {
  Ring* ring;
  bool ended;
};
constinit thread_local ThreadState t_state{nullptr, false};

struct RingReturn {
  ~RingReturn() {
    t_state.ended = true;
    if (Ring* ring = t_state.ring) {
      t_state.ring = nullptr;
      ring->give_back();
    }
  }
};

Event describe_this_thread() {
  char name[16] = "";
  pthread_getname_np(pthread_self(), name, sizeof name);
  return make_event(Category::count, Phase::thread, intern(name), ticks(), 0, 0,
                    static_cast<uint64_t>(syscall(SYS_gettid)));
}

BlockPool& pool() {
  static auto* one = new BlockPool(kPoolEvents / kBlockEvents, kBlockEvents);  // as the rings
  return *one;
}

Ring* make_ring() {
  if (g_ring_count.fetch_add(1, std::memory_order_relaxed) >= kMostRings) {
    g_ring_count.fetch_sub(1, std::memory_order_relaxed);
    return nullptr;
  }
  // NOLINTNEXTLINE: owned by the list, which lives as long as the process
  Ring* ring = new (std::nothrow) Ring(pool());
  if (!ring) return nullptr;
  Ring* first = g_rings.load(std::memory_order_relaxed);
  do {
    ring->next = first;
  } while (!g_rings.compare_exchange_weak(first, ring, std::memory_order_release,
                                          std::memory_order_relaxed));
  return ring;
}

Ring* find_ring() {
  if (t_state.ended) return nullptr;
  thread_local RingReturn ring_return;
  Ring* ring = g_rings.load(std::memory_order_acquire);
  while (ring && !ring->take()) ring = ring->next;
  if (!ring) ring = make_ring();
  if (!ring) return nullptr;
  ring->name_owner(describe_this_thread());
  t_state.ring = ring;
  return ring;
}

// Splits runs at the events that say which thread records from there on.
void deliver(Ring& ring, DrainVisitor& visitor, const Event* events, size_t count) {
  size_t begin = 0;
  for (size_t i = 0; i <= count; ++i) {
    const bool switches = i < count && events[i].phase() == Phase::thread;
    if (i < count && !switches) continue;
    if (i > begin) {
      visitor.on_events({ring.thread_id, ring.thread_name}, {events + begin, i - begin});
    }
    if (switches) {
      ring.thread_id = events[i].arg;
      ring.thread_name = events[i].name;
    }
    begin = i + 1;
  }
}

// The consumer does not exist in a child, so its rings would only fill up.
void forget_in_child() { detail::mask.store(0, std::memory_order_relaxed); }

class Nobody : public DrainVisitor {
  void on_events(const ThreadInfo&, std::span<const Event>) override {}
};

}  // namespace

namespace detail {

void record(const Event& event) {
  Ring* ring = t_state.ring;
  if (!ring && !(ring = find_ring())) [[unlikely]] {
    g_lost_without_ring.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  ring->push(event);
}

}  // namespace detail

void drain(DrainVisitor& visitor) {
  std::lock_guard lock(g_drain_mutex);
  const ClockPair now = read_clock_pair();
  visitor.on_clock(TickScale(g_last_drain, now));
  g_last_drain = now;
  for (Ring* ring = g_rings.load(std::memory_order_acquire); ring; ring = ring->next) {
    ring->consume(
        [&](const Event* events, size_t count) { deliver(*ring, visitor, events, count); });
    if (const uint64_t lost = ring->take_lost()) {
      visitor.on_lost({ring->thread_id, ring->thread_name}, lost);
    }
  }
  if (const uint64_t lost = g_lost_without_ring.exchange(0, std::memory_order_relaxed)) {
    visitor.on_lost({}, lost);
  }
  for (Source* const source : all_sources()) source->deliver(visitor);
}

void add_source(Source& source) {
  const std::lock_guard lock(sources().mutex);
  sources().all.push_back(&source);
}

void set_mask(Mask mask) {
  mask &= kAllCategories;
  if (mask) {
    static std::once_flag once;
    std::call_once(once, [] { pthread_atfork(nullptr, nullptr, forget_in_child); });
  }
  detail::mask.store(mask, std::memory_order_relaxed);
  for (Source* const source : all_sources()) source->mask_changed(mask);
}

void discard() {
  Nobody nobody;
  drain(nobody);
}

void set_fill_hook(FillHook hook) { Ring::fill_hook.store(hook, std::memory_order_release); }

RingStats ring_stats() {
  RingStats stats;
  for (Ring* ring = g_rings.load(std::memory_order_acquire); ring; ring = ring->next) {
    ++stats.rings;
    stats.in_use += ring->owned();
  }
  return stats;
}

}  // namespace anynpu::trace
