// SPDX-License-Identifier: Apache-2.0
#include "trace/ring.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace anynpu::trace {

constinit std::atomic<void (*)()> Ring::fill_hook{nullptr};

void Ring::name_owner(const Event& thread_event) {
  thread_event_ = thread_event;
  owner_unnamed_ = true;
  limit_ = 0;  // the next push goes through make_room, which writes the name first
}

// A machine that is busy may need a moment to run whoever drains. After one wait in vain nobody
// waits again until something was drained, so that a drain that hangs does not hold up the program.
BlockPool::Block Ring::wait_for_block() {
  constexpr int kSleeps = 400;
  constexpr timespec kSleep{0, 50'000};
  auto* hook = fill_hook.load(std::memory_order_acquire);
  if (!hook || waited_at_ == pool_.returns()) return BlockPool::kNone;
  for (int i = 0; i < kSleeps; ++i) {
    hook();
    syscall(SYS_nanosleep, &kSleep, nullptr);  // nanosleep may be recorded (prof/os_calls.h)
    const BlockPool::Block block = pool_.take();
    if (block != BlockPool::kNone) return block;
  }
  waited_at_ = pool_.returns();
  return BlockPool::kNone;
}

bool Ring::take_block(uint64_t head) {
  BlockPool::Block block = pool_.take();
  if (block == BlockPool::kNone) block = wait_for_block();
  if (block == BlockPool::kNone) return false;
  // The consumer sees these together with the next event.
  if (written_ == BlockPool::kNone) {
    first_ = block;
  } else {
    pool_.set_next(written_, block);
  }
  written_ = block;
  slots_ = pool_.events(block);
  end_ = head + pool_.block_events();
  auto* hook = fill_hook.load(std::memory_order_acquire);
  if (hook && (head % kHookEvents == 0 || pool_.half_full())) hook();
  return true;
}

bool Ring::make_room(uint64_t head) {
  if (head == end_ && !take_block(head)) {
    lost_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  if (owner_unnamed_) {
    slots_[head & mask_] = thread_event_;
    head_.store(head + 1, std::memory_order_release);
    owner_unnamed_ = false;
  }
  limit_ = end_;
  return true;
}

void Ring::next_to_read() {
  if (read_ == BlockPool::kNone) {
    read_ = first_;
    return;
  }
  const BlockPool::Block next = pool_.next(read_);
  pool_.give_back(read_);
  read_ = next;
}

}  // namespace anynpu::trace
