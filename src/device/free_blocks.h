// SPDX-License-Identifier: Apache-2.0
// The free blocks of an address range: best fit, adjacent free blocks are merged. Never touches the
// memory. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <utility>

namespace anynpu::device {

class FreeBlocks {
 public:
  // Every block starts and ends on a multiple of `unit`.
  FreeBlocks(uintptr_t base, size_t size, size_t unit);

  uintptr_t take(size_t bytes, size_t alignment);  // 0 when nothing is free
  void give_back(uintptr_t base, size_t bytes);

  bool contains(uintptr_t address) const { return address - base_ < size_; }
  uintptr_t base() const { return base_; }
  size_t size() const { return size_; }
  size_t unit() const { return unit_; }
  size_t used() const;
  size_t peak() const;

 private:
  void insert_free(uintptr_t base, size_t bytes);
  void erase_free(std::map<uintptr_t, size_t>::iterator block);

  const uintptr_t base_;
  const size_t size_;
  const size_t unit_;
  mutable std::mutex mutex_;
  std::map<uintptr_t, size_t> by_address_;
  std::set<std::pair<size_t, uintptr_t>> by_size_;  // best fit: the smallest that is enough
  size_t used_ = 0;
  size_t peak_ = 0;
};

}  // namespace anynpu::device
