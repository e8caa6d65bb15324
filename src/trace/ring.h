// SPDX-License-Identifier: Apache-2.0
// A ring of events with one producer (the thread that owns it) and one consumer (whoever drains,
// one at a time). No lock, no allocation after the ring is made. When full, new events are dropped
// and counted, after a short wait where a drain was asked for: what was recorded first is kept. A
// thread that ends gives its ring back; the next thread continues in the same ring after a
// Phase::thread event that names it, so the number of rings is bounded by the threads alive at
// once, not by the threads ever started.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "trace/event.h"

namespace anynpu::trace {

class Ring {
 public:
  // `capacity` is rounded up to a power of two, at least 8.
  explicit Ring(size_t capacity);

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

  // Called each time a quarter of the ring was filled; shared by all rings.
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

  // Consumer side. Calls take(const Event*, size_t) for each contiguous run of events, then frees
  // their slots. Stops at what was there on entry, so it ends however fast the producer is.
  template <typename Take>
  void consume(Take&& take) {
    const uint64_t head = head_.load(std::memory_order_acquire);
    uint64_t tail = tail_.load(std::memory_order_relaxed);
    while (tail < head) {
      const uint64_t at = tail & mask_;
      uint64_t run = head - tail;
      if (run > mask_ + 1 - at) run = mask_ + 1 - at;
      take(&slots_[at], static_cast<size_t>(run));
      tail += run;
      tail_.store(tail, std::memory_order_release);
    }
  }
  // Events dropped since the last call.
  uint64_t take_lost() { return lost_.exchange(0, std::memory_order_relaxed); }

  size_t capacity() const { return mask_ + 1; }

  Ring* next = nullptr;  // the registry's list; set once, before the ring is published

  // Consumer's memory of whom the next event belongs to.
  uint64_t thread_id = 0;
  NameId thread_name = 0;

 private:
  bool make_room(uint64_t head);
  bool wait_for_room(uint64_t head);

  const uint64_t mask_;
  const std::unique_ptr<Event[]> slots_;
  // Producer's line. limit_ is the head up to which room is known, so that the shared tail is
  // read four times per lap and not per event; it passes from owner to owner through owned_.
  alignas(64) std::atomic<uint64_t> head_{0};
  uint64_t limit_ = 0;
  uint64_t waited_at_ = UINT64_MAX;  // the tail that a wait in vain saw
  bool owner_unnamed_ = false;
  Event thread_event_{};
  std::atomic<uint64_t> lost_{0};
  std::atomic<bool> owned_{true};
  // Consumer's line.
  alignas(64) std::atomic<uint64_t> tail_{0};
};

}  // namespace anynpu::trace
