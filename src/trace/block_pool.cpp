// SPDX-License-Identifier: Apache-2.0
#include "trace/block_pool.h"

#include <bit>
#include <new>

namespace anynpu::trace {

namespace {

constexpr std::align_val_t kCacheLine{64};

// Left uninitialised on purpose: the pages are touched only as far as events reach.
Event* reserve(size_t events) {
  return static_cast<Event*>(::operator new(events * sizeof(Event), kCacheLine, std::nothrow));
}

uint64_t stack_of(BlockPool::Block first, uint64_t before) {
  return first | ((before >> 32) + 1) << 32;
}

}  // namespace

void BlockPool::Freed::operator()(Event* events) const { ::operator delete(events, kCacheLine); }

BlockPool::BlockPool(size_t blocks, size_t block_events)
    : block_events_(std::bit_ceil(block_events)),
      events_(reserve(blocks * block_events_)),
      blocks_(events_ ? blocks : 0),
      next_(new std::atomic<Block>[blocks_]) {}

BlockPool::Block BlockPool::take() {
  uint64_t top = top_.load(std::memory_order_acquire);
  while (static_cast<Block>(top) != kNone) {
    const auto block = static_cast<Block>(top);
    // Another thread may have taken the block by now; then the exchange fails.
    if (top_.compare_exchange_weak(top, stack_of(next(block), top), std::memory_order_acq_rel,
                                   std::memory_order_acquire)) {
      in_use_.fetch_add(1, std::memory_order_relaxed);
      return block;
    }
  }
  uint32_t fresh = fresh_.load(std::memory_order_relaxed);
  while (fresh < blocks_) {
    if (fresh_.compare_exchange_weak(fresh, fresh + 1, std::memory_order_relaxed)) {
      in_use_.fetch_add(1, std::memory_order_relaxed);
      return fresh;
    }
  }
  return kNone;
}

void BlockPool::give_back(Block block) {
  uint64_t top = top_.load(std::memory_order_relaxed);
  do {
    set_next(block, static_cast<Block>(top));
  } while (!top_.compare_exchange_weak(top, stack_of(block, top), std::memory_order_acq_rel,
                                       std::memory_order_relaxed));
  in_use_.fetch_sub(1, std::memory_order_relaxed);
  returns_.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace anynpu::trace
