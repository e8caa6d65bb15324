// SPDX-License-Identifier: Apache-2.0
#include "trace/ring.h"

#include <time.h>

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

// A machine that is busy may need a moment to run whoever drains. After one wait in vain nobody
// waits again until the ring was drained, so that a drain that hangs does not hold up the program.
bool Ring::wait_for_room(uint64_t head) {
  constexpr int kSleeps = 400;
  constexpr timespec kSleep{0, 50'000};
  const auto has_room = [&] { return head <= tail_.load(std::memory_order_acquire) + capacity(); };
  auto* hook = fill_hook.load(std::memory_order_acquire);
  if (!hook || waited_at_ == tail_.load(std::memory_order_relaxed)) return false;
  for (int i = 0; i < kSleeps; ++i) {
    hook();
    nanosleep(&kSleep, nullptr);
    if (has_room()) return true;
  }
  waited_at_ = tail_.load(std::memory_order_relaxed);
  return false;
}

bool Ring::make_room(uint64_t head) {
  uint64_t limit = tail_.load(std::memory_order_acquire) + capacity();
  // An owner without a name may not record: its events would be counted as its predecessor's.
  const uint64_t needed = owner_unnamed_ ? 2 : 1;
  if (head + needed > limit && !wait_for_room(head + needed)) {
    lost_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  limit = tail_.load(std::memory_order_acquire) + capacity();
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
