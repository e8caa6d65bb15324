// SPDX-License-Identifier: Apache-2.0
// Memory of this process: of a CPU device, or pinned host memory. An address range that is reserved
// once and allocated in blocks. Pages cost nothing until they are written. The range is never
// unmapped, so a stale pointer into it is recognised, and reading it does not crash.
// Thread-safe.
#pragma once

#include <memory>

#include "base/result.h"
#include "device/device_memory.h"
#include "device/free_blocks.h"

namespace anynpu::device {

class CpuMemory final : public DeviceMemory {
 public:
  // Reserves addresses only; fails if the address space is limited. Every block starts and ends on
  // a multiple of `unit`: with whole pages, one block can be shared with another process without
  // its neighbours.
  static constexpr size_t kSmallUnit = 64;
  static constexpr size_t kPageUnit = 4096;
  static Result<std::shared_ptr<CpuMemory>> reserve(size_t bytes, size_t unit = kSmallUnit);
  ~CpuMemory() override;

  uintptr_t take(size_t bytes, size_t alignment) override { return blocks_.take(bytes, alignment); }
  void give_back(uintptr_t base, size_t bytes) override;
  bool contains(uintptr_t address) const override { return blocks_.contains(address); }
  size_t total() const override { return blocks_.size(); }
  size_t used() const override { return blocks_.used(); }
  size_t peak() const override { return blocks_.peak(); }

  Status copy(const CopyRows& rows) override;
  Status fill(void* address, int value, size_t bytes) override;
  Status with_host_view(std::span<HostRange* const> ranges, const HostWork& work) override;
  void prefer_huge_pages(uintptr_t base, size_t bytes) override;

 private:
  CpuMemory(uintptr_t base, size_t size, size_t unit);

  FreeBlocks blocks_;
};

}  // namespace anynpu::device
