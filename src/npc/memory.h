// SPDX-License-Identifier: Apache-2.0
// The memory of one cluster: a memfd of 4 GiB, mapped at once and filled lazily, followed by the
// local memory of each core; a permission byte for each 4 KiB page, and the allocator of global and
// high memory. Cores check the permission of every access, so a kernel cannot access anything
// outside. Thread-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/result.h"
#include "npc/memory_map.h"

namespace anynpu::npc {

class Block;

enum Permission : uint8_t { kNone = 0, kRead = 1, kWrite = 2, kReadWrite = 3 };

class Memory : public std::enable_shared_from_this<Memory> {
 public:
  static Result<std::shared_ptr<Memory>> create();
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // Whole pages of global or high memory; the contents are not defined.
  Result<uint32_t> take(Space space, size_t bytes, Permission permission);
  void give_back(uint32_t base, size_t bytes);
  void protect(uint32_t base, size_t bytes, Permission permission);

  // Allocations of the program, by address.
  Result<uint32_t> allocate(Space space, size_t bytes);
  // What an allocation of `bytes` takes: under `anynpu check` a page without access follows.
  static size_t footprint(size_t bytes);
  Status release(uint32_t address);
  std::shared_ptr<Block> find(uint32_t address, size_t count) const;
  // The last allocation that starts at or before `address`; null when there is none.
  std::shared_ptr<Block> nearest(uint32_t address) const;
  size_t free_bytes(Space space) const;

  // Global, shared and high memory as the host sees it; no check.
  std::byte* host(uint32_t address) const { return base_ + address; }
  std::byte* local(int core) const { return locals_ + size_t{kLocalBytes} * core; }

  // True when every page of [address, address + count) has the permission.
  bool allows(uint32_t address, size_t count, Permission permission) const;
  Permission permission(uint32_t address) const {
    return static_cast<Permission>(pages_[address / kPageBytes].load(std::memory_order_relaxed));
  }
  // Changes of permissions, for views that use page protection (translate/view.h).
  struct Changes {
    uint64_t now = 0;
    std::vector<std::pair<uint32_t, uint32_t>> pages;  // first, behind the last
  };
  Changes changes_since(uint64_t seen) const;
  // The file of all of it; the local memory of the cores follows the 4 GiB.
  int file() const { return file_; }
  size_t local_offset(int core) const;

  // What the interpreter reads on each access.
  const std::atomic<uint8_t>* pages() const { return pages_; }

 private:
  Memory(int file, std::byte* base, std::byte* locals, std::atomic<uint8_t>* pages);
  std::map<uint32_t, size_t>& spans(Space space) { return space == Space::high ? high_ : global_; }

  int file_;
  std::byte* base_;
  std::byte* locals_;
  std::atomic<uint8_t>* pages_;
  mutable std::mutex mutex_;
  std::map<uint32_t, size_t> global_;  // free spans: base, bytes
  std::map<uint32_t, size_t> high_;
  std::map<uint32_t, std::shared_ptr<Block>> blocks_;
  mutable std::mutex changes_mutex_;
  std::deque<std::pair<uint32_t, uint32_t>> changes_;  // the latest
  uint64_t changed_ = 0;                               // all so far
};

}  // namespace anynpu::npc
