// SPDX-License-Identifier: Apache-2.0
#include "trace/ring.h"

#include <algorithm>
#include <bit>

namespace anynpu::trace {

constinit std::atomic<void (*)()> Ring::fill_hook{nullptr};

// The slots are left uninitialised on purpose: pages are touched only as far as events reach.
Ring::Ring(size_t capacity)
    : mask_(std::bit_ceil(capacity < 8 ? size_t{8} : capacity) - 1), slots_(new Event[mask_ + 1]) {}

void Ring::name_owner(const Event& thread_event) {
  thread_event_ = thread_event;
  owner_unnamed_ = true;
  limit_ = 0;  // the next push goes through make_room, which writes the name first
}

bool Ring::make_room(uint64_t head) {
  const uint64_t limit = tail_.load(std::memory_order_acquire) + capacity();
  // An owner without a name may not record: its events would be counted as its predecessor's.
  const uint64_t needed = owner_unnamed_ ? 2 : 1;
  if (head + needed > limit) {
    lost_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  if (owner_unnamed_) {
    slots_[head & mask_] = thread_event_;
    head_.store(head + 1, std::memory_order_release);
    owner_unnamed_ = false;
  }
  const uint64_t quarter = head + std::max<uint64_t>(capacity() / 4, needed);
  limit_ = std::min(limit, quarter);
  if (auto* hook = fill_hook.load(std::memory_order_acquire)) hook();
  return true;
}

}  // namespace anynpu::trace
