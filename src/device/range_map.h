// SPDX-License-Identifier: Apache-2.0
// The range map: which addresses of this process belong to which allocation. Programs do arithmetic
// on addresses and pass interior pointers, so every lookup is by range. Looking up takes no lock
// and allocates nothing: threads that run models and copy memory do not meet here. Taking a range
// out waits until nobody walks the map (pin_cells.h). Thread-safe.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace anynpu::device {

class DeviceMemory;

enum class MemoryKind : uint8_t {
  device,      // aclrtMalloc and its kin
  host,        // pinned host memory
  registered,  // host memory of the program, made known to a device
  reserved,    // virtual addresses without memory behind them
  mapped,      // physical memory mapped into reserved addresses
  imported,    // memory of another process
  pooled,      // device memory that a pool lends and takes back
};

const char* name_of(MemoryKind kind);

// One allocation. Queued work keeps a reference, so that a block is not handed out again while a
// task still uses it.
struct Allocation {
  uintptr_t base = 0;
  size_t bytes = 0;  // what may be touched
  MemoryKind kind = MemoryKind::device;
  int32_t device_id = -1;                // logical index; -1 for host memory
  std::shared_ptr<DeviceMemory> memory;  // null when the block is not ours to give back
  uintptr_t device_base = 0;             // registered: the address the device sees
  // What lies behind the pages when it is not the memory's own; gone before the block is
  // given back, and never while queued work holds this allocation.
  std::shared_ptr<void> backing;

  Allocation() = default;
  Allocation(const Allocation&) = delete;
  Allocation& operator=(const Allocation&) = delete;
  ~Allocation();

  uintptr_t end() const { return base + bytes; }
  bool covers(uintptr_t address, size_t count) const {
    return address >= base && count <= bytes && address - base <= bytes - count;
  }
};

class RangeMap {
 public:
  RangeMap() = default;
  RangeMap(const RangeMap&) = delete;
  RangeMap& operator=(const RangeMap&) = delete;
  ~RangeMap();

  static RangeMap& instance();

  // False when the range overlaps one that is there.
  bool insert(std::shared_ptr<Allocation> allocation);
  // The allocation that contains `address`; null when none does.
  std::shared_ptr<Allocation> find(uintptr_t address) const;
  // Takes out the allocation that starts at `base` and is of `kind`; null when there is none.
  std::shared_ptr<Allocation> remove(uintptr_t base, MemoryKind kind);
  // Takes out every allocation of a device; their memory is given back when the last task is done.
  std::vector<std::shared_ptr<Allocation>> remove_device(int32_t device_id);
  // Every allocation that is there now, by address.
  std::vector<std::shared_ptr<Allocation>> all() const;
  size_t size() const { return size_.load(std::memory_order_relaxed); }

 private:
  // A skip list by address: each level has a quarter of the nodes of the one below.
  static constexpr size_t kLevels = 8;
  struct Node {
    uintptr_t base = 0;
    uintptr_t end = 0;
    std::shared_ptr<Allocation> allocation;
    std::array<std::atomic<Node*>, kLevels> next{};
  };
  using Path = std::array<Node*, kLevels>;  // on each level, the last node before an address

  // With mutex_ held.
  Path path_to(uintptr_t base);
  void unlink(const Path& path, Node* node);
  size_t random_height();

  mutable std::mutex mutex_;  // held by who changes the map
  Node head_;                 // before all addresses
  std::atomic<size_t> size_{0};
  uint32_t random_ = 1;
};

}  // namespace anynpu::device
