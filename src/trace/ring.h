// SPDX-License-Identifier: Apache-2.0
// The ring buffer of one thread's events: one producer (the thread that owns the ring), one
// consumer at a time. Blocks come one by one from a pool that all rings share and go back as
// they are drained, so a ring grows while the drain is behind, until the pool is empty. No
// lock, no allocation. When the pool is empty, new events are dropped and counted, after a
// short wait if a drain was requested; older events are kept. A thread that ends returns its
// ring; the next thread continues in the same ring after a Phase::thread event that names it,
// so the number of rings is bounded by the threads alive at once, not by the threads ever
// started.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "trace/block_pool.h"
#include "trace/event.h"

namespace anynpu::trace {

class Ring {
 public:
  // The pool outlives the ring.
  explicit Ring(BlockPool& pool) : pool_(pool), mask_(pool.block_events() - 1) {}

  // Producer side, owner only.
  void push(const Event& event) {
    const uint64_t head = head_.load(std::memory_order_relaxed);
    if (head >= limit_) [[unlikely]] {
      if (!make_room(head)) return;
      return push(event);
    }
    slots_[head & mask_] = event;
    head_.store(head + 1, std::memory_order_release);
  }

  // Called after each kHookEvents events of a ring, and for each block taken while half of the pool
  // or more is in use; shared by all rings.
  static constexpr uint64_t kHookEvents = 16384;
  static std::atomic<void (*)()> fill_hook;

  // Ownership. take() succeeds for one thread at a time; the new owner then names itself.
  bool take() {
    bool expected = false;
    return !owned_.load(std::memory_order_relaxed) &&
           owned_.compare_exchange_strong(expected, true, std::memory_order_acq_rel);
  }
  void name_owner(const Event& thread_event);
  void give_back() { owned_.store(false, std::memory_order_release); }
  bool owned() const { return owned_.load(std::memory_order_relaxed); }

  // Consumer side. Calls take(const Event*, size_t) for each contiguous run of events, then returns
  // the blocks that are done. Stops at the events present on entry, so it ends however fast the
  // producer is.
  template <typename Take>
  void consume(Take&& take) {
    const uint64_t head = head_.load(std::memory_order_acquire);
    while (tail_ < head) {
      const uint64_t at = tail_ & mask_;
      if (at == 0) next_to_read();
      uint64_t run = head - tail_;
      if (run > mask_ + 1 - at) run = mask_ + 1 - at;
      take(pool_.events(read_) + at, static_cast<size_t>(run));
      tail_ += run;
    }
  }
  // Events dropped since the last call.
  uint64_t take_lost() { return lost_.exchange(0, std::memory_order_relaxed); }

  Ring* next = nullptr;  // the registry's list; set once, before the ring is published

  // Consumer state: the thread that the next event belongs to.
  uint64_t thread_id = 0;
  NameId thread_name = 0;

 private:
  bool make_room(uint64_t head);
  bool take_block(uint64_t head);
  BlockPool::Block wait_for_block();
  void next_to_read();

  BlockPool& pool_;
  const uint64_t mask_;
  // The producer's cache line; passes from owner to owner through owned_.
  alignas(64) std::atomic<uint64_t> head_{0};
  uint64_t limit_ = 0;  // up to this head push takes the fast path
  Event* slots_ = nullptr;
  uint64_t end_ = 0;  // the head at which the block is full
  BlockPool::Block written_ = BlockPool::kNone;
  BlockPool::Block first_ = BlockPool::kNone;
  uint64_t waited_at_ = UINT64_MAX;  // the pool's returns() after a wait that found no block
  bool owner_unnamed_ = false;
  Event thread_event_{};
  std::atomic<uint64_t> lost_{0};
  std::atomic<bool> owned_{true};
  // The consumer's cache line.
  alignas(64) uint64_t tail_ = 0;
  BlockPool::Block read_ = BlockPool::kNone;
};

}  // namespace anynpu::trace
