// SPDX-License-Identifier: Apache-2.0
// The memory of all rings: blocks of events of one size. Any thread takes and returns blocks
// without a lock and without allocation. The pool reserves its address space when it is created and
// touches a page when an event first reaches it; returned blocks are reused before fresh ones, so a
// program whose rings are drained in time uses a few blocks over and over.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "trace/event.h"

namespace anynpu::trace {

class BlockPool {
 public:
  using Block = uint32_t;
  static constexpr Block kNone = UINT32_MAX;

  // `block_events` is rounded up to a power of two. Without memory the pool has no block.
  BlockPool(size_t blocks, size_t block_events);
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  Block take();  // kNone when all are in use
  void give_back(Block block);

  // The events of a taken block, and the next block of its ring.
  Event* events(Block block) const { return events_.get() + size_t{block} * block_events_; }
  Block next(Block block) const { return next_[block].load(std::memory_order_relaxed); }
  void set_next(Block block, Block next) { next_[block].store(next, std::memory_order_relaxed); }

  size_t block_events() const { return block_events_; }
  size_t bytes() const { return blocks_ * block_events_ * sizeof(Event); }
  bool half_full() const { return 2 * in_use_.load(std::memory_order_relaxed) >= blocks_; }
  // Changes whenever a block is returned.
  uint64_t returns() const { return returns_.load(std::memory_order_relaxed); }

 private:
  struct Freed {
    void operator()(Event* events) const;
  };

  const size_t block_events_;
  const std::unique_ptr<Event[], Freed> events_;
  const size_t blocks_;
  const std::unique_ptr<std::atomic<Block>[]> next_;
  // A lock-free stack of returned blocks: the first one in the lower half and a change counter in
  // the upper half, against the ABA problem.
  std::atomic<uint64_t> top_{kNone};
  std::atomic<uint32_t> fresh_{0};  // blocks from here on were never used
  std::atomic<size_t> in_use_{0};
  std::atomic<uint64_t> returns_{0};
};

}  // namespace anynpu::trace
