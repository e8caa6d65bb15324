// SPDX-License-Identifier: Apache-2.0
// Memory with two mappings. Programs get addresses of the first one, which nobody may read or
// write; the device uses the second. A stray dereference outside the back end is a SIGSEGV.
#pragma once

#include <memory>

#include "base/result.h"
#include "device/device_memory.h"
#include "device/free_blocks.h"

namespace anynpu::device {

class RemoteMemory final : public DeviceMemory {
 public:
  static Result<std::shared_ptr<RemoteMemory>> reserve(size_t bytes);
  ~RemoteMemory() override;

  uintptr_t take(size_t bytes, size_t alignment) override { return blocks_.take(bytes, alignment); }
  void give_back(uintptr_t base, size_t bytes) override;
  bool contains(uintptr_t address) const override { return blocks_.contains(address); }
  size_t total() const override { return blocks_.size(); }
  size_t used() const override { return blocks_.used(); }
  size_t peak() const override { return blocks_.peak(); }

  Status copy(const CopyRows& rows) override;
  Status fill(void* address, int value, size_t bytes) override;
  Status with_host_view(std::span<HostRange* const> ranges, const HostWork& work) override;

  // Where the device sees an address of a program; an address of the host stays.
  void* device_side(const void* address) const;

 private:
  RemoteMemory(int file, uintptr_t program_side, uintptr_t device_side, size_t bytes);

  const int file_;
  const uintptr_t device_side_;
  FreeBlocks blocks_;
};

}  // namespace anynpu::device
