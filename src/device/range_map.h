// SPDX-License-Identifier: Apache-2.0
// The range map: which addresses of this process belong to which allocation. Programs do arithmetic
// on addresses and pass interior pointers, so every lookup is by range. Lookups take no lock and
// allocate nothing, so threads that run models and copy memory do not contend here. Removing a
// range waits until no thread walks the map (pin_cells.h). Thread-safe.
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
  device,      // aclrtMalloc and similar functions
  host,        // pinned host memory
  registered,  // host memory of the program, registered with a device
  reserved,    // reserved virtual addresses without memory
  mapped,      // physical memory mapped into reserved addresses
  imported,    // memory of another process
  pooled,      // device memory of a pool
};

const char* name_of(MemoryKind kind);

// One allocation. Queued work keeps a reference, so that a block is not reused while a task still
// needs it.
struct Allocation {
  uintptr_t base = 0;
  size_t bytes = 0;  // usable size
  MemoryKind kind = MemoryKind::device;
  int32_t device_id = -1;                // logical index; -1 for host memory
  std::shared_ptr<DeviceMemory> memory;  // null when the block is not ours to free
  uintptr_t device_base = 0;             // registered: the address the device sees
  // The memory mapped at these pages if it is not the device's own; released before the block is
  // freed, and never while queued work holds this allocation.
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

  // False when the range overlaps an existing one.
  bool insert(std::shared_ptr<Allocation> allocation);
  // The allocation that contains `address`; null when none does.
  std::shared_ptr<Allocation> find(uintptr_t address) const;
  // Removes the allocation that starts at `base` and is of `kind`; null when there is none.
  std::shared_ptr<Allocation> remove(uintptr_t base, MemoryKind kind);
  // Removes every allocation of a device; the memory is freed when the last task is done.
  std::vector<std::shared_ptr<Allocation>> remove_device(int32_t device_id);
  // All current allocations, by address.
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

  mutable std::mutex mutex_;  // held by writers
  Node head_;                 // before all addresses
  std::atomic<size_t> size_{0};
  uint32_t random_ = 1;
};

}  // namespace anynpu::device
