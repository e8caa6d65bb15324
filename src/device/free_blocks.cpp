// SPDX-License-Identifier: Apache-2.0
#include "device/free_blocks.h"

#include <algorithm>

#include "base/align.h"

namespace anynpu::device {

FreeBlocks::FreeBlocks(uintptr_t base, size_t size, size_t unit)
    : base_(base), size_(size), unit_(unit) {
  insert_free(base, size);
}

void FreeBlocks::insert_free(uintptr_t base, size_t bytes) {
  by_address_.emplace(base, bytes);
  by_size_.emplace(bytes, base);
}

void FreeBlocks::erase_free(std::map<uintptr_t, size_t>::iterator block) {
  by_size_.erase({block->second, block->first});
  by_address_.erase(block);
}

uintptr_t FreeBlocks::take(size_t bytes, size_t alignment) {
  if (bytes == 0 || bytes > size_) return 0;
  bytes = round_up(bytes, unit_);
  alignment = std::max(alignment, unit_);
  std::lock_guard lock(mutex_);
  for (auto fit = by_size_.lower_bound({bytes, 0}); fit != by_size_.end(); ++fit) {
    const auto [block_bytes, block_base] = *fit;
    const uintptr_t base = round_up(block_base, alignment);
    if (base + bytes > block_base + block_bytes) continue;
    erase_free(by_address_.find(block_base));
    if (base > block_base) insert_free(block_base, base - block_base);
    const uintptr_t end = block_base + block_bytes;
    if (base + bytes < end) insert_free(base + bytes, end - base - bytes);
    used_ += bytes;
    if (used_ > peak_) peak_ = used_;
    return base;
  }
  return 0;
}

void FreeBlocks::give_back(uintptr_t base, size_t bytes) {
  bytes = round_up(bytes, unit_);
  std::lock_guard lock(mutex_);
  used_ -= bytes;
  auto next = by_address_.lower_bound(base);
  if (next != by_address_.end() && next->first == base + bytes) {
    bytes += next->second;
    auto after = std::next(next);
    erase_free(next);
    next = after;
  }
  if (next != by_address_.begin()) {
    auto previous = std::prev(next);
    if (previous->first + previous->second == base) {
      base = previous->first;
      bytes += previous->second;
      erase_free(previous);
    }
  }
  insert_free(base, bytes);
}

size_t FreeBlocks::used() const {
  std::lock_guard lock(mutex_);
  return used_;
}

size_t FreeBlocks::peak() const {
  std::lock_guard lock(mutex_);
  return peak_;
}

}  // namespace anynpu::device
