// SPDX-License-Identifier: Apache-2.0
// An arena is the memory of one device (or the pinned memory of the host): a range of addresses
// reserved once, handed out in blocks. Pages cost nothing until they are written. The range is
// never unmapped, so a stale pointer into it is recognised and, if a program reads it all the same,
// does not crash. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "base/result.h"

namespace anynpu::device {

class Arena {
 public:
  // Reserves addresses only. Fails when the process may not have that many. Every block starts and
  // ends on a multiple of `unit`: with whole pages, the memory of one block can be shared with
  // another process without its neighbours.
  static constexpr size_t kSmallUnit = 64;
  static constexpr size_t kPageUnit = 4096;
  static Result<std::shared_ptr<Arena>> reserve(size_t bytes, size_t unit = kSmallUnit);
  ~Arena();

  // A block of at least `bytes`, aligned to a power of two; 0 when none is free.
  uintptr_t take(size_t bytes, size_t alignment);
  void give_back(uintptr_t base, size_t bytes);

  bool contains(uintptr_t address) const { return address - base_ < size_; }
  // Whether any arena of the process contains `address`, allocated or not.
  static bool any_contains(uintptr_t address);
  size_t total() const { return size_; }
  size_t used() const;
  size_t peak() const;

  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

 private:
  Arena(uintptr_t base, size_t size, size_t unit);
  void insert_free(uintptr_t base, size_t bytes);
  void erase_free(std::map<uintptr_t, size_t>::iterator block);

  const uintptr_t base_;
  const size_t size_;
  const size_t unit_;
  mutable std::mutex mutex_;
  std::map<uintptr_t, size_t> free_by_address_;
  std::set<std::pair<size_t, uintptr_t>> free_by_size_;  // best fit: the smallest that is enough
  size_t used_ = 0;
  size_t peak_ = 0;
};

}  // namespace anynpu::device
